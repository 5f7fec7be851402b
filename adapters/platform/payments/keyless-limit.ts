import { isIPv6 } from 'node:net'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { FrameContext } from '../../web/frame.ts'
import { countPerMinute } from '../../web/rate-limit.ts'

/** Leading groups of an IPv6 address that one network has (a /64, RFC 4291 section 2.5.4). */
const NETWORK_GROUPS = 4

/**
 * Limits the requests of one address without a key, by the current configuration. Each request costs work, and most
 * cost their sender nothing.
 *
 * @returns a function that counts a request; it throws GazewayError `rate_limited` with the seconds to wait
 */
export function keylessLimit({ config }: Gateway): (c: FrameContext) => void {
  const rule = config.follow(
    ({ mpp }) => mpp.requests_per_minute,
    (limit) => ({ limit, count: countPerMinute(limit) }),
  ).always
  return (c) => {
    const { left, seconds } = rule.count(networkOf(c.env.incoming.socket.remoteAddress ?? ''))
    if (left >= 0) return
    throw new GazewayError(
      'rate_limited',
      `An address may make ${rule.limit} requests a minute without a key (mpp.requests_per_minute). Retry in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    )
  }
}

/** Reduces an address to the part that is counted. One host may have a whole IPv6 network. */
function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:/, '')
  if (!isIPv6(mapped)) return mapped
  const [head = '', tail = ''] = mapped.split('::')
  const [first, last] = [head.split(':'), tail === '' ? [] : tail.split(':')]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS).join(':')
}
