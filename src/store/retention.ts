import type { Sweep } from './sweeps.ts'

const DAY_MS = 86_400_000
/** Interval of each sweep, in milliseconds. */
const EVERY_MS = 600_000

/**
 * Sweep that deletes what is older than a setting keeps, for `startSweeps`.
 *
 * @param of.days the setting in days, read at each batch; null keeps everything
 * @param of.prune deletes at most `limit` rows from before a time (RFC 3339 UTC) in one short transaction. Returns their
 *   number, or `limit` while there may be more
 */
export const retentionSweep = (of: {
  name: string
  now: () => Date
  days: () => number | null
  prune: (before: string, limit: number) => Promise<number>
}): Sweep => ({
  name: of.name,
  everyMs: EVERY_MS,
  async batch(limit) {
    const days = of.days()
    return days === null ? 0 : of.prune(new Date(of.now().getTime() - days * DAY_MS).toISOString(), limit)
  },
})
