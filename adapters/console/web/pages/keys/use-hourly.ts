import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { startOf } from '../overview/start-of.ts'
import type { Callers } from './spending.tsx'

const HOUR_MS = 3_600_000
const HOURS = 24

/** Cost of an hour at the rate of this hour and the 23 before it, in USD; null while it is unknown. */
export function useHourly(of: Callers): number | null {
  const from = startOf('hour', Date.now() - (HOURS - 1) * HOUR_MS)
  const { data } = useLive<CallStatsReply>(`/api/calls/stats${queryOf({ from, ...of })}`, { everyMs: 30_000 })
  if (data === null) return null
  const hours = (Date.now() - Date.parse(from)) / HOUR_MS
  return data.totals.upstream_cost_usd / hours
}
