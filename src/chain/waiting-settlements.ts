import { sql } from 'kysely'
import type { Store } from '../store/store.ts'

/**
 * Counts the payments that a chain has not confirmed.
 *
 * @returns their number, and the age of the oldest in milliseconds; 0 when there is none
 */
export async function waitingSettlements(
  { db }: Pick<Store, 'db'>,
  now: Date,
): Promise<{ length: number; oldestMs: number }> {
  const { length, oldest } = await db
    .selectFrom('settlements')
    .select(({ fn }) => [fn.countAll<number>().as('length'), fn.min('created_at').as('oldest')])
    // Literals, so that the partial indexes are used.
    .where(sql<boolean>`status in ('pending', 'failed', 'submitted')`)
    .executeTakeFirstOrThrow()
  return { length: Number(length), oldestMs: oldest === null ? 0 : Math.max(0, now.getTime() - Date.parse(oldest)) }
}
