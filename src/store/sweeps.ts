import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { createRepeated } from '../wire/repeated-runs.ts'
import type { Store } from './store.ts'

/** Default interval of checks for due sweeps, in milliseconds. */
const LOOK_MS = 60_000
/**
 * Tolerance of the check, in milliseconds: without it, a sweep that is due at each check could miss every second one.
 */
const EARLY_MS = 6_000
/** Rows per batch. Few, so that other writers wait only briefly. */
const BATCH = 500
/** Batches of one sweep per round. It continues after the other sweeps have run. */
const MAX_BATCHES = 400

/** A recurring task that deletes rows in batches. */
export interface Sweep {
  name: string
  /** Interval, in milliseconds. */
  everyMs: number
  /**
   * Processes at most `limit` rows.
   *
   * @returns the number processed; fewer than `limit` when nothing is left
   */
  batch(limit: number): Promise<number>
}

/** Finds how long each sweep is overdue, in milliseconds. One that was never run is absent. */
export async function overdueSweeps(
  { db }: Pick<Store, 'db'>,
  now: Date,
): Promise<Array<{ name: string; overdueMs: number }>> {
  const rows = await db.selectFrom('sweeps').select(['name', 'next_at']).orderBy('name').execute()
  return rows.map(({ name, next_at }) => ({ name, overdueMs: Math.max(0, now.getTime() - Date.parse(next_at)) }))
}

/** Running sweeps. */
export interface Sweeps {
  /** Runs the due sweeps now. */
  runDue(): Promise<void>
  /** Stops after the current batch. */
  stop(): Promise<void>
}

/**
 * Runs each sweep when it is due, in one of the processes that share the store: the one that advances its due time.
 *
 * - When a process dies, the remaining rows wait for the next time.
 * - A due time further ahead than two intervals comes from a wrong clock and is ignored.
 * - A sweep that reached its limit is due again at once, so that it keeps up with the writes.
 *
 * @param onError called when a sweep fails; it is retried when it is due again
 */
export function startSweeps(deps: {
  store: Store
  now: () => Date
  sweeps: readonly Sweep[]
  onError: (error: unknown) => void
  /** Interval of checks for due sweeps, in milliseconds; a minute by default. */
  lookMs?: number
}): Sweeps {
  const { store, now, sweeps, onError, lookMs = LOOK_MS } = deps
  let stopped = false

  async function claim({ name, everyMs }: Sweep): Promise<boolean> {
    const at = now().getTime()
    const after = (ms: number) => new Date(at + ms).toISOString()
    const next = after(everyMs - EARLY_MS)
    const claimed = await store.db
      .insertInto('sweeps')
      .values({ name, next_at: next })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ next_at: next })
          .where(sql<boolean>`sweeps.next_at <= ${after(0)} or sweeps.next_at > ${after(2 * everyMs)}`),
      )
      .returning('name')
      .execute()
    return claimed.length === 1
  }

  /**
   * Runs a sweep. After each batch it pauses for as long as the batch took.
   *
   * @returns true when rows may be left
   */
  async function run(sweep: Sweep): Promise<boolean> {
    if (!(await claim(sweep))) return false
    for (let batches = 0; batches < MAX_BATCHES && !stopped; batches++) {
      const began = performance.now()
      if ((await sweep.batch(BATCH)) < BATCH) return false
      await delay(performance.now() - began)
    }
    await store.db.deleteFrom('sweeps').where('name', '=', sweep.name).execute()
    return true
  }

  async function runAll(): Promise<void> {
    for (let more = true; more; ) {
      more = false
      for (const sweep of sweeps) {
        if (stopped) return
        if (await run(sweep).catch(onError)) more = true
      }
    }
  }

  const rounds = createRepeated(runAll, { everyMs: lookMs, onError })
  rounds.start()
  return {
    runDue: rounds.run,
    stop() {
      stopped = true
      return rounds.stop()
    },
  }
}
