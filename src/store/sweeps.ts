import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Store } from './store.ts'

/** How often a process looks whether a sweep is due, in milliseconds, unless it is told otherwise. */
const LOOK_MS = 60_000
/** How much earlier than that a look may come, in milliseconds: what is due with each look is not to miss every other one. */
const EARLY_MS = 6_000
/** Rows of one batch: few enough that others hardly wait for it. */
const BATCH = 500
/** Batches of one sweep in a round; with what is left it goes on once the others have had their turn. */
const MOST_BATCHES = 400

/** A chore that clears away rows in batches. */
export interface Sweep {
  name: string
  /** The time between two looks, or more. */
  everyMs: number
  /** Clears away at most `limit` rows. @returns how many; fewer than `limit` when there is nothing left */
  batch(limit: number): Promise<number>
}

/** Sweeps that are done again and again. */
export interface Sweeps {
  /** Does those that are due, now. */
  runDue(): Promise<void>
  /** Starts no more batches, and waits for the one under way. */
  stop(): Promise<void>
}

/**
 * Does each sweep when it is due, in one of the processes that share the store: the one whose statement moves its next
 * time on. A process that dies in the middle leaves the rest to the next time. A next time that is further away than two
 * rounds was set by a clock that went wrong, and does not count. One that ended at its bound is due again at once, whoever
 * does it: it keeps up with what is written.
 *
 * @param onError told when a sweep failed; it is tried again when it is due again
 */
export function startSweeps(deps: {
  store: Store
  now: () => Date
  sweeps: readonly Sweep[]
  onError: (error: unknown) => void
  /** How often it is looked whether one is due, in milliseconds; a minute when absent. */
  lookMs?: number
}): Sweeps {
  const { store, now, sweeps, onError, lookMs = LOOK_MS } = deps
  let stopped = false
  let running: Promise<void> | undefined

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

  /** After each batch others write for as long as it took. @returns whether there may be more to clear away */
  async function run(sweep: Sweep): Promise<boolean> {
    if (!(await claim(sweep))) return false
    for (let batches = 0; batches < MOST_BATCHES && !stopped; batches++) {
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

  function runDue(): Promise<void> {
    running ??= runAll().finally(() => {
      running = undefined
    })
    return running
  }

  const timer = setInterval(() => void runDue(), lookMs).unref()
  return {
    runDue,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
