import { type Kysely, sql } from 'kysely'

/**
 * Everyone's usage of some days is found by the day: their history takes no time. The figures are not in the index, or each
 * metered call would move its entry, and PostgreSQL write the row anew in every index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index metered_usage_by_day on metered_usage (day)`.execute(db)
}
