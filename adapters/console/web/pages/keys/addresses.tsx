import type { CallStats } from '../../../../../src/calls/call-stats.ts'
import { Card, DataTable, Empty, figureColumn, moneyColumn } from '../../components/components.ts'
import { count } from '../../format.ts'
import { href, queryOf } from '../../router.ts'
import { timeText } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import { startOf } from '../overview/start-of.ts'

const WEEK_MS = 7 * 86_400_000

/** Addresses that a key was used from in the last seven days. */
export function Addresses({ id }: { id: string }) {
  const from = startOf('hour', Date.now() - WEEK_MS)
  const live = useLive<CallStats>(`/api/calls/stats${queryOf({ caller_id: id, group_by: 'address', from })}`, {
    everyMs: 30_000,
  })
  return (
    <Card title="Used from, in seven days">
      <DataTable<CallStats['groups'][number]>
        label="Addresses"
        of={live}
        rows={live.data?.groups ?? []}
        rowKey={({ key }) => key}
        addressOf={({ key: address }) =>
          address === '' ? null : href('calls', { query: { caller_id: id, address, from: timeText(from) } })
        }
        columns={[
          { key: 'key', label: 'Address', render: ({ key }) => key || 'unknown' },
          figureColumn('Calls', ({ calls }) => count(calls)),
          figureColumn('Refused', ({ refused }) => count(refused)),
          moneyColumn('upstream_cost_usd', 'Cost'),
        ]}
        empty={<Empty title="No calls in seven days" />}
      />
    </Card>
  )
}
