import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the recent use of each key with rate limits. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, json } = columns(engine)
  await sql`create table rate_windows (
    key_id ${text} not null primary key,
    state ${json} not null            -- recent use, and the calls in flight of each process
  )`.execute(db)
}
