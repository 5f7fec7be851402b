import type { GazewayError } from '../../errors.ts'
import { type BodyListener, type Decompressing, decompressing } from '../../wire/decompress.ts'
import { badReply, type Ending, streamFailure } from '../failure.ts'
import type { Provider } from '../provider.ts'

/** A request to the upstream, as bytes. */
export interface RelayRequest {
  method: string
  /** Below the provider's base URL. */
  path: string
  headers: Record<string, string>
  body: string | Buffer | null
}

/** What the transport tells of a reply, in order: head, data, then end or error. */
export interface ReplyListener extends BodyListener {
  onHead(status: number, headers: Headers): void
}

/** Reply headers by lower-case name. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A request on its way: its reply can be held up, let go on, or given up. */
export interface Exchange {
  pause(): void
  resume(): void
  /** Ends the request, unless it is over; the listener hears no more of it than one error. */
  abort(): void
}

/** Sends a request; the reply arrives at the listener. */
export type Send = (request: RelayRequest, listener: ReplyListener) => Exchange

/** A reply that has arrived in whole. */
export interface WholeReply {
  kind: 'whole'
  status: number
  headers: Headers
  /** The `content-type` that the upstream named; `headers` name the right one. */
  announced?: string | string[] | undefined
  body: Buffer
}

/** A reply that goes on: server-sent events. Nothing flows until `consume`. */
export interface StreamReply {
  kind: 'stream'
  status: number
  headers: Headers
  announced?: string | string[] | undefined
  exchange: Exchange
  /** Hands over what arrives from now on. */
  consume(sink: BodyListener): void
}

/** Whoever waits for a reply, as far as the request to the upstream must know. */
export interface Client {
  /** Whether it has gone away before its reply was complete. */
  isGone(): boolean
  /** Calls `listener` when it goes. */
  onGone(listener: () => void): void
  /** Why it is gone, where not by itself: the error with which the service ended the call. */
  reason?(): unknown
}

/** Whether a client is gone, and why: what its call fails with then. */
export const endingOf = (client: Client): Ending => ({ cancelled: client.isGone(), reason: client.reason?.() })

/** What a request fails with that was given up because its client has gone. */
export const CLIENT_GONE = new Error('The client has gone.')

const EVENT_STREAM = /^text\/event-stream\b/i
/** The content types that hold JSON. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i

/** What of a reply must be kept in memory until it has come in whole is kept up to this size. */
export const WHOLE_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * Sends a request and waits for its whole reply, or for the beginning of an event stream: its head where one was asked for
 * and is announced. Otherwise a reply is what it begins as, whatever its `content-type` says: some providers, and proxies
 * before them, name another. Its headers name the right one then.
 *
 * @param asked.stream whether the request asks for a stream
 * @param asked.cutAtBytes where a whole reply is cut off; without it, one that is larger than what is kept fails
 * @param client the request, and the stream that follows, end when it goes
 * @param onStatus hears the status of the reply with its head, however long the rest of it takes
 * @throws whatever the transport failed with before there was a head; GazewayError `upstream_bad_reply` for a reply that
 *   broke off or is too large, `upstream_timeout` for one that fell silent, both with the status that the reply had
 */
export function openReply(
  send: Send,
  request: RelayRequest,
  asked: { stream: boolean; cutAtBytes?: number },
  client: Client,
  provider: Provider,
  onStatus: (status: number) => void,
): Promise<WholeReply | StreamReply> {
  const { cutAtBytes = Number.POSITIVE_INFINITY } = asked
  return new Promise((resolve, reject) => {
    if (client.isGone()) return reject(CLIENT_GONE)
    const chunks: Buffer[] = []
    let size = 0
    let status = 0
    let headers: Headers = {}
    /** Null while that is not known. */
    let isStream: boolean | null = null
    let beginning = ''
    let sink: BodyListener | undefined
    let ended = false
    let failed: Error | undefined

    let exchange: Exchange | undefined
    let decompress: Decompressing | null = null
    const abort = () => {
      decompress?.stop()
      exchange?.abort()
    }

    const listener: ReplyListener = {
      onHead(code, head) {
        status = code
        headers = head
        const encoding = head['content-encoding']
        if (encoding !== undefined) {
          decompress = decompressing(String(encoding), { ...listener }, abort)
          const { onData, onEnd, onError } = decompress ?? listener
          Object.assign(listener, { onData, onEnd, onError })
        }
        onStatus(code)
        if (code < 200 || code >= 300) isStream = false
        else if (asked.stream && isAnnounced()) begin()
      },
      onData(chunk) {
        if (sink) return sink.onData(chunk)
        keep(chunk)
        if (isStream === null) {
          beginning = firstCharacters(beginning, chunk)
          isStream = beginsAsEvents(beginning, isAnnounced())
        }
        if (isStream) begin()
      },
      onEnd() {
        ended = true
        if (sink) sink.onEnd()
        else if (!isStream) answer()
      },
      onError(error) {
        failed = error
        if (sink) sink.onError(error)
        else reject(status === 0 || error === CLIENT_GONE ? error : withStatus(streamFailure(error, provider), status))
      },
    }
    exchange = send(request, listener)
    client.onGone(abort)

    function begin(): void {
      isStream = true
      if (exchange) {
        const whole = decompress ? heldWith(exchange, decompress, abort) : exchange
        resolve({
          kind: 'stream',
          status,
          headers: named(EVENT_STREAM, 'text/event-stream'),
          announced: headers['content-type'],
          exchange: whole,
          consume,
        })
      }
    }

    function isAnnounced(): boolean {
      return EVENT_STREAM.test(String(headers['content-type']))
    }

    function named(type: RegExp, name: string): Headers {
      return type.test(String(headers['content-type'])) ? headers : { ...headers, 'content-type': name }
    }

    function consume(to: BodyListener): void {
      for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) to.onData(chunk)
      sink = to
      if (failed) to.onError(failed)
      else if (ended) to.onEnd()
    }

    function answer(): void {
      const body = Buffer.concat(chunks)
      const announced = headers['content-type']
      resolve({ kind: 'whole', status, headers: named(JSON_TYPE, 'application/json'), announced, body })
    }

    function keep(chunk: Buffer): void {
      size += chunk.length
      if (size <= WHOLE_LIMIT_BYTES) chunks.push(chunk)
      if (size <= Math.min(cutAtBytes, WHOLE_LIMIT_BYTES)) return
      // Before the abort, which the transport reports as an error of its own.
      if (size > cutAtBytes) answer()
      else reject(withStatus(tooLarge(provider), status))
      abort()
    }
  })
}

/** An exchange whose body is read with it, and no further than it is. */
const heldWith = (exchange: Exchange, decompress: Decompressing, abort: () => void): Exchange => ({
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
/** What an event stream can begin with, after these: a field, or a comment. */
const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':']
const LONGEST_FIELD = Math.max(...FIELDS.map((field) => field.length))

/** The first characters of a reply, after the blank ones: what is known of them so far, and what a piece adds. */
function firstCharacters(known: string, piece: Buffer): string {
  const start = known === '' ? piece.findIndex((byte) => !BLANK.includes(byte)) : 0
  return start === -1 ? '' : known + piece.toString('latin1', start, start + LONGEST_FIELD)
}

/**
 * Whether a reply is one of server-sent events; null where that does not show yet.
 *
 * @param beginning its first characters
 * @param isAnnounced whether its head says that it is; fields that nobody knows are then none of a JSON text
 */
function beginsAsEvents(beginning: string, isAnnounced: boolean): boolean | null {
  if (beginning === '') return null
  if (isAnnounced) return !beginning.startsWith('{')
  if (FIELDS.some((field) => beginning.startsWith(field))) return true
  return FIELDS.some((field) => field.startsWith(beginning)) ? null : false
}

/** What a reply fails with of which more would have to be kept. */
export const tooLarge = (provider: Provider): GazewayError =>
  badReply(provider, `its reply is larger than ${WHOLE_LIMIT_BYTES} bytes`)

/** `error`, with the status that the upstream had answered before. */
function withStatus(error: GazewayError, status: number): GazewayError {
  error.upstreamStatus = status
  return error
}
