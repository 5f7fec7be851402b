import { type Kysely, sql } from 'kysely'
import type { Engine } from '../engine.ts'

/**
 * Indexes the messages to the webhook that were given up, which each scrape counts, and lets SQLite's full-text index of chats
 * remove what is deleted at once, as that of memories does.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await sql`create index alert_messages_given_up on alert_messages (created_at)
    where next_at is null and error is not null`.execute(db)
  if (engine === 'sqlite')
    await sql`insert into session_words (session_words, rank) values ('secure-delete', 1)`.execute(db)
}
