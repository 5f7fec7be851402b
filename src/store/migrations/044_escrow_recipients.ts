import { type Kysely, sql } from 'kysely'

/** Indexes the escrows of a recipient, whose list has those that pay it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index escrows_of_recipient on escrows (recipient, id) where recipient is not null`.execute(db)
}
