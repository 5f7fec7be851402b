import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'

/** Receipts per page. */
const PAGE = 2_000

const COLUMNS = [
  'call_id',
  'caller_id',
  'at',
  'counted_on',
  'group_id',
  'transfer',
  'charged',
  'margin_micros',
  'upstream_cost_micros',
] as const

/** Parts of a receipt that are compared. */
export type CheckedReceipt = Pick<MeteredCallRow, (typeof COLUMNS)[number]>

/**
 * Reads the parts of all receipts that are checked, caller by caller, the oldest first, in pages.
 *
 * @param until receipts of before are archived, and are not read; null for none
 */
export async function* receiptsByCaller(db: Kysely<Schema>, until: string | null): AsyncGenerator<CheckedReceipt[]> {
  for (let last: CheckedReceipt | undefined; ; ) {
    let query = db.selectFrom('metered_calls').select(COLUMNS)
    if (until !== null) query = query.where('at', '>=', until)
    if (last !== undefined)
      query = query.where(sql<boolean>`(caller_id, at, call_id) > (${last.caller_id}, ${last.at}, ${last.call_id})`)
    const rows = await query.orderBy('caller_id').orderBy('at').orderBy('call_id').limit(PAGE).execute()
    yield rows
    last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
  }
}
