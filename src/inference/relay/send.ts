import { TOO_LARGE } from '../../calls/call-errors.ts'
import type { GazewayError } from '../../errors.ts'
import { type BodyListener, type Decompressing, decompressing } from '../../wire/decompress.ts'
import { gatherBytes } from '../../wire/gathered-bytes.ts'
import type { Report } from '../upstreams/circuits.ts'
import { badReply, type Ending, streamFailure } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Exchange, Headers, RelayRequest, ReplyListener, Send, StreamReply, WholeReply } from './exchange.ts'

/** Client that waits for a reply, as the request to the upstream sees it. */
export interface Client {
  /** True when it disconnected before its reply was complete. */
  isGone(): boolean
  /** Calls `listener` when it disconnects. */
  onGone(listener: () => void): void
  /** Error with which the service ended the call. Undefined when the client disconnected by itself. */
  reason?(): unknown
  /** True once it has disconnected, also while its reply is still read to learn what it costs. */
  hasLeft?(): boolean
  /** Called when the request is sent over a connection: the upstream may charge for it from here on. */
  onSent?(): void
}

const hasLeft = (client: Client): boolean => client.isGone() || (client.hasLeft?.() ?? false)

/** Tells whether and why a client is gone, for the error of its call. */
export const endingOf = (client: Client): Ending => ({ cancelled: hasLeft(client), reason: client.reason?.() })

/** Error of a request that was aborted because its client disconnected. */
export const CLIENT_GONE = new Error('The client has disconnected.')

const EVENT_STREAM = /^text\/event-stream\b/i
/** Content types of JSON. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i

/** Largest reply that is kept in memory, in bytes. */
export const WHOLE_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * Sends a request and waits for its whole reply, or for the headers of an event stream that was requested and
 * announced. Otherwise the first characters of the body decide, since some providers and proxies send a wrong
 * `content-type`; the headers then get the right one.
 *
 * @param asked.stream true when a stream is requested
 * @param asked.cutAtBytes length at which a whole reply is cut; without it, a reply above the limit fails
 * @param client ends the request, and the stream that follows, when it disconnects
 * @param report told of the connection, and of the status as soon as the headers arrive
 * @throws the transport's error before the headers; GazewayError `upstream_bad_reply` for a reply that was cut off or is
 *   too large, `upstream_timeout` for one that fell silent, both with the reply's status
 */
export function openReply(
  send: Send,
  request: RelayRequest,
  asked: { stream: boolean; cutAtBytes?: number | undefined },
  client: Client,
  provider: Provider,
  report: Pick<Report, 'connected' | 'answered'>,
): Promise<WholeReply | StreamReply> {
  const { cutAtBytes = Number.POSITIVE_INFINITY } = asked
  return new Promise((resolve, reject) => {
    if (hasLeft(client)) return reject(CLIENT_GONE)
    const body = unreadBody()
    let status = 0
    let begunAt = 0
    let headers: Headers = {}
    /** Null while unknown. */
    let isStream: boolean | null = null
    let beginning = ''
    let exchange: Exchange | undefined
    let decompress: Decompressing | null = null
    const abort = () => {
      decompress?.stop()
      exchange?.abort()
    }

    const listener: ReplyListener = {
      onConnected() {
        client.onSent?.()
        report.connected()
      },
      onHead(code, head) {
        status = code
        begunAt = performance.now()
        headers = head
        decompress = decodeInto(listener, headers, abort)
        report.answered(code)
        if (code < 200 || code >= 300) isStream = false
        else if (asked.stream && isAnnounced(headers)) begin()
      },
      onData(chunk) {
        if (body.add(chunk)) return
        if (body.size() > Math.min(cutAtBytes, WHOLE_LIMIT_BYTES)) return end()
        if (isStream === null) {
          beginning = firstCharacters(beginning, chunk)
          isStream = beginsAsEvents(beginning, isAnnounced(headers))
        }
        if (isStream) begin()
      },
      onEnd() {
        if (!body.end() && !isStream) answer()
      },
      onError(error) {
        if (body.fail(error)) return
        reject(status === 0 || error === CLIENT_GONE ? error : withStatus(streamFailure(error, provider), status))
      },
    }
    exchange = send(request, listener)
    client.onGone(abort)

    function begin(): void {
      isStream = true
      if (exchange === undefined) return
      const typed = typedHeaders(headers, EVENT_STREAM, 'text/event-stream')
      const whole = decompress ? decompressed(exchange, decompress, abort) : exchange
      resolve({ kind: 'stream', status, ...typed, begunAt, exchange: whole, consume: body.consume })
    }
    function answer(): void {
      const typed = typedHeaders(headers, JSON_TYPE, 'application/json')
      resolve({ kind: 'whole', status, ...typed, begunAt, body: body.bytes() })
    }
    /** Ends a body that is too long. */
    function end(): void {
      // Before the abort, which the transport reports as another error.
      if (body.size() > cutAtBytes) answer()
      else reject(withStatus(tooLarge(provider), status))
      abort()
    }
  })
}

/** A body that is buffered until it has a reader. Each event is true when the reader has received it. */
interface UnreadBody {
  add(chunk: Buffer): boolean
  end(): boolean
  fail(error: Error): boolean
  /** Bytes received without a reader. */
  size(): number
  bytes(): Buffer
  /** Passes everything to a reader, from the first byte. */
  consume(reader: BodyListener): void
}

function unreadBody(): UnreadBody {
  const gathered = gatherBytes()
  let size = 0
  let reader: BodyListener | undefined
  let ended = false
  let failed: Error | undefined
  return {
    add(chunk) {
      if (reader) reader.onData(chunk)
      else {
        size += chunk.length
        if (size <= WHOLE_LIMIT_BYTES) gathered.push(chunk)
      }
      return reader !== undefined
    },
    end() {
      ended = true
      reader?.onEnd()
      return reader !== undefined
    },
    fail(error) {
      failed = error
      reader?.onError(error)
      return reader !== undefined
    },
    size: () => size,
    bytes: () => Buffer.concat(gathered.take()),
    consume(to) {
      for (let parts = gathered.take(); parts.length > 0; parts = gathered.take())
        for (const part of parts) to.onData(part)
      reader = to
      if (failed) to.onError(failed)
      else if (ended) to.onEnd()
    },
  }
}

const isAnnounced = (headers: Headers): boolean => EVENT_STREAM.test(String(headers['content-type']))

/** Headers with a content type that fits the body, and the type that the upstream announced. */
function typedHeaders(headers: Headers, type: RegExp, name: string): Pick<WholeReply, 'headers' | 'announced'> {
  const announced = headers['content-type']
  return { headers: type.test(String(announced)) ? headers : { ...headers, 'content-type': name }, announced }
}

/** Decodes what a listener receives, when the headers name an encoding. Null when nothing is decoded. */
function decodeInto(
  listener: ReplyListener,
  { 'content-encoding': encoding }: Headers,
  giveUp: () => void,
): Decompressing | null {
  const decompress = encoding === undefined ? null : decompressing(String(encoding), { ...listener }, giveUp)
  if (decompress === null) return null
  const { onData, onEnd, onError } = decompress
  Object.assign(listener, { onData, onEnd, onError })
  return decompress
}

/** Extends an exchange to pause its decompression too. */
const decompressed = (exchange: Exchange, decompress: Decompressing, abort: () => void): Exchange => ({
  pause() {
    decompress.pause()
    exchange.pause()
  },
  resume() {
    exchange.resume()
    decompress.resume()
  },
  abort,
})

/** White space, and the bytes of a byte order mark. */
const BLANK = [...Buffer.from(' \t\r\n\ufeff')]
/** Beginnings of an event stream: a field or a comment. */
const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':']
const LONGEST_FIELD = Math.max(...FIELDS.map((field) => field.length))

/** First non-blank characters of a reply, given those known so far and the next chunk. */
function firstCharacters(known: string, piece: Buffer): string {
  const start = known === '' ? piece.findIndex((byte) => !BLANK.includes(byte)) : 0
  return start === -1 ? '' : known + piece.toString('latin1', start, start + LONGEST_FIELD)
}

/**
 * Tells whether a reply consists of server-sent events. Null while undecided.
 *
 * @param beginning its first characters
 * @param isAnnounced true when its headers say so; anything but JSON then counts as events
 */
function beginsAsEvents(beginning: string, isAnnounced: boolean): boolean | null {
  if (beginning === '') return null
  if (isAnnounced) return !beginning.startsWith('{')
  if (FIELDS.some((field) => beginning.startsWith(field))) return true
  return FIELDS.some((field) => field.startsWith(beginning)) ? null : false
}

/** Error for a reply that is too large to keep. */
export const tooLarge = (provider: Provider): GazewayError =>
  badReply(provider, `${TOO_LARGE} ${WHOLE_LIMIT_BYTES} bytes`)

/** Adds the status of the upstream's reply to an error. */
function withStatus(error: GazewayError, status: number): GazewayError {
  error.upstreamStatus = status
  return error
}
