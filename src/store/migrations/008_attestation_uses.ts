import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/**
 * What each attestation was used for: once at most, which the primary key sees to. Whose gaze sessions and records are,
 * where a key stored them; and a session's task. And the keys of a wallet.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, text } = columns(engine)
  await sql`create table attestation_uses (
    attestation_id ${text} not null primary key,
    used_by ${text} not null,
    used_at ${time} not null
  )`.execute(db)

  await sql`alter table gaze_sessions add column caller_id ${text}`.execute(db)
  await sql`create index gaze_sessions_caller on gaze_sessions (caller_id) where caller_id is not null`.execute(db)
  await sql`create index gaze_sessions_task on gaze_sessions (task_id, updated_at)
    where task_id is not null`.execute(db)

  await sql`alter table gaze_records add column caller_id ${text}`.execute(db)
  await sql`create index gaze_records_caller on gaze_records (caller_id, at, id)
    where caller_id is not null`.execute(db)
  await sql`create index keys_wallet on keys (wallet) where wallet is not null`.execute(db)
}
