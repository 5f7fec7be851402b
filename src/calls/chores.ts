import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { foldCalls } from './fold-calls.ts'
import { pruneCalls } from './prune-calls.ts'

const DAY_MS = 86_400_000
/** How often each chore is due, in milliseconds. */
const EVERY_MS = 600_000

/**
 * The chores of the audit trail, for `startSweeps`: hours that are over are folded, old calls deleted.
 *
 * @param retentionDays `audit.retention_days`, read at each turn; null keeps call records
 */
export const callSweeps = (store: Store, now: () => Date, retentionDays: () => number | null): Sweep[] => [
  { name: 'audit.sums', everyMs: EVERY_MS, batch: (limit) => foldCalls(store, now().toISOString(), limit) },
  {
    name: 'audit.retention',
    everyMs: EVERY_MS,
    async batch(limit) {
      const days = retentionDays()
      return days === null ? 0 : pruneCalls(store, new Date(now().getTime() - days * DAY_MS).toISOString(), limit)
    },
  },
]
