import { sql } from 'kysely'
import { hourOf } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { addTotals, type CountedCall } from './call-totals.ts'

/**
 * Deletes the oldest calls before `before`, at most `limit`, and takes them from the totals. Their hourly rollups stay,
 * so that sums over any time do.
 *
 * @param before RFC 3339 UTC; only whole hours before it are pruned
 * @returns how many were deleted
 */
export function pruneCalls(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { rows } = await sql<CountedCall>`delete from calls where call_id in
        (select call_id from calls where at < ${hourOf(before)} order by at, call_id limit ${limit})
      returning model, caller_id, path, status`.execute(trx)
    await addTotals(
      trx,
      rows.map((row) => ({ ...row, calls: -1 })),
    )
    return rows.length
  })
}
