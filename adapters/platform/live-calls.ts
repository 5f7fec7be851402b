import { setTimeout as pause } from 'node:timers/promises'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { GazewayError } from '../../src/errors.ts'

/** Interval at which a stream looks for calls that any process of the store has recorded, in milliseconds. */
const LOOK_MS = 1000
/** Interval of comments on a silent stream, in milliseconds, because proxies end silent streams. */
const KEEPALIVE_MS = 15_000
/** Longest time that a client may leave an event untaken, in milliseconds. */
const STALL_MS = 30_000
/** Maximum number of streams of one process. */
const MAX_STREAMS = 64
/** Maximum number of streams of one key, so that no key takes the places of the others. */
const MAX_OF_KEY = 8

/** A stream to open. */
export interface LiveCalls {
  keyId: string
  /** Checks that the key of the request may still read. @throws GazewayError when it may not */
  check(): Promise<void>
  /** Reads the calls since the read before; those of the first read are not sent. */
  read(): Promise<CallRecord[]>
  /** Ends the connection of a client that takes nothing. */
  drop(): void
}

/** Opens a stream. @throws GazewayError `too_many_requests` beyond 8 streams of a key, and 64 of this process */
export type OpenLiveCalls = (stream: LiveCalls) => Promise<Response>

/**
 * Creates replies with calls as server-sent events while they are recorded: `event: calls`, `data: {"items": […]}`,
 * newest first, without their content. A stream ends with its key.
 *
 * @param stopping ends all streams
 */
export function createLiveCalls(stopping: AbortSignal, { lookMs = LOOK_MS, stallMs = STALL_MS } = {}): OpenLiveCalls {
  const open: string[] = []

  /** Takes a place. @returns gives it back */
  function enter(keyId: string): () => void {
    const own = open.filter((id) => id === keyId).length
    if (own >= MAX_OF_KEY) throw tooMany(`This key has ${own} open streams of calls.`)
    if (open.length >= MAX_STREAMS) throw tooMany(`${open.length} streams of calls are open.`)
    open.push(keyId)
    return () => void open.splice(open.indexOf(keyId), 1)
  }

  return async (stream) => {
    const leave = enter(stream.keyId)
    const leaving = new AbortController()
    const ended = AbortSignal.any([stopping, leaving.signal])
    try {
      await stream.read()
    } catch (error) {
      leave()
      throw error
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        void send(controller, stream, { left: leaving.signal, ended, lookMs, stallMs }).finally(leave),
      cancel: () => leaving.abort(),
    })
    return new Response(body, { headers: EVENT_STREAM })
  }
}

/** Headers of a stream. */
export const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

const tooMany = (open: string) => new GazewayError('too_many_requests', `${open} Close one, then retry.`)

/** Sends events until the key or the service ends, the client leaves, or it takes nothing for too long. */
async function send(
  to: ReadableStreamDefaultController<Uint8Array>,
  { check, read, drop }: LiveCalls,
  { left, ended, lookMs, stallMs }: { left: AbortSignal; ended: AbortSignal; lookMs: number; stallMs: number },
): Promise<void> {
  let sentAt = Date.now()
  let takenAt = sentAt
  const write = (text: string) => {
    to.enqueue(Buffer.from(text))
    sentAt = Date.now()
  }
  try {
    // The head is sent with the first bytes.
    write(': live\n\n')
    while (Date.now() - takenAt < stallMs) {
      await pause(lookMs, undefined, { signal: ended })
      await check()
      // Nothing is read for a client that has not taken the event before.
      if ((to.desiredSize ?? 0) <= 0) continue
      takenAt = Date.now()
      const calls = await read()
      if (calls.length > 0) write(`event: calls\ndata: ${JSON.stringify({ items: calls })}\n\n`)
      else if (Date.now() - sentAt >= KEEPALIVE_MS) write(': keepalive\n\n')
    }
    drop()
    to.close()
  } catch (error) {
    if (left.aborted) return
    if (isEnd(error)) to.close()
    else to.error(error)
  }
}

/** Tells whether a stream ends as it should: the service stops, or the key is no longer accepted. */
const isEnd = (error: unknown): boolean =>
  error instanceof GazewayError ? error.status === 401 : (error as Error).name === 'AbortError'
