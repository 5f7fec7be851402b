import { median } from '../gaze/statistics.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Store } from '../store/store.ts'
import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { openReceipt, type Receipt } from './receipt.ts'

/** Reviews that a median is of: the last ones of the key. */
const COMPARED_REVIEWS = 20
/** Reviews below which a key has no pace of its own. */
const LEAST_REVIEWS = 3
/** Size of a receipt above which it is not read for this, in bytes. */
const LARGEST_RECEIPT = 1_000_000

/**
 * Computes the pace of a reading, in ms. Null for no lines.
 *
 * ```formula
 * pace: ms_per_line = active time / changed lines
 * ```
 */
export const paceOf = (activeMs: number, lines: number): number | null =>
  lines === 0 ? null : Math.round(activeMs / lines)

/**
 * Computes the median pace of the last reviews that the key of a review decided, itself excluded. Reviews without any time in
 * view do not count. Null where there are fewer than three.
 */
export async function usualPace({ db, engine }: Store, { id, caller_id }: ReviewRow): Promise<number | null> {
  const decided = await db
    .selectFrom('reviews')
    .select('receipt')
    .where('caller_id', '=', caller_id)
    .where('id', '!=', id)
    .where('receipt', 'is not', null)
    .where(widthOf(engine, ['receipt']), '<=', LARGEST_RECEIPT)
    // Ids sort by creation.
    .orderBy('id', 'desc')
    .limit(COMPARED_REVIEWS)
    .execute()
  const paces = decided.flatMap(({ receipt }) => {
    const { times, coverage } = openReceipt(JSON.parse(receipt as string) as Receipt, 'receipt').review
    return times.active_ms === 0 ? [] : (paceOf(times.active_ms, coverage.lines) ?? [])
  })
  return paces.length < LEAST_REVIEWS ? null : median(paces)
}
