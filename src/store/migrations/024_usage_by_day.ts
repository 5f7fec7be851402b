import { type Kysely, sql } from 'kysely'

/** Everyone's usage of some days is read from this index alone: their history takes no time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index metered_usage_by_day on metered_usage
    (day, caller_id, model, calls, total_tokens, upstream_cost_micros, margin_micros)`.execute(db)
}
