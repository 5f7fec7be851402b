import { type Kysely, sql } from 'kysely'

/** Adds indexes of the tasks that a key created or claimed, so that its statistics read no other tasks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index tasks_of_creator on tasks (creator, status, id)`.execute(db)
  await sql`create index tasks_of_claimant on tasks (claimed_by, status, id) where claimed_by is not null`.execute(db)
}
