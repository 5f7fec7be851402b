import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'

/** Lifetime of an idempotency key in milliseconds. */
const KEPT_MS = 86_400_000

/**
 * Deletes the idempotency keys and answers of at most `limit` calls older than 24 h. Receipts stay.
 *
 * @returns how many
 */
export async function forgetAnswers(store: Store, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS).toISOString()
  const { numAffectedRows } =
    await sql`update metered_calls set idempotency_key = null, fingerprint = null, content = null
    where call_id in (select call_id from metered_calls
      where idempotency_key is not null and status = 'captured' and at <= ${before} order by at limit ${limit})`.execute(
      store.db,
    )
  return Number(numAffectedRows ?? 0)
}
