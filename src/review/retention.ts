import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'

const DAY_MS = 86_400_000
/** Interval of the sweep in milliseconds. */
const EVERY_MS = 600_000

/**
 * Deletes reviews that are past their retention, for `startSweeps`. Their gaze records have a retention of their own.
 *
 * @param retentionDays `review.retention_days`, read at each turn; null keeps reviews
 */
export const reviewSweeps = (store: Store, now: () => Date, retentionDays: () => number | null): Sweep[] => [
  {
    name: 'review.retention',
    everyMs: EVERY_MS,
    async batch(limit) {
      const days = retentionDays()
      return days === null ? 0 : pruneReviews(store, new Date(now().getTime() - days * DAY_MS).toISOString(), limit)
    },
  },
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
