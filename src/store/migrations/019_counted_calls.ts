import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'
import { utcDate } from '../dates.ts'

/**
 * On which day a metered call was counted, by which calls and escrows of a day are found. Those under way take it from the daily limit that their key has now.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`alter table metered_calls add column counted_on ${text}`.execute(db)
  await sql`create index metered_calls_counted on metered_calls (caller_id, counted_on)
    where counted_on is not null`.execute(db)
  await sql`create index escrows_counted on escrows (payer, counted_on) where counted_on is not null`.execute(db)
  await sql`update metered_calls set counted_on = ${utcDate(engine, 'at')}
    where status = 'held' and caller_id in (select id from keys where daily_limit_micros is not null)`.execute(db)
}
