import { type Kysely, sql } from 'kysely'

/** Indexes the sessions of a client, and those that worked on a branch, so that rare ones are listed without a scan. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index coding_sessions_of_client on coding_sessions (client)`.execute(db)
  await sql`create index session_facts_of_branch
    on session_facts (branch, caller_id, session_id)`.execute(db)
}
