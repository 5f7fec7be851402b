import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds reviews of changes. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, time, json } = columns(engine)
  await sql`create table reviews (
    id ${text} primary key,
    caller_id ${text} not null,       -- key of the reviewer
    session_id ${text} not null,      -- gaze session of its evidence
    change ${json} not null,          -- base, head, digest and parts
    repository ${text},
    policy ${text},                   -- sha256 of the policy in force
    created_at ${time} not null,
    decided_at ${time},
    receipt ${json}                   -- once decided: the receipt
  )`.execute(db)
  await sql`create index reviews_of_caller on reviews (caller_id, id)`.execute(db)
}
