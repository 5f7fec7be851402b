import type { MiddlewareHandler } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame-context.ts'

const MINUTE_MS = 60_000

/** Rate limit of a key. */
export interface RateLimit {
  /**
   * Counts a request over HTTP. The `ratelimit-*` headers of the reply show what is left.
   *
   * @throws GazewayError `rate_limited` with the seconds to wait
   */
  limit: MiddlewareHandler<Frame>
  /** Counts any other use of a key, together with its requests. @throws GazewayError as `limit` */
  count(keyId: string): void
}

/** Remaining requests of a limit, negative when exceeded, and the seconds until it resets. */
export interface Left {
  left: number
  seconds: number
}

/**
 * Counts requests per minute and client, in this process. A client's minute begins with its first request.
 *
 * @param now milliseconds of a clock that never goes back
 * @returns a function that counts one
 */
export function countPerMinute(limit: number, now = () => performance.now()): (who: string) => Left {
  /** Oldest first, since all last as long. */
  const minutes = new Map<string, { begin: number; hits: number }>()

  return (who) => {
    const time = now()
    for (const [client, { begin }] of minutes) {
      if (time - begin < MINUTE_MS) break
      minutes.delete(client)
    }
    const minute = minutes.get(who) ?? { begin: time, hits: 0 }
    minute.hits += 1
    minutes.set(who, minute)
    return { left: limit - minute.hits, seconds: Math.ceil((MINUTE_MS - (time - minute.begin)) / 1000) }
  }
}

/** Limits the requests of each key in a minute, in this process. */
export function rateLimit(requestsPerMinute: number): RateLimit {
  const hit = countPerMinute(requestsPerMinute)

  function refuseBelowZero({ left, seconds }: Left): void {
    if (left >= 0) return
    throw new GazewayError(
      'rate_limited',
      `This key may make ${requestsPerMinute} requests a minute (http.rate_limit). Retry in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    )
  }

  return {
    async limit(c, next) {
      const identity = c.get('identity')
      if (identity === undefined) return next()
      const state = hit(identity.id)
      // Set on the Node reply, because the reply to a model call bypasses the router.
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
