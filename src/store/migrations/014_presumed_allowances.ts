import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the time from which an allowance is presumed spent, because its holder does not renew it. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time } = columns(engine)
  await sql`alter table allowances add column presumed_at ${time}`.execute(db)
}
