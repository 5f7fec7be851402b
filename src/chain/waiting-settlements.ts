import { sql } from 'kysely'
import type { Store } from '../store/store.ts'

/**
 * Counts the payments that a chain has not confirmed. Those with a transaction are found by it: only of those without
 * one the table has an index, and the confirmed ones are kept for good.
 *
 * @returns their number, and the age of the oldest in milliseconds; 0 when there is none
 */
export async function waitingSettlements(
  { db }: Pick<Store, 'db'>,
  now: Date,
): Promise<{ length: number; oldestMs: number }> {
  // Literals, so that the partial indexes are used.
  const { rows } = await sql<{ length: number; oldest: string | null }>`
    select count(*) as length, min(created_at) as oldest from (
      select created_at from settlements where status in ('pending', 'failed')
      union all
      select created_at from settlements where status = 'submitted' and id in (
        select substr(purpose, length('settlement:') + 1) from chain_transactions
        where status = 'sent' and purpose like 'settlement:%')
    ) as waiting`.execute(db)
  const { length = 0, oldest = null } = rows[0] ?? {}
  return { length: Number(length), oldestMs: oldest === null ? 0 : Math.max(0, now.getTime() - Date.parse(oldest)) }
}
