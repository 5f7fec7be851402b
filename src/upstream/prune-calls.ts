import { sql } from 'kysely'
import type { Store } from '../store/store.ts'

/**
 * Deletes the oldest calls before `before`, at most `limit`. Their hourly rollups stay, so that sums over any time do.
 *
 * @param before RFC 3339 UTC; only whole hours before it are pruned
 * @returns how many were deleted
 */
export async function pruneCalls({ db }: Store, before: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from calls where call_id in
    (select call_id from calls where at < ${`${before.slice(0, 13)}:00:00.000Z`} order by at, call_id limit ${limit})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0)
}
