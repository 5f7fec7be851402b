import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'

const MINUTE_MS = 60_000

/** Rate limits of a key. */
export type RateLimits = Pick<Identity, 'id' | 'requestsPerMinute' | 'tokensPerMinute' | 'concurrent'>

/** A counted call that is in flight. */
export interface CountedCall {
  /** Remaining limits, in the headers that OpenAI's clients read. Empty for a key without limits. */
  headers: Readonly<Record<string, string>>
  /**
   * Ends the call.
   *
   * @param tokens tokens used in total
   */
  end(tokens: number): void
}

/** Enforces the rate limits of keys, in this process. */
export interface CallRates {
  /**
   * Begins a call.
   *
   * @param tokens estimated prompt tokens; they count while the call is in flight, the actual usage afterwards
   * @throws GazewayError `too_many_requests`, with the seconds to wait and the headers of {@link CountedCall}
   */
  begin(limits: RateLimits, tokens: number): CountedCall
}

/** Usage of a key in its current minute, which begins with its first call. */
interface Window {
  until: number
  requests: number
  tokens: number
  /** Calls in flight, and the tokens of their prompts. */
  active: number
  pending: number
}

/** Headers of a key without limits. */
export const NO_HEADERS: CountedCall['headers'] = Object.freeze({})

/** A call that counts against no rate limit. */
export const UNCOUNTED_CALL: CountedCall = { headers: NO_HEADERS, end() {} }

/**
 * Creates the rate limiter.
 *
 * @param elapsedMs monotonic clock, in milliseconds
 */
export function createCallRates(elapsedMs: () => number = () => performance.now()): CallRates {
  const windows = new Map<string, Window>()

  function windowOf(id: string, now: number): Window {
    const known = windows.get(id)
    if (known && known.until > now) return known
    const { active = 0, pending = 0 } = known ?? {}
    const window = { until: now + MINUTE_MS, requests: 0, tokens: 0, active, pending }
    windows.set(id, window)
    return window
  }

  return {
    begin(limits, tokens) {
      if (limits.requestsPerMinute === null && limits.tokensPerMinute === null && limits.concurrent === null)
        return UNCOUNTED_CALL
      const now = elapsedMs()
      const window = windowOf(limits.id, now)
      const seconds = Math.max(1, Math.ceil((window.until - now) / 1000))
      const refusal = refusalOf(window, limits, { tokens, seconds })
      if (refusal !== null) throw tooMany(refusal, { ...headersOf(window, limits, seconds) })
      window.requests += 1
      window.active += 1
      window.pending += tokens
      let ended = false
      return {
        headers: headersOf(window, limits, seconds),
        end(used) {
          if (ended) return
          ended = true
          // A new window may have begun; calls in flight count there too.
          const current = windows.get(limits.id) ?? window
          current.active -= 1
          current.pending -= tokens
          current.tokens += used
          if (current.active === 0 && current.until <= elapsedMs()) windows.delete(limits.id)
        },
      }
    },
  }
}

interface Refusal {
  message: string
  seconds: number
}

function refusalOf(
  { requests, tokens: used, active, pending }: Window,
  { requestsPerMinute, tokensPerMinute, concurrent }: RateLimits,
  { tokens, seconds }: { tokens: number; seconds: number },
): Refusal | null {
  if (requestsPerMinute !== null && requests >= requestsPerMinute)
    return { message: `This key may make ${requestsPerMinute} calls a minute. Retry in ${seconds} s.`, seconds }
  if (tokensPerMinute !== null && used + pending + tokens > tokensPerMinute)
    return {
      message: `This key may use ${tokensPerMinute} tokens a minute, and the prompt has about ${tokens}. Retry in ${seconds} s, or send less.`,
      seconds,
    }
  if (concurrent !== null && active >= concurrent)
    return { message: `This key may make ${concurrent} calls at a time. Retry once one has ended.`, seconds: 1 }
  return null
}

const tooMany = ({ message, seconds }: Refusal, headers: Record<string, string>): GazewayError =>
  new GazewayError('too_many_requests', message, { retryAfterSeconds: seconds, headers })

function headersOf(
  { requests, tokens, pending }: Window,
  { requestsPerMinute, tokensPerMinute }: RateLimits,
  seconds: number,
): Record<string, string> {
  const headers: Record<string, string> = {}
  const reset = `${seconds}s`
  if (requestsPerMinute !== null) {
    headers['x-ratelimit-limit-requests'] = String(requestsPerMinute)
    headers['x-ratelimit-remaining-requests'] = String(Math.max(0, requestsPerMinute - requests))
    headers['x-ratelimit-reset-requests'] = reset
  }
  if (tokensPerMinute !== null) {
    headers['x-ratelimit-limit-tokens'] = String(tokensPerMinute)
    headers['x-ratelimit-remaining-tokens'] = String(Math.max(0, tokensPerMinute - tokens - pending))
    headers['x-ratelimit-reset-tokens'] = reset
  }
  return headers
}
