import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the candidates that a call passed over, as JSON. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await sql`alter table calls add column skipped ${columns(engine).text}`.execute(db)
}
