import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import type { Arrival } from './arrival.ts'
import { onReplyClosed } from './reply-closed.ts'

/** Maximum size of a reply that is joined with its head and written as one piece, in bytes. */
const ONE_PIECE_BYTES = 16 * 1024

/** Headers that turn off caches, and the buffering of nginx. */
const AS_IT_COMES = ['cache-control', 'no-cache', 'x-accel-buffering', 'no']

/**
 * Creates the receiver of a relayed reply that writes straight to the client's connection. A route of the router
 * returns `ALREADY_SENT` when the relay is done.
 *
 * @param stallMs how long a client may read nothing of the end of its reply before its connection is closed
 */
export function receiverOf({ outgoing, requestId }: Arrival, stallMs: number): Receiver {
  const listeners: (() => void)[] = []
  // Not an AbortController: creating one for each request is expensive.
  let gone = outgoing.destroyed
  onReplyClosed(outgoing, () => {
    // Emptied in any case: V8 may have made the list old, see `onReplyClosed`.
    const waiting = listeners.splice(0)
    if (outgoing.writableFinished) return
    gone = true
    for (const listener of waiting) listener()
  })
  function end(bytes?: Buffer | string): void {
    if (bytes === undefined) outgoing.end()
    else outgoing.end(bytes)
    letGo()
  }
  /**
   * Ends with a body that is written together with its head. `end(body)` would write the body and then an empty piece,
   * and Node would join the two at a measurable cost.
   */
  function endInOnePiece(body: Buffer): void {
    outgoing.write(body.toString('latin1'), 'latin1')
    outgoing.socket?.uncork()
    outgoing.end()
    letGo()
  }
  function letGo(): void {
    // Most replies have been handed to the operating system by now. Node closes the connection of a reply that stays in
    // its buffer and does not shrink.
    if (outgoing.socket && outgoing.socket.writableLength > 0) outgoing.setTimeout(stallMs)
  }
  return {
    isGone: () => gone,
    onGone: (listener) => void listeners.push(listener),
    whole(status, headers, body) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      outgoing.writeHead(status, rawHeaders(headers, 'x-request-id', requestId, 'content-length', String(bytes.length)))
      atEndOfTurn(() => {
        if (bytes.length > ONE_PIECE_BYTES) end(bytes)
        else endInOnePiece(bytes)
      })
    },
    head(status, headers) {
      outgoing.writeHead(status, rawHeaders(headers, 'x-request-id', requestId, ...AS_IT_COMES))
      // In a later turn, so that a first event that is ready goes out with the head.
      setImmediate(() => {
        if (!outgoing.writableEnded) outgoing.flushHeaders()
      })
    },
    write: (bytes) => outgoing.write(bytes),
    onDrain: (resume) => void outgoing.once('drain', resume),
    drop: () => void outgoing.destroy(),
    end: (bytes) => end(bytes),
  }
}

/** Writes pending at the end of this turn of the event loop. */
let due: (() => void)[] = []

/**
 * Runs `write` at the end of this turn of the event loop, together with all pending writes. Each write may wake its
 * reader, so batching saves work under load. One immediate runs all of them, because Node empties its queues between
 * immediates.
 */
function atEndOfTurn(write: () => void): void {
  if (due.push(write) > 1) return
  setImmediate(() => {
    const writes = due
    due = []
    for (const write of writes) write()
  })
}

/**
 * Builds headers in the form that Node accepts fastest: names and values in turn.
 *
 * @param raw further names and values; the names must not be among `headers`
 */
function rawHeaders(headers: Readonly<Record<string, string>>, ...raw: string[]): string[] {
  for (const name in headers) raw.push(name, headers[name] as string)
  return raw
}

/** Return value of a route whose reply is already written. */
export const ALREADY_SENT = RESPONSE_ALREADY_SENT
