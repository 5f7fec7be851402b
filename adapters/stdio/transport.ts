import type { Readable, Writable } from 'node:stream'
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { parseJson } from '../../src/text/json.ts'
import { toInvalidParams } from './invalid-params.ts'
import { createLines, idAtEnds } from './lines.ts'
import { withoutNullArguments } from './null-arguments.ts'
import { createOpening } from './protocol-era.ts'
import { createUnanswered } from './unanswered.ts'
import { wellFormed } from './well-formed.ts'

/** Maximum size of a message, in bytes. A longer line is skipped and answered with an error. */
const LINE_LIMIT = 8 * 1024 * 1024
/** Maximum number of messages in a batch (revision 2025-03-26). Each is answered separately, on its own line. */
const BATCH_LIMIT = 100
const NOT_A_MESSAGE =
  'The line is not a JSON-RPC 2.0 message of MCP. It needs "jsonrpc": "2.0" and a method. An id and a progressToken must be ' +
  'a string or an integer, params an object.'

/** Connection that this side can also end. */
export interface StdioTransport extends Transport {
  /** Stops reading, and closes as at the end of input. */
  end(): void
  /**
   * Resolves once the connection is closed, from either side, with the tools or methods of the requests that got no answer
   * in time after the end of input.
   */
  readonly closed: Promise<readonly string[]>
}

/**
 * Transports MCP over newline-delimited JSON. Unlike the SDK's own stdio transport, it survives any line:
 *
 * - A line that is not a message is answered with a JSON-RPC error.
 * - An endless line takes a limited amount of memory.
 * - The end of input closes the connection after all answers, or some seconds after the last one, see {@link createUnanswered}.
 * - A message that opens no connection is answered here, see {@link createOpening}.
 */
export function stdioTransport(input: Readable, output: Writable): StdioTransport {
  const opening = createOpening()
  const lines = createLines({ limitBytes: LINE_LIMIT, onLine, onTooLong })
  const unanswered = createUnanswered(close)
  let closed = false
  let resolveClosed: (lost: readonly string[]) => void = () => {}

  const transport: StdioTransport = {
    async start() {
      input.on('data', lines.add)
      input.on('end', onEnd)
      input.on('close', onEnd)
      input.on('error', () => close())
      // The client has closed its end of the pipe and can receive nothing more.
      output.on('error', () => close())
    },
    async send(message) {
      if (closed) return
      const answered = 'method' in message ? undefined : message.id
      if (answered !== undefined) {
        opening.answered(answered, 'error' in message)
        unanswered.answer(answered)
      }
      await write(output, `${wellFormed(JSON.stringify(toInvalidParams(message)))}\n`)
      if (answered !== undefined && !closed) unanswered.delete(answered)
    },
    close: async () => close(),
    end,
    closed: new Promise((resolve) => {
      resolveClosed = resolve
    }),
  }

  function close(lost: readonly string[] = []): void {
    if (closed) return
    closed = true
    unanswered.stop()
    input.off('data', lines.add)
    transport.onclose?.()
    resolveClosed(lost)
  }

  function onEnd(): void {
    if (!closed && !unanswered.isEnding()) lines.end()
    end()
  }

  function end(): void {
    if (closed || unanswered.isEnding()) return
    input.off('data', lines.add)
    unanswered.end()
  }

  function onTooLong(ends: string): void {
    refuse(ProtocolErrorCode.InvalidRequest, `A message may have at most ${LINE_LIMIT} bytes.`, idAtEnds(ends))
  }

  function onLine(text: string): void {
    const json = parseJson(text)
    if (json === undefined)
      refuse(ProtocolErrorCode.ParseError, 'The line is not JSON. Send one JSON-RPC message on each line.')
    else if (!Array.isArray(json)) accept(json)
    else if (json.length > 0 && json.length <= BATCH_LIMIT) json.forEach(accept)
    else
      refuse(
        ProtocolErrorCode.InvalidRequest,
        `A batch has 1 to ${BATCH_LIMIT} messages. Send one message on each line.`,
      )
  }

  function accept(json: unknown): void {
    const message = messageOf(json)
    if (message === undefined) {
      refuse(ProtocolErrorCode.InvalidRequest, NOT_A_MESSAGE, isResponse(json) ? undefined : idOf(json))
      return
    }
    const admission = opening.admit(message)
    if (admission === 'nobody') return
    if (admission !== 'server') {
      // Only requests are answered here, and requests have an id.
      const id = idOf(message) as RequestId
      if ('error' in admission) transport.onerror?.(new Error(admission.error.message))
      void transport.send({ jsonrpc: '2.0', id, ...admission })
      return
    }
    if ('method' in message && 'id' in message) unanswered.add(message)
    transport.onmessage?.(withoutNullArguments(message))
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined && !closed) unanswered.delete(cancelled)
  }

  function refuse(code: number, message: string, id?: RequestId): void {
    transport.onerror?.(new Error(message))
    const error = { code, message }
    void transport.send(id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error })
  }

  return transport
}

/** Resolves also after a failed write. The error of the output then closes the connection. */
async function write(output: Writable, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    output.write(text, () => resolve())
  })
}

function messageOf(json: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(json)
  } catch {
    return undefined
  }
}

/** Finds the request that a client has cancelled. It is not answered. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  return idOf({ id: message.params?.requestId })
}

/**
 * Tells whether a value is meant as a response. Its id is one of this side's requests: an error with it would look like
 * the answer to the client's own request of that id.
 */
const isResponse = (json: unknown): boolean =>
  json !== null && typeof json === 'object' && !('method' in json) && ('result' in json || 'error' in json)

function idOf(json: unknown): RequestId | undefined {
  if (json === null || typeof json !== 'object' || !('id' in json)) return undefined
  return typeof json.id === 'string' || typeof json.id === 'number' ? json.id : undefined
}
