import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'
import type { Store } from './store.ts'

/**
 * The store's current time, or some milliseconds later, as SQL in the format of a time column. Processes use it for
 * shared deadlines, since their clocks may differ.
 */
export function storeTime(engine: Engine, plusMs = 0): RawBuilder<string> {
  return {
    sqlite: sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${plusMs / 1000} seconds`})`,
    postgres: sql<string>`cast(clock_timestamp() + cast(${`${plusMs} milliseconds`} as interval) as timestamptz(3))`,
  }[engine]
}

/**
 * Measures how far the store's clock is ahead of this process's, in milliseconds. The error is at most half the round
 * trip.
 *
 * @param local this process's clock, in milliseconds since 1970
 */
export async function storeClockAhead({ db, engine }: Store, local = Date.now): Promise<number> {
  const asked = local()
  const { at } = await db.selectNoFrom(storeTime(engine).as('at')).executeTakeFirstOrThrow()
  return Date.parse(at) - (asked + local()) / 2
}

/** Interval of comparisons with the store's clock, in milliseconds. */
const COMPARED_EVERY_MS = 60_000

/** A local estimate of the store's time. */
export interface StoreClock {
  now(): Date
  stop(): void
}

/**
 * Opens a clock that follows the store's, compared every minute, so that machines agree on when something is due. A
 * SQLite file has no clock but this machine's.
 *
 * @param options.onError called when the store could not be asked; the clock continues with the last offset
 * @param options.local this process's clock, in milliseconds since 1970
 */
export async function openStoreClock(
  store: Store,
  { onError, local = Date.now }: { onError: (error: unknown) => void; local?: () => number },
): Promise<StoreClock> {
  if (store.engine === 'sqlite') return { now: () => new Date(local()), stop() {} }
  let ahead = await storeClockAhead(store, local)
  const compare = async () => {
    ahead = await storeClockAhead(store, local)
  }
  const timer = setInterval(() => void compare().catch(onError), COMPARED_EVERY_MS).unref()
  return { now: () => new Date(local() + ahead), stop: () => clearInterval(timer) }
}
