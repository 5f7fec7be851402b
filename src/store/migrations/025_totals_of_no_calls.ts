import { type Kysely, sql } from 'kysely'

/** Totals of no calls, which versions before left behind of callers and models whose calls were pruned. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`delete from call_totals where calls = 0`.execute(db)
}
