import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/**
 * Leaves only calls that failed in the index of calls by status: nearly all others are listed as fast by their time. Adds
 * the time until which calls and receipts were compared.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await sql`drop index calls_status`.execute(db)
  await sql`create index calls_status on calls (status, at) where status <> 'ok'`.execute(db)
  const { time, integer } = columns(engine)
  await sql`create table matched_receipts (
    id ${integer} primary key,      -- 1
    until ${time} not null          -- all calls of before match their receipts
  )`.execute(db)
}
