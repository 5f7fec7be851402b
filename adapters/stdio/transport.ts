import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'

/** The longest message accepted, in bytes; a longer line is skipped and answered with an error. */
const LINE_LIMIT = 8 * 1024 * 1024
const NEWLINE = 0x0a

/**
 * MCP over newline-delimited JSON. Unlike the SDK's own stdio transport it survives any line: what is not a message is
 * answered with a JSON-RPC error, an endless line costs no memory, and the end of input closes the connection.
 */
export function stdioTransport(input: Readable, output: Writable): Transport {
  let line: Buffer[] = []
  let length = 0
  let initialized = false
  let closed = false

  const transport: Transport = {
    async start() {
      input.on('data', onData)
      input.on('end', close)
      input.on('close', close)
      input.on('error', close)
      // The client has gone: its end of the pipe is closed, nothing can be told it any more.
      output.on('error', close)
    },
    send: (message) =>
      new Promise((resolve) => {
        if (closed || output.write(`${JSON.stringify(message)}\n`)) return resolve()
        output.once('drain', resolve)
      }),
    close: async () => close(),
  }

  function close(): void {
    if (closed) return
    closed = true
    input.off('data', onData)
    transport.onclose?.()
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
    if (length > LINE_LIMIT) line = []
    else line.push(part)
  }

  function onLine(): void {
    const text = Buffer.concat(line).toString('utf8').trim()
    const tooLong = length > LINE_LIMIT
    line = []
    length = 0
    if (tooLong) refuse(ErrorCode.InvalidRequest, `A message may have at most ${LINE_LIMIT} bytes.`)
    else if (text !== '') accept(text)
  }

  function accept(text: string): void {
    const read = readMessage(text)
    if ('fault' in read) {
      refuse(read.code, read.fault, read.id)
      return
    }
    const { message } = read
    const method = 'method' in message ? message.method : null
    if (method === 'initialize') initialized = true
    if (!initialized && method !== 'ping' && 'id' in message)
      refuse(ErrorCode.InvalidRequest, 'Send initialize first.', message.id)
    else transport.onmessage?.(message)
  }

  function refuse(code: number, message: string, id?: string | number): void {
    transport.onerror?.(new Error(message))
    const error = { code, message }
    void transport.send(id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error })
  }

  return transport
}

/** What a line says, or the JSON-RPC error for it. */
type Read = { message: JSONRPCMessage } | { fault: string; code: ErrorCode; id?: string | number | undefined }

function readMessage(text: string): Read {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { fault: 'The line is not JSON. Send one JSON-RPC message on each line.', code: ErrorCode.ParseError }
  }
  if (Array.isArray(json))
    return { fault: 'Batches are not supported; send one message on each line.', code: ErrorCode.InvalidRequest }
  const message = JSONRPCMessageSchema.safeParse(json)
  if (message.success) return { message: message.data }
  return { fault: 'The line is not a JSON-RPC 2.0 message.', code: ErrorCode.InvalidRequest, id: idOf(json) }
}

function idOf(json: unknown): string | number | undefined {
  if (json === null || typeof json !== 'object' || !('id' in json)) return undefined
  return typeof json.id === 'string' || typeof json.id === 'number' ? json.id : undefined
}
