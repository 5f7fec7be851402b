import type { MiddlewareHandler } from 'hono'
import { MemoryStore, rateLimiter } from 'hono-rate-limiter'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame.ts'

const MINUTE_MS = 60_000

/** What limits how much a key asks for. */
export interface RateLimit {
  /** Counts a request over HTTP. @throws GazewayError `rate_limited` with the seconds to wait */
  limit: MiddlewareHandler<Frame>
  /** Counts what else a key asks for, together with its requests. @throws GazewayError as `limit` */
  count(keyId: string): void
}

/** Limits the requests of each key in a minute, in this process. */
export function rateLimit(requestsPerMinute: number): RateLimit {
  const store = new MemoryStore<Frame>()
  const limit = rateLimiter<Frame>({
    store,
    windowMs: MINUTE_MS,
    limit: requestsPerMinute,
    standardHeaders: 'draft-6',
    keyGenerator: (c) => c.get('identity')?.id ?? 'open',
    skip: (c) => c.get('identity') === undefined,
    handler: (c) => {
      throw limited(Number(c.res.headers.get('retry-after')) || 60)
    },
  })
  return {
    limit,
    count(keyId) {
      const { totalHits, resetTime } = store.increment(keyId)
      if (totalHits > requestsPerMinute) throw limited(Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1000))
    },
  }

  function limited(seconds: number): GazewayError {
    const wait = Math.max(1, seconds)
    return new GazewayError(
      'rate_limited',
      `This key may make ${requestsPerMinute} requests a minute (http.rate_limit). Try again in ${wait} s.`,
      { retryAfterSeconds: wait },
    )
  }
}
