import { type Kysely, sql } from 'kysely'

/** Gaze sessions are listed by when they were added to last: everyone's, and one key's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index gaze_sessions_updated on gaze_sessions (updated_at, session_id)`.execute(db)
  await sql`create index gaze_sessions_caller_updated on gaze_sessions (caller_id, updated_at, session_id)
    where caller_id is not null`.execute(db)
  await sql`drop index gaze_sessions_caller`.execute(db)
}
