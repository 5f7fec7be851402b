import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the callers whose content was erased, so that nothing of theirs is written afterwards. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, time } = columns(engine)
  await sql`create table forgotten (
    id ${text} primary key,           -- key or wallet
    at ${time} not null
  )`.execute(db)
}
