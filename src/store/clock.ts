import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'
import type { Store } from './store.ts'

/**
 * The store's own time, or that many milliseconds after it, as a column of times has it. Deadlines that several processes
 * look at are set and compared with this: their clocks may differ.
 */
export function storeTime(engine: Engine, plusMs = 0): RawBuilder<string> {
  return {
    sqlite: sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${plusMs / 1000} seconds`})`,
    postgres: sql<string>`cast(clock_timestamp() + cast(${`${plusMs} milliseconds`} as interval) as timestamptz(3))`,
  }[engine]
}

/**
 * How far the store's clock is ahead of this process's, in milliseconds. Half of the time that the answer took is the most
 * that it is wrong by.
 *
 * @param local this process's clock, in milliseconds since 1970
 */
export async function storeClockAhead({ db, engine }: Store, local = Date.now): Promise<number> {
  const asked = local()
  const { at } = await db.selectNoFrom(storeTime(engine).as('at')).executeTakeFirstOrThrow()
  return Date.parse(at) - (asked + local()) / 2
}

/** How often a clock is compared with the store's, in milliseconds. */
const COMPARED_EVERY_MS = 60_000

/** The store's time, as far as it is known without asking. */
export interface StoreClock {
  now(): Date
  stop(): void
}

/**
 * A clock that is set by the store's, again every minute: machines whose clocks differ agree by it on when something is due. A
 * SQLite file has no other clock than this machine's.
 *
 * @param options.onError told when the store could not be asked; the clock goes on as it was set
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
