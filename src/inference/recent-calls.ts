import type { CallRecord } from '../calls/call-record.ts'
import type { Calls } from '../calls/calls.ts'

/** So many of the last calls of an upstream are looked at. */
const KEPT = 100
/** More upstreams than are configured at once: their names may change. */
const MOST_UPSTREAMS = 500

/** The last calls of an upstream in this process. */
export interface RecentCalls {
  calls: number
  /** The part of them that failed, from 0 to 1; null without calls. */
  error_rate: number | null
  /** The median of those that were answered, in milliseconds; null without any. */
  latency_ms: number | null
}

/** Keeps the last calls of each upstream. @returns those of one, by its name in records */
export function watchRecentCalls(calls: Pick<Calls, 'listen'>): (upstream: string) => RecentCalls {
  const kept = new Map<string, Pick<CallRecord, 'status' | 'latency_ms'>[]>()

  calls.listen(({ upstream, status, latency_ms }) => {
    if (status !== 'ok' && status !== 'error') return
    const last = kept.get(upstream)
    if (last === undefined && kept.size >= MOST_UPSTREAMS) return
    if (last === undefined) kept.set(upstream, [{ status, latency_ms }])
    else if (last.push({ status, latency_ms }) > KEPT) last.shift()
  })

  return (upstream) => {
    const last = kept.get(upstream) ?? []
    const answered = last.filter(({ status }) => status === 'ok').map((call) => call.latency_ms)
    const median = answered.sort((a, b) => a - b)[Math.floor(answered.length / 2)]
    return {
      calls: last.length,
      error_rate: last.length === 0 ? null : (last.length - answered.length) / last.length,
      latency_ms: median ?? null,
    }
  }
}
