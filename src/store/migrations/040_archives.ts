import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the months that are sealed in files. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, time, integer } = columns(engine)
  await sql`create table archives (
    month ${text} primary key,        -- 2026-11
    starts_at ${time} not null,
    ends_at ${time} not null,         -- what is booked before is read in files
    folder ${text} not null,
    sha256 ${text} not null,          -- of the file
    bytes ${integer} not null,
    seal_at ${integer} not null,      -- where the seal begins in the file
    seal_sha256 ${text} not null,
    transfers ${integer} not null,
    receipts ${integer} not null,
    sealed_at ${time} not null,
    pruned_at ${time}                 -- null while rows of the month are in the store, too
  )`.execute(db)
}
