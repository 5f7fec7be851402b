import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the address of the client to calls. Calls of before have none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`alter table calls add column address ${text}`.execute(db)
}
