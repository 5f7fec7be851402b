import { pruneCalls } from './calls/prune-calls.ts'
import { pruneGaze } from './gaze/prune.ts'
import type { Store } from './store/store.ts'
import type { Sweep } from './store/sweeps.ts'

const DAY_MS = 86_400_000
/** How often each sweep is due, in milliseconds. */
const OFTEN_MS = 600_000

/** What is cleared away, and after how long. */
export interface RetentionDeps {
  store: Store
  now: () => Date
  /** `audit.retention_days`, read at each sweep; null keeps call records. */
  readonly callDays: number | null
  /** `gaze.retention_days`, read at each sweep; null keeps gaze records. */
  readonly gazeDays: number | null
  /** Expired memories, and those of keys that were revoked long ago. */
  memory: { sweep(limit: number): Promise<number>; sweepEnded(limit: number): Promise<number> }
  /** Idempotency keys that are no longer remembered. */
  idempotency: { sweep(limit: number): Promise<number> }
}

/** What a long-running process clears away, for `startSweeps`. */
export function retentionSweeps(deps: RetentionDeps): Sweep[] {
  const { store, now, memory, idempotency } = deps
  const daysAgo = (days: number) => new Date(now().getTime() - days * DAY_MS).toISOString()
  const sweep = (name: string, batch: Sweep['batch']): Sweep => ({ name, everyMs: OFTEN_MS, batch })
  return [
    sweep('memory.expired', (limit) => memory.sweep(limit)),
    sweep('memory.ended', (limit) => memory.sweepEnded(limit)),
    sweep('idempotency.expired', (limit) => idempotency.sweep(limit)),
    sweep('audit.retention', async (limit) =>
      deps.callDays === null ? 0 : pruneCalls(store, daysAgo(deps.callDays), limit),
    ),
    sweep('gaze.retention', async (limit) =>
      deps.gazeDays === null ? 0 : pruneGaze(store, daysAgo(deps.gazeDays), limit),
    ),
  ]
}
