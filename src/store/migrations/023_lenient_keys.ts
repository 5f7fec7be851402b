import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds to keys whether their requests lose what an upstream cannot express. Those of before do not. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer } = columns(engine)
  await sql`alter table keys add column lenient ${integer} not null default 0`.execute(db)
}
