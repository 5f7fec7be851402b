import { sql } from 'kysely'
import { hourOf } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { dropTags } from './call-tags.ts'
import { addTotals, type CountedCall } from './call-totals.ts'
import { foldCalls } from './fold-calls.ts'
import { pruneObjects } from './upstream-objects.ts'

const DAY_MS = 86_400_000
/** Interval of each sweep, in milliseconds. */
const EVERY_MS = 600_000

/**
 * Sweeps of the audit trail, for `startSweeps`: fold the hours that are over, delete old calls, and delete the ids of
 * upstream objects.
 *
 * @param retentionDays `audit.retention_days`, read at each run; null keeps all call records
 */
export function callSweeps(store: Store, now: () => Date, retentionDays: () => number | null): Sweep[] {
  const pruning =
    (prune: (store: Store, before: string, limit: number) => Promise<number>): Sweep['batch'] =>
    async (limit) => {
      const days = retentionDays()
      return days === null ? 0 : prune(store, new Date(now().getTime() - days * DAY_MS).toISOString(), limit)
    }
  return [
    { name: 'audit.sums', everyMs: EVERY_MS, batch: (limit) => foldCalls(store, now().toISOString(), limit) },
    { name: 'audit.retention', everyMs: EVERY_MS, batch: pruning(pruneCalls) },
    { name: 'audit.objects', everyMs: EVERY_MS, batch: pruning(pruneObjects) },
  ]
}

/**
 * Deletes the oldest calls of whole hours before `before`, at most `limit`, and subtracts them from the totals. Hourly
 * and daily sums stay, so statistics do not change.
 *
 * @param before RFC 3339 UTC
 * @returns number of calls deleted
 */
function pruneCalls(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { rows } = await sql<CountedCall & { call_id: string }>`delete from calls where call_id in
        (select call_id from calls where at < ${hourOf(before)} order by at, call_id limit ${limit})
      returning call_id, model, caller_id, path, status`.execute(trx)
    await addTotals(
      trx,
      rows.map(({ call_id, ...row }) => ({ ...row, calls: -1 })),
    )
    await dropTags(
      trx,
      rows.map(({ call_id }) => call_id),
    )
    return rows.length
  })
}
