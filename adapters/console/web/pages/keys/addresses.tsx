import { useState } from 'preact/hooks'
import type { CallStats } from '../../../../../src/calls/call-stats.ts'
import { Card, NotLoaded, Tabs } from '../../components/content.ts'
import { DataTable, figureColumn, moneyColumn } from '../../components/lists.ts'
import { count } from '../../format.ts'
import { href, queryOf } from '../../router.ts'
import { HOUR_MS, startOf } from '../../time.ts'
import { timeText } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import type { Callers } from './spending.tsx'

/** Periods, the longest first. */
const PERIODS = [
  { id: 'week', label: '7 days', hours: 168 },
  { id: 'day', label: '24 hours', hours: 24 },
  { id: 'hour', label: '1 hour', hours: 1 },
] as const
type Period = (typeof PERIODS)[number]
/** Most calls whose addresses are counted without being asked: they are read one by one. */
const MOST_CALLS = 5_000

/** Start of a period: that of the hour in which it begins. */
const startOfPeriod = ({ hours }: Period) => startOf('hour', Date.now() - hours * HOUR_MS)

/** Addresses that calls came from, in the longest period of not too many calls, or in the chosen one. */
export function Addresses({ of }: { of: Callers }) {
  const [chosen, choose] = useState<Period['id'] | null>(null)
  const week = startOfPeriod(PERIODS[0])
  const byHour = useLive<CallStats>(`/api/calls/stats${queryOf({ ...of, group_by: 'hour', from: week })}`, {
    everyMs: 30_000,
  })
  const period = PERIODS.find(({ id }) => id === chosen) ?? (byHour.data && periodOf(byHour.data))
  const from = period === null ? null : startOfPeriod(period)
  const live = useLive<CallStats>(
    from === null ? null : `/api/calls/stats${queryOf({ ...of, group_by: 'address', from })}`,
    { everyMs: 30_000 },
  )
  return (
    <Card
      title="Used from"
      actions={period && <Tabs label="Period" tabs={PERIODS} active={period.id} onChange={choose} />}
    >
      {period === null && <NotLoaded of={byHour} what="the addresses" />}
      <DataTable<CallStats['groups'][number]>
        label="Addresses"
        of={period === null ? byHour : live}
        rows={live.data?.groups ?? []}
        opens={({ key: address }) =>
          address === '' || from === null ? null : href('calls', { query: { ...of, address, from: timeText(from) } })
        }
        columns={[
          { key: 'key', label: 'Address', render: ({ key }) => key || 'unknown' },
          figureColumn('Calls', ({ calls }) => count(calls)),
          figureColumn('Refused', ({ refused }) => count(refused)),
          moneyColumn('upstream_cost_usd', 'Cost'),
        ]}
        empty={`No calls in ${period?.label ?? 'seven days'}`}
      />
    </Card>
  )
}

/** The longest period that has not too many calls; else the shortest. */
function periodOf({ groups }: CallStats): Period {
  const callsSince = (start: string) =>
    groups.reduce((sum, { key, calls }) => (Date.parse(key) < Date.parse(start) ? sum : sum + calls), 0)
  return PERIODS.find((period) => callsSince(startOfPeriod(period)) <= MOST_CALLS) ?? PERIODS[2]
}
