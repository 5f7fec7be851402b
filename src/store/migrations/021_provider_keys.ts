import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the id of the provider's key to calls. Those of before have none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`alter table calls add column provider_key ${text}`.execute(db)
}
