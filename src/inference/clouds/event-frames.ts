import { crc32 } from 'node:zlib'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import type { ReplyListener } from '../relay/exchange.ts'

/** Type of a reply in frames. */
const FRAMES = 'application/vnd.amazon.eventstream'
/** Bytes before the headers of a frame, and behind its payload. */
const PRELUDE = 12
const CHECKSUM = 4
const LARGEST_FRAME = 16 * 1024 * 1024
/** Type of a header whose value is a text. */
const TEXT = 7

/** Types of errors in Messages, by the exception of a frame. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  throttlingException: 'rate_limit_error',
  validationException: 'invalid_request_error',
  serviceUnavailableException: 'overloaded_error',
}

/**
 * Reads a stream of frames (https://smithy.io/2.0/aws/amazon-eventstream.html) as server-sent events of Messages. A frame
 * holds an event in base64, or an exception. Other replies pass as they are.
 */
export function readFrames(listener: ReplyListener): ReplyListener {
  let isFramed = false
  let isBroken = false
  let rest: Buffer = Buffer.alloc(0)

  function read(chunk: Buffer): void {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let length = lengthOf(rest); length !== null && rest.length >= length; length = lengthOf(rest)) {
      const frame = rest.subarray(0, length)
      rest = rest.subarray(length)
      listener.onData(eventIn(frame))
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

function eventIn(frame: Buffer): Buffer {
  const end = frame.length - CHECKSUM
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end))
    throw new Error('A frame of the stream has a wrong checksum.')
  const from = PRELUDE + frame.readUInt32BE(4)
  const headers = headersIn(frame.subarray(PRELUDE, from))
  const payload = fieldsOrNone(JSON.parse(frame.subarray(from, end).toString()))
  const exception = headers[':exception-type'] ?? headers[':error-code']
  if (exception !== undefined) {
    const message = isText(payload.message) ? payload.message : exception
    return sse(
      'error',
      JSON.stringify({ type: 'error', error: { type: EXCEPTIONS[exception] ?? 'api_error', message } }),
    )
  }
  const data = Buffer.from(String(payload.bytes), 'base64').toString()
  return sse(String(fieldsOrNone(JSON.parse(data)).type), data)
}

const sse = (type: string, data: string): Buffer => Buffer.from(`event: ${type}\ndata: ${data}\n\n`)

function headersIn(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    if (bytes.readUInt8(nameEnd) !== TEXT) break
    const valueEnd = nameEnd + 3 + bytes.readUInt16BE(nameEnd + 1)
    headers[bytes.toString('utf8', at + 1, nameEnd)] = bytes.toString('utf8', nameEnd + 3, valueEnd)
    at = valueEnd
  }
  return headers
}
