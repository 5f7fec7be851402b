import { GazewayError } from '../errors.ts'

/** Seconds after which a request that found no room may be repeated. */
const RETRY_AFTER_SECONDS = 2

/** A request whose body is in memory. */
interface BodyOwner {
  request: object
  /** Id of the caller's key. Requests without a key count as those of one caller. */
  callerId: string | null
}

/** Counts the bytes of request bodies in memory, against a limit on all of them together. */
export interface BufferedBytes {
  /**
   * Requires room for a body, without taking it.
   *
   * @throws GazewayError `too_many_bodies` when it does not fit beside those already held; `payload_too_large` when it
   *   would not fit alone
   */
  requireRoom(owner: BodyOwner, bytes: number): void
  /**
   * Counts further bytes of a request. They are held until {@link BufferedBytes.release}.
   *
   * @throws GazewayError as {@link BufferedBytes.requireRoom}
   */
  take(owner: BodyOwner, bytes: number): void
  /** Gives back all bytes of a request, if it holds any. */
  release(request: object): void
}

/**
 * Creates the count of one process.
 *
 * - A caller may hold as many bytes as stay free beside it: alone half of the limit, two callers a third each. The next
 *   caller always finds room.
 * - Bytes count once they arrive, so that a client that announces a body and does not send it takes no room.
 * - A body that does not fit is refused rather than queued: others are held for as long as their models answer, which
 *   may be minutes.
 *
 * @param limit bytes, read at each request
 */
export function createBufferedBytes(limit: () => number): BufferedBytes {
  // No Map: see `createInFlight`.
  const ofRequests = new WeakMap<object, { callerId: string | null; bytes: number }>()
  const ofCallers = new Map<string | null, number>()
  let held = 0
  function requireRoom({ request, callerId }: BodyOwner, bytes: number): void {
    const whole = (ofRequests.get(request)?.bytes ?? 0) + bytes
    if (2 * whole > limit()) throw neverFits(limit())
    if ((ofCallers.get(callerId) ?? 0) + bytes > limit() - held - bytes) throw noRoom(limit())
  }
  return {
    requireRoom,
    take(owner, bytes) {
      requireRoom(owner, bytes)
      const { request, callerId } = owner
      ofRequests.set(request, { callerId, bytes: (ofRequests.get(request)?.bytes ?? 0) + bytes })
      ofCallers.set(callerId, (ofCallers.get(callerId) ?? 0) + bytes)
      held += bytes
    },
    release(request) {
      const given = ofRequests.get(request)
      if (!given) return
      ofRequests.delete(request)
      const left = (ofCallers.get(given.callerId) ?? 0) - given.bytes
      if (left > 0) ofCallers.set(given.callerId, left)
      else ofCallers.delete(given.callerId)
      held -= given.bytes
    },
  }
}

const noRoom = (limit: number): GazewayError =>
  new GazewayError(
    'too_many_bodies',
    `The bodies of requests in progress leave no room for this one (http.max_buffered_bytes: ${limit} bytes). Retry in ${RETRY_AFTER_SECONDS} s.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )

const neverFits = (limit: number): GazewayError =>
  new GazewayError(
    'payload_too_large',
    `The body takes more than half of http.max_buffered_bytes (${limit} bytes) in memory.`,
  )
