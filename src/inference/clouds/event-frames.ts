import { crc32 } from 'node:zlib'
import { parseJson } from '../../text/json.ts'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import type { ReplyListener } from '../relay/exchange.ts'

/** Type of a reply in frames. */
const FRAMES = 'application/vnd.amazon.eventstream'
/** Bytes before the headers of a frame, and behind its payload. */
const PRELUDE = 12
const CHECKSUM = 4
const LARGEST_FRAME = 16 * 1024 * 1024
/** Type of a header whose value is a text; that of bytes states its length alike. */
const TEXT = 7
const BYTES = 6
/** Bytes of the values of other types of headers: true, false, numbers, a time, a UUID. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }

/** Types of errors in Messages, by the exception of a frame. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  throttlingException: 'rate_limit_error',
  validationException: 'invalid_request_error',
  serviceUnavailableException: 'overloaded_error',
}

/**
 * Reads a stream of frames (https://smithy.io/2.0/aws/amazon-eventstream.html) as server-sent events of Messages. A frame
 * holds an event in base64, or an exception. Unknown events are omitted. Other replies pass as they are.
 *
 * @param abort ends the request, whose stream is of no use once a frame of it is broken
 */
export function readFrames(listener: ReplyListener, abort: () => void): ReplyListener {
  let isFramed = false
  let isBroken = false
  let rest: Buffer = Buffer.alloc(0)

  function read(chunk: Buffer): void {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let length = lengthOf(rest); length !== null && rest.length >= length; length = lengthOf(rest)) {
      const frame = rest.subarray(0, length)
      rest = rest.subarray(length)
      const event = eventIn(frame)
      if (event !== null) listener.onData(event)
    }
  }

  return {
    onConnected: () => listener.onConnected?.(),
    onHead(status, headers) {
      isFramed = status < 300 && String(headers['content-type']).startsWith(FRAMES)
      listener.onHead(status, isFramed ? { ...headers, 'content-type': 'text/event-stream' } : headers)
    },
    onData(chunk) {
      if (!isFramed) return listener.onData(chunk)
      if (isBroken) return
      try {
        read(chunk)
      } catch (error) {
        isBroken = true
        listener.onError(error as Error)
        abort()
      }
    },
    onEnd: () => (isBroken ? undefined : listener.onEnd()),
    onError: (error) => (isBroken ? undefined : listener.onError(error)),
  }
}

const lengthOf = (bytes: Buffer): number | null => (bytes.length < PRELUDE ? null : sound(bytes).readUInt32BE(0))

/** Requires a sound prelude, so that no length of a broken one is waited for. */
function sound(bytes: Buffer): Buffer {
  const isSound = crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8) && bytes.readUInt32BE(0) <= LARGEST_FRAME
  if (!isSound) throw new Error('A frame of the stream has a wrong checksum.')
  return bytes
}

/** The event of a frame. Null for one that Messages does not have. */
function eventIn(frame: Buffer): Buffer | null {
  const end = frame.length - CHECKSUM
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end))
    throw new Error('A frame of the stream has a wrong checksum.')
  const from = PRELUDE + frame.readUInt32BE(4)
  const headers = headersIn(frame.subarray(PRELUDE, from))
  const text = frame.toString('utf8', from, end)
  if (headers[':message-type'] !== 'event') {
    const exception = headers[':exception-type'] ?? headers[':error-code'] ?? 'unknown exception'
    const { message } = fieldsOrNone(parseJson(text))
    const told = [message, headers[':error-message'], exception].find(isText)
    const error = { type: EXCEPTIONS[exception] ?? 'api_error', message: told }
    return sse('error', JSON.stringify({ type: 'error', error }))
  }
  if (headers[':event-type'] !== 'chunk') return null
  const payload = fieldsOrNone(JSON.parse(text))
  const data = Buffer.from(String(payload.bytes), 'base64').toString()
  return sse(String(fieldsOrNone(JSON.parse(data)).type), data)
}

const sse = (type: string, data: string): Buffer => Buffer.from(`event: ${type}\ndata: ${data}\n\n`)

function headersIn(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    const type = bytes.readUInt8(nameEnd)
    const isLong = type === TEXT || type === BYTES
    const begin = nameEnd + (isLong ? 3 : 1)
    const length = isLong ? bytes.readUInt16BE(nameEnd + 1) : VALUE_BYTES[type]
    if (length === undefined) throw new Error('A frame of the stream has a header of an unknown type.')
    const valueEnd = begin + length
    if (type === TEXT) headers[bytes.toString('utf8', at + 1, nameEnd)] = bytes.toString('utf8', begin, valueEnd)
    at = valueEnd
  }
  return headers
}
