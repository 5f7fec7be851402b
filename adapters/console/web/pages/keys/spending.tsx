import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { CallStats } from '../../../../../src/calls/call-stats.ts'
import type { BudgetRecord } from '../../../../../src/identity/budgets.ts'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { BarLinks } from '../../components/bars.tsx'
import { Card, Grid, NotLoaded } from '../../components/content.ts'
import { DataTable, figureColumn, moneyColumn } from '../../components/lists.ts'
import { count, usd, utcDayOfMonth } from '../../format.ts'
import type { List } from '../../paging.ts'
import { href, queryOf } from '../../router.ts'
import { DAY_MS, firstOfDays, HOUR_MS, startOf } from '../../time.ts'
import { timeText } from '../../typed.ts'
import { type Live, useLive } from '../../use-live.ts'

const DAYS = 30

/** Start of the first UTC day, RFC 3339. */
const firstDay = () => firstOfDays(DAYS)
/** Key, or group of keys, whose calls are meant: a filter of calls. */
export type Callers = { caller_id: string } | { group: string }

/** Spending by day and by model, beside each other. */
export function Spent({ of, budgets }: { of: Callers; budgets: readonly BudgetRecord[] | undefined }) {
  const query = queryOf({ ...of, group_by: 'day', and_by: 'model', from: firstDay() })
  const live = useLive<CallStatsReply>(`/api/calls/stats${query}`, { everyMs: 10_000 })
  return (
    <Grid>
      <SpendByDay of={of} live={live} budget={budgets?.find(({ per }) => per === 'day')?.usd} />
      <Models of={of} live={live} />
    </Grid>
  )
}

interface Spending {
  of: Callers
  /** Sums by day, and by model. */
  live: Live<CallStatsReply>
}

/** Spending in the last 30 UTC days. Each day leads to its calls. @param budget of a day, drawn as a line */
function SpendByDay({ of, live, budget }: Spending & { budget: number | undefined }) {
  // As the list counts them: statistics also have the refused calls of a flood, which have no record.
  const listed = useLive<List<CallRecord>>(`/api/calls${queryOf({ ...of, from: firstDay(), limit: '1' })}`, {
    everyMs: 10_000,
  })
  if (live.data === null || listed.data === null)
    return (
      <Card title="Spend by day">
        <NotLoaded of={live.data === null ? live : listed} what="the days" />
      </Card>
    )
  const { totals, groups } = live.data
  const first = Date.parse(firstDay())
  const bars = Array.from({ length: DAYS }, (_, i) => {
    const start = first + i * DAY_MS
    const day = new Date(start).toISOString().slice(0, 10)
    const { upstream_cost_usd: cost = 0, calls = 0, refused = 0 } = groups.find(({ key }) => key === day) ?? {}
    const query = {
      ...of,
      from: timeText(start),
      to: timeText(start + DAY_MS),
    }
    return {
      key: day,
      label: `${utcDayOfMonth(start)}: ${usd(cost)} in ${count(calls - refused)} calls, ${count(refused)} refused`,
      value: cost,
      href: href('calls', { query }),
      marked: budget !== undefined && cost >= budget,
    }
  })
  const all = href('calls', { query: { ...of, from: timeText(firstDay()) } })
  return (
    <Card title="Spend by day">
      <p class="hint">
        {usd(totals.upstream_cost_usd)} in <a href={all}>{count(listed.data.total)} calls</a> of 30 days
        {totals.refused > 0 && `; ${count(totals.refused)} refused, recorded up to 60 a minute`}
        {budget !== undefined && '; the line is the budget of a day'}
      </p>
      <BarLinks label="Spend by day" bars={bars} line={budget} />
    </Card>
  )
}

/** Spending by model in the last 30 UTC days, without refused calls, which have no model. */
function Models({ of, live }: Spending) {
  const rows = (live.data?.and_groups ?? [])
    .map(({ calls, ...group }) => ({ ...group, calls: calls - group.refused }))
    .filter(({ calls }) => calls > 0)
    .sort((a, b) => b.upstream_cost_usd - a.upstream_cost_usd)
  return (
    <Card title="Spend by model">
      <DataTable<CallStats['groups'][number]>
        label="Spend by model"
        of={live}
        rows={rows}
        opens={({ key: model }) =>
          model === '' ? null : href('calls', { query: { model, ...of, from: timeText(firstDay()) } })
        }
        columns={[
          { key: 'key', label: 'Model', render: ({ key }) => key || 'no model' },
          figureColumn('Calls', ({ calls }) => count(calls)),
          figureColumn('Tokens', ({ total_tokens }) => count(total_tokens)),
          moneyColumn('upstream_cost_usd', 'Cost'),
        ]}
        empty="No calls in 30 days"
      />
    </Card>
  )
}

/** Start of this month in UTC, as a filter has it. */
export const startOfMonth = (): string => timeText(`${new Date().toISOString().slice(0, 'yyyy-mm'.length)}-01T00:00Z`)

const HOURS = 24

/** Cost of an hour at the rate of this hour and the 23 before it, in USD; null while it is unknown. */
export function useHourly(of: Callers): number | null {
  const from = startOf('hour', Date.now() - (HOURS - 1) * HOUR_MS)
  const { data } = useLive<CallStatsReply>(`/api/calls/stats${queryOf({ from, ...of })}`, { everyMs: 30_000 })
  if (data === null) return null
  const hours = (Date.now() - Date.parse(from)) / HOUR_MS
  return data.totals.upstream_cost_usd / hours
}
