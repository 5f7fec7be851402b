import { type Kysely, sql } from 'kysely'

/** Indexes of receipts that only the checks of `gazeway doctor` used. */
const OF_CHECKS = ['metered_calls_counted', 'metered_calls_of_group', 'metered_calls_of_transfer']

/** Drops indexes of receipts that no request uses, and the ids from the index of calls by time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const index of OF_CHECKS) await sql`drop index ${sql.id(index)}`.execute(db)
  // Calls of one millisecond are sorted by id when they are read.
  await sql`drop index calls_at`.execute(db)
  await sql`create index calls_at on calls (at)`.execute(db)
}
