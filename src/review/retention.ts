import { retentionSweep } from '../store/retention.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'

/**
 * Deletes reviews that are past their retention, for `startSweeps`. Their gaze records have a retention of their own.
 *
 * @param retentionDays `review.retention_days`, read at each turn; null keeps reviews
 */
export const reviewSweeps = (store: Store, now: () => Date, retentionDays: () => number | null): Sweep[] => [
  retentionSweep({
    name: 'review.retention',
    now,
    days: retentionDays,
    prune: (before, limit) => pruneReviews(store, before, limit),
  }),
]

/** Deletes the oldest reviews that began before a time (RFC 3339 UTC). Returns their number. */
function pruneReviews(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    // Ids sort by creation.
    const old = trx.selectFrom('reviews').select('id').where('created_at', '<', before).orderBy('id').limit(limit)
    const deleted = await trx.deleteFrom('reviews').where('id', 'in', old).returning('id').execute()
    return deleted.length
  })
}
