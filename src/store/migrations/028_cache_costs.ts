import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Figures of prompt caches that sums have, besides those that calls have had. */
const TOKENS = ['cached_tokens', 'cache_write_tokens'] as const
const COSTS = ['cache_saved_micros', 'cache_missed_tokens', 'cache_missed_micros'] as const

/** Adds what the prompt caches of providers saved and missed. Calls of before, and their sums, have none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, integer } = columns(engine)
  const add = (table: string, column: string) =>
    sql`alter table ${sql.ref(table)} add column ${sql.ref(column)} ${integer} not null default 0`.execute(db)
  for (const column of COSTS) await add('calls', column)
  await sql`alter table calls add column cache_changed ${text}`.execute(db)
  for (const table of ['call_rollups', 'call_sums'])
    for (const column of [...TOKENS, ...COSTS]) await add(table, column)
}
