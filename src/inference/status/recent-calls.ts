import type { CallRecord } from '../../calls/call-record.ts'
import { CALL_STATUSES } from '../../calls/call-status.ts'
import type { Calls } from '../../calls/calls.ts'
import { isClientPaid } from '../../providers/prices.ts'

/** Calls kept per upstream. */
const KEPT = 100
/** Maximum number of upstreams kept. More than are configured at once, since their names may change. */
const MAX_UPSTREAMS = 500

/** Recent calls to an upstream in this process. */
export interface RecentCalls {
  calls: number
  /** Share of failed calls, from 0 to 1. Null without calls. */
  error_rate: number | null
  /** Median latency of answered calls, in milliseconds. Null without any. */
  latency_ms: number | null
}

interface Ended extends Pick<CallRecord, 'latency_ms'> {
  counts: 'answer' | 'error'
}

/**
 * Keeps the recent calls of each upstream.
 *
 * @returns gives those of one, by its name in records
 */
export function watchRecentCalls(calls: Pick<Calls, 'listen'>): (upstream: string) => RecentCalls {
  const kept = new Map<string, Ended[]>()

  calls.listen(({ upstream, status, latency_ms, price_from }, context) => {
    if (context?.isTrial || isClientPaid(price_from)) return
    const { counts } = CALL_STATUSES[status]
    if (counts !== 'answer' && counts !== 'error') return
    const last = kept.get(upstream)
    if (last === undefined && kept.size >= MAX_UPSTREAMS) return
    if (last === undefined) kept.set(upstream, [{ counts, latency_ms }])
    else if (last.push({ counts, latency_ms }) > KEPT) last.shift()
  })

  return (upstream) => {
    const last = kept.get(upstream) ?? []
    const answered = last.filter(({ counts }) => counts === 'answer').map((call) => call.latency_ms)
    const median = answered.sort((a, b) => a - b)[Math.floor(answered.length / 2)]
    return {
      calls: last.length,
      error_rate: last.length === 0 ? null : (last.length - answered.length) / last.length,
      latency_ms: median ?? null,
    }
  }
}
