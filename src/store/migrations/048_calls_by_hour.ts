import { type Kysely, sql } from 'kysely'

/** Drops the indexes of calls by model and by path: the sums tell in which hours such calls are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index calls_model`.execute(db)
  await sql`drop index calls_path`.execute(db)
}
