import { type Kysely, sql } from 'kysely'

/** Finds the newest conversations of an owner: kept responses are bounded for each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index conversations_owner on conversations (owner, expires_at)`.execute(db)
}
