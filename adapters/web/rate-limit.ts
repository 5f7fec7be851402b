import type { MiddlewareHandler } from 'hono'
import { MemoryStore } from 'hono-rate-limiter'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame.ts'

const MINUTE_MS = 60_000

/** What limits how much a key asks for. */
export interface RateLimit {
  /**
   * Counts a request over HTTP, and tells in the reply's `ratelimit-*` headers what is left.
   *
   * @throws GazewayError `rate_limited` with the seconds to wait
   */
  limit: MiddlewareHandler<Frame>
  /** Counts what else a key asks for, together with its requests. @throws GazewayError as `limit` */
  count(keyId: string): void
}

/** Limits the requests of each key in a minute, in this process. */
export function rateLimit(requestsPerMinute: number): RateLimit {
  const store = new MemoryStore<Frame>()
  // It reads nothing else of the library's options.
  store.init({ windowMs: MINUTE_MS } as Parameters<typeof store.init>[0])

  /** @returns how many requests are left, below 0 where this is one too many, and the seconds until all are again */
  function hit(keyId: string): { left: number; seconds: number } {
    const { totalHits, resetTime } = store.increment(keyId)
    const seconds = Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1000)
    return { left: requestsPerMinute - totalHits, seconds: Math.max(1, seconds) }
  }

  function refuseBelowZero({ left, seconds }: ReturnType<typeof hit>): void {
    if (left >= 0) return
    throw new GazewayError(
      'rate_limited',
      `This key may make ${requestsPerMinute} requests a minute (http.rate_limit). Try again in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    )
  }

  return {
    async limit(c, next) {
      const identity = c.get('identity')
      if (identity === undefined) return next()
      const state = hit(identity.id)
      // On the connection, not the router's reply: that of a model call is written past the router.
      const { outgoing } = c.env
      outgoing.setHeader('ratelimit-policy', `${requestsPerMinute};w=${MINUTE_MS / 1000}`)
      outgoing.setHeader('ratelimit-limit', String(requestsPerMinute))
      outgoing.setHeader('ratelimit-remaining', String(Math.max(0, state.left)))
      outgoing.setHeader('ratelimit-reset', String(state.seconds))
      refuseBelowZero(state)
      return next()
    },
    count: (keyId) => refuseBelowZero(hit(keyId)),
  }
}
