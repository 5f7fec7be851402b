import type { MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame.ts'

const MINUTE_MS = 60_000

/**
 * Limits the requests of each key in a minute, in this process.
 *
 * @throws GazewayError `rate_limited` with the seconds to wait
 */
export function rateLimit(requestsPerMinute: number): MiddlewareHandler<Frame> {
  return rateLimiter<Frame>({
    windowMs: MINUTE_MS,
    limit: requestsPerMinute,
    standardHeaders: 'draft-6',
    keyGenerator: (c) => c.get('identity')?.id ?? 'open',
    skip: (c) => c.get('identity') === undefined,
    handler: (c) => {
      const wait = Number(c.res.headers.get('retry-after')) || 60
      throw new GazewayError(
        'rate_limited',
        `This key may make ${requestsPerMinute} requests a minute (http.rate_limit). Try again in ${wait} s.`,
        { retryAfterSeconds: wait },
      )
    },
  })
}
