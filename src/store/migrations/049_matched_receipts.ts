import { type Kysely, sql } from 'kysely'

/** Drops the time until which calls and receipts were compared: all of them are compared each time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table matched_receipts`.execute(db)
}
