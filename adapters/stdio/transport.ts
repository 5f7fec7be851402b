import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ClientRequestSchema,
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { parseJson } from '../../src/text/json.ts'
import { toInvalidParams } from './invalid-params.ts'
import { endsOf, idAtEnds } from './long-line.ts'
import { toPlainError } from './plain-error.ts'
import { wellFormed } from './well-formed.ts'
import { withoutTask } from './without-task.ts'

/** The longest message accepted, in bytes; a longer line is skipped and answered with an error. */
const LINE_LIMIT = 8 * 1024 * 1024
/** The most messages of a batch, which the revision 2025-03-26 has; each is answered by itself, on a line of its own. */
const BATCH_LIMIT = 100
/**
 * How long after the end of input, and after an answer in that time, another may take: a client that has sent all of its
 * may yet read. It is waited for twice this at most; the rest of the 10 s that the end may take is for what is aborted.
 */
const GRACE_MS = 4000
const NEWLINE = 0x0a
/** The methods that clients of this protocol may call. */
const METHODS = new Set<string>(ClientRequestSchema.options.map(({ shape }) => shape.method.value))

/** A connection that this side can end, too. */
export interface StdioTransport extends Transport {
  /** Reads no more, and closes as at the end of input. */
  end(): void
}

/**
 * MCP over newline-delimited JSON. Unlike the SDK's own stdio transport it survives any line: what is not a message is
 * answered with a JSON-RPC error, an endless line costs no memory, and the end of input closes the connection once what
 * was asked is answered, or when no answer has come for {@link GRACE_MS}.
 */
export function stdioTransport(input: Readable, output: Writable): StdioTransport {
  let line: Buffer[] = []
  let length = 0
  let initialized = false
  let closed = false
  let ending: NodeJS.Timeout | undefined
  let extendUntil = 0
  const unanswered = new Set<RequestId>()

  const transport: StdioTransport = {
    async start() {
      input.on('data', onData)
      input.on('end', onEnd)
      input.on('close', onEnd)
      input.on('error', close)
      // The client has gone: its end of the pipe is closed, nothing can be told it any more.
      output.on('error', close)
    },
    async send(message) {
      if (closed) return
      // Also called when it could not be written; the output's own error closes the connection then.
      await new Promise<void>((resolve) => {
        output.write(`${wellFormed(JSON.stringify(toPlainError(toInvalidParams(message))))}\n`, () => resolve())
      })
      if (!('method' in message) && message.id !== undefined) settle(message.id)
    },
    close: async () => close(),
    end,
  }

  function close(): void {
    if (closed) return
    closed = true
    clearTimeout(ending)
    input.off('data', onData)
    transport.onclose?.()
  }

  function onEnd(): void {
    if (!closed && !ending && length > 0) onLine()
    end()
  }

  function end(): void {
    if (closed || ending) return
    input.off('data', onData)
    extendUntil = performance.now() + GRACE_MS
    waitForAnswers()
    if (unanswered.size === 0) close()
  }

  function settle(id: RequestId): void {
    unanswered.delete(id)
    if (closed || !ending) return
    if (unanswered.size === 0) close()
    else if (performance.now() < extendUntil) waitForAnswers()
  }

  function waitForAnswers(): void {
    clearTimeout(ending)
    ending = setTimeout(close, GRACE_MS)
  }

  function onData(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      onLine()
      start = end + 1
    }
    keep(chunk.subarray(start))
  }

  function keep(part: Buffer): void {
    length += part.length
    line.push(part)
    if (length > LINE_LIMIT) line = endsOf(line)
  }

  function onLine(): void {
    const text = Buffer.concat(line).toString('utf8').trim()
    const tooLong = length > LINE_LIMIT
    line = []
    length = 0
    if (tooLong) refuse(ErrorCode.InvalidRequest, `A message may have at most ${LINE_LIMIT} bytes.`, idAtEnds(text))
    else if (text !== '') read(text)
  }

  function read(text: string): void {
    const json = parseJson(text)
    if (json === undefined)
      refuse(ErrorCode.ParseError, 'The line is not JSON. Send one JSON-RPC message on each line.')
    else if (!Array.isArray(json)) accept(json)
    else if (json.length > 0 && json.length <= BATCH_LIMIT) json.forEach(accept)
    else refuse(ErrorCode.InvalidRequest, `A batch has 1 to ${BATCH_LIMIT} messages; send one message on each line.`)
  }

  function accept(json: unknown): void {
    const parsed = JSONRPCMessageSchema.safeParse(json)
    if (!parsed.success) {
      refuse(ErrorCode.InvalidRequest, 'The line is not a JSON-RPC 2.0 message.', idOf(json))
      return
    }
    const message = withoutTask(parsed.data)
    if ('method' in message && 'id' in message) {
      if (message.method === 'initialize') initialized = true
      if (!initialized && message.method !== 'ping') {
        refuseEarly(message)
        return
      }
      unanswered.add(message.id)
    }
    transport.onmessage?.(message)
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined) settle(cancelled)
  }

  /** Clients of later revisions probe with methods of theirs, and fall back to `initialize` on "method not found" alone. */
  function refuseEarly({ method, id }: JSONRPCRequest): void {
    if (METHODS.has(method)) refuse(ErrorCode.InvalidRequest, 'Send initialize first.', id)
    else refuse(ErrorCode.MethodNotFound, 'Method not found', id)
  }

  function refuse(code: number, message: string, id?: RequestId): void {
    transport.onerror?.(new Error(message))
    const error = { code, message }
    void transport.send(id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error })
  }

  return transport
}

/** The request that a client has cancelled: no answer follows. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  return idOf({ id: message.params?.requestId })
}

function idOf(json: unknown): RequestId | undefined {
  if (json === null || typeof json !== 'object' || !('id' in json)) return undefined
  return typeof json.id === 'string' || typeof json.id === 'number' ? json.id : undefined
}
