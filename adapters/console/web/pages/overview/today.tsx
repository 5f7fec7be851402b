import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { CacheStat } from '../../components/cache-stat.tsx'
import { ErrorNote, Grid, Stat } from '../../components/content.ts'
import { count, duration, percent, short, usd } from '../../format.ts'
import { now } from '../../now.ts'
import { href } from '../../router.ts'
import { startOf } from '../../time.ts'
import { timeText } from '../../typed.ts'
import { useLive } from '../../use-live.ts'

/** Share of failed calls at which the figure is bad. */
const BAD_SHARE = 0.1

/** Figures of the reader's day so far, and its start as RFC 3339. */
export type Today = ReturnType<typeof useToday>

/** Loads the figures of the day. */
export function useToday() {
  const from = startOf('day', now.value)
  return {
    from,
    stats: useLive<CallStatsReply>(`/api/calls/stats?from=${from}&group_by=caller&and_by=model`, { everyMs: 4000 }),
    charged: useLive<UsageReport>(`/api/wallet/metered/usage?from=${from}&limit=1`, { everyMs: 10_000 }),
  }
}

/** Address of the list of today's calls. @param filter filters of the page Calls */
export const callsToday = (from: string, filter: Record<string, string> = {}): string =>
  href('calls', { query: { ...filter, from: timeText(from) } })

/** Money, then calls of today. Each figure leads to the list that it sums up. */
export function TodayFigures({ today: { from, stats, charged } }: { today: Today }) {
  if (!stats.data) return <ErrorNote error={stats.error} onRetry={stats.reload} />
  const { totals } = stats.data
  const all = callsToday(from)
  const receipts = href('usage', { id: 'receipts', query: { from: timeText(from) } })
  const bill = charged.data?.totals
  const answered = totals.calls - totals.refused
  return (
    <Grid of="figures">
      <Stat
        label="Cost today"
        tone="accent"
        href={all}
        value={usd(totals.upstream_cost_usd)}
        hint="paid to providers"
      />
      <Stat
        label="Charged today"
        href={receipts}
        value={bill === undefined ? '—' : usd(bill.total_usd)}
        hint={bill === undefined ? 'not known' : `${usd(bill.margin_usd)} of it margin`}
      />
      <CacheStat of={totals.cache} label="Prompt caches" href={all} />
      <Stat label="Calls today" href={all} value={count(totals.calls)} hint={`${count(answered)} not refused`} />
      <Stat
        label="Failed today"
        href={callsToday(from, { status: 'error' })}
        value={count(totals.errors)}
        hint={totals.errors === 0 ? 'none failed' : `${percent(totals.error_rate)} of calls`}
        tone={totals.error_rate >= BAD_SHARE ? 'bad' : 'neutral'}
      />
      <Stat
        label="Refused today"
        href={callsToday(from, { status: 'refused' })}
        value={count(totals.refused)}
        hint={totals.refused === 0 ? 'none refused' : 'by key or limits'}
      />
      <Stat
        label="Tokens today"
        href={all}
        value={short(totals.total_tokens)}
        hint={`${short(totals.prompt_tokens)} in, ${short(totals.completion_tokens)} out`}
      />
      <Stat
        label="Median latency"
        href={all}
        value={totals.latency_ms.p50 === null ? '—' : duration(totals.latency_ms.p50)}
        hint={totals.latency_ms.p95 === null ? 'no calls' : `95% within ${duration(totals.latency_ms.p95)}`}
      />
    </Grid>
  )
}
