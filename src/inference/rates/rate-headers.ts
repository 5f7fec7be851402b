import { GazewayError } from '../../errors.ts'
import type { Amounts, CallTokens, RateLimits, RateRefusal, TurnResult } from './shared-window.ts'

/** State of a key's limits, as this process knows it. */
interface KnownLimits {
  limits: RateLimits
  /** Held by this process for further calls. */
  free: Amounts
  last: Pick<TurnResult, 'left' | 'resetMs'> & { at: number }
}

/** Headers about what is left of the limits, as OpenAI names them. `reset` is when the whole limit is free again. */
export function headersOf({ limits, free, last }: KnownLimits, now: number): Record<string, string> {
  const headers: Record<string, string> = {}
  const limitOf = { requests: limits.requestsPerMinute, tokens: limits.tokensPerMinute }
  for (const of of ['requests', 'tokens'] as const) {
    const limit = limitOf[of]
    if (limit === null) continue
    headers[`x-ratelimit-limit-${of}`] = String(limit)
    headers[`x-ratelimit-remaining-${of}`] = String(Math.max(0, last.left[of] + free[of]))
    headers[`x-ratelimit-reset-${of}`] = `${secondsIn(last.at + last.resetMs[of] - now)}s`
  }
  return headers
}

/** Refusal of a call beyond a limit, with the seconds until it fits. */
export function tooMany(known: KnownLimits, refusal: RateRefusal, tokens: CallTokens, now: number): GazewayError {
  const seconds = secondsIn(refusal.retryMs)
  return new GazewayError('too_many_requests', messageOf(known.limits, refusal, tokens, seconds), {
    retryAfterSeconds: seconds,
    headers: headersOf(known, now),
  })
}

function messageOf(limits: RateLimits, { by }: RateRefusal, { prompt, answer }: CallTokens, seconds: number): string {
  switch (by) {
    case 'requests':
      return `This key may make ${limits.requestsPerMinute} calls a minute. Retry in ${seconds} s.`
    case 'tokens':
      return `This key may use ${limits.tokensPerMinute} tokens a minute; the prompt has about ${prompt}, and the answer may have ${answer}. Retry in ${seconds} s, or send less.`
    case 'concurrent':
      return `This key may make ${limits.concurrent} calls at a time. Retry once one has ended.`
  }
}

const secondsIn = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))
