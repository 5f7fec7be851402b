import { type Kysely, sql } from 'kysely'

/** Fallbacks are counted by when they were; they are few among the calls. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index calls_fallback on calls (at) where fallback_from is not null`.execute(db)
}
