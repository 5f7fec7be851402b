import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds to keys whether Gazeway sets marks and keys for the caches of providers. It does for those of before. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`alter table keys add column cache ${text} not null default 'auto'`.execute(db)
}
