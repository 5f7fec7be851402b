import type { BodyListener } from '../../wire/decompress.ts'

/** A request to the upstream, as bytes. */
export interface RelayRequest {
  method: string
  /** Path below the provider's base URL. */
  path: string
  headers: Readonly<Record<string, string>>
  body: string | Buffer | null
  /** Id of the caller's key, which has its share of the connections. */
  callerId?: string | null
}

/** Receives a reply in order: head, data, then end or error. */
export interface ReplyListener extends BodyListener {
  /** There is a connection, over which the request is sent now. */
  onConnected?(): void
  onHead(status: number, headers: Headers): void
}

/** Reply headers by lower-case name. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A request in flight. Its reply can be paused, resumed and aborted. */
export interface Exchange {
  pause(): void
  resume(): void
  /** Aborts the request, unless it has ended. The listener gets one error at most. */
  abort(): void
}

/** Sends a request; the reply arrives at the listener. */
export type Send = (request: RelayRequest, listener: ReplyListener) => Exchange

interface ReplyHead {
  status: number
  headers: Headers
  /** `content-type` that the upstream sent; `headers` has the corrected one. */
  announced?: string | string[] | undefined
  /** Time of its first byte, as `performance.now()` gives it; absent for a reply that was made here. */
  begunAt?: number
}

/** A complete reply. */
export interface WholeReply extends ReplyHead {
  kind: 'whole'
  body: Buffer
}

/** A streamed reply: server-sent events. Nothing flows until `consume`. */
export interface StreamReply extends ReplyHead {
  kind: 'stream'
  exchange: Exchange
  /** Receives everything that arrives from now on. */
  consume(sink: BodyListener): void
}
