import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { addressOf, networkOf } from '../../web/client-address.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import { countPerMinute } from '../../web/rate-limit.ts'

/**
 * Limits the requests of one address without a key, by the current configuration. Each request costs work, and most
 * cost their sender nothing.
 *
 * @returns a function that counts a request; it throws GazewayError `rate_limited` with the seconds to wait
 */
export function keylessLimit({ config }: Gateway): (c: FrameContext) => void {
  const rule = config.hotReload(
    ({ mpp }) => mpp.requests_per_minute,
    (limit) => ({ limit, count: countPerMinute(limit) }),
  ).always
  return (c) => {
    const { left, seconds } = rule.count(networkOf(addressOf(c.env.incoming) ?? ''))
    if (left >= 0) return
    throw new GazewayError(
      'rate_limited',
      `An address may make ${rule.limit} requests a minute without a key (mpp.requests_per_minute). Retry in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    )
  }
}
