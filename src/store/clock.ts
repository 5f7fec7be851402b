import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './columns.ts'
import type { Store } from './store.ts'

/**
 * The store's own time, or that many milliseconds after it, as a column of times has it. Deadlines that several processes
 * look at are set and compared with this: their clocks may differ.
 */
export function storeTime(engine: Engine, plusMs = 0): RawBuilder<string> {
  if (engine === 'sqlite') return sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${plusMs / 1000} seconds`})`
  return sql`cast(clock_timestamp() + cast(${`${plusMs} milliseconds`} as interval) as timestamptz(3))`
}

/**
 * How far the store's clock is ahead of this process's, in milliseconds. Half of the time that the answer took is the most
 * that it is wrong by.
 */
export async function storeClockAhead({ db, engine }: Store): Promise<number> {
  const asked = Date.now()
  const { at } = await db.selectNoFrom(storeTime(engine).as('at')).executeTakeFirstOrThrow()
  const answered = Date.now()
  return Date.parse(at) - (asked + answered) / 2
}
