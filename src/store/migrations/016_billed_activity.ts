import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds what providers billed by day, key and model, for those that forget it after 30 days. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer, text, time } = columns(engine)
  await sql`create table billed_activity (
    upstream ${text} not null,
    day ${text} not null,
    key ${text} not null,
    model ${text} not null,
    micros ${integer} not null,
    requests ${integer} not null,
    prompt_tokens ${integer} not null,
    completion_tokens ${integer} not null,
    read_at ${time} not null,
    primary key (upstream, day, key, model)
  )`.execute(db)
}
