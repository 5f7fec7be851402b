import type { Headers } from '../relay/exchange.ts'

/**
 * Pause that an upstream asks for, in milliseconds: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110,
 * section 10.2.3). Null when it asks for none.
 *
 * @example retryAfterMs({ 'retry-after': '2' }) // 2000
 */
export function retryAfterMs(headers: Headers): number | null {
  const precise = Number.parseFloat(String(headers['retry-after-ms']))
  if (!Number.isNaN(precise)) return Math.max(0, precise)
  const retryAfter = String(headers['retry-after'] ?? '')
  const ms = Number.isNaN(Number(retryAfter)) ? Date.parse(retryAfter) - Date.now() : Number(retryAfter) * 1000
  return retryAfter === '' || Number.isNaN(ms) ? null : Math.max(0, ms)
}
