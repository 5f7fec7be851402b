import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** What counts of calls are folded into. Those that a store holds are folded by the sweep, some at a time, as new ones are. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await sql`create table call_sums (
    level ${text} not null,
    start ${time} not null,
    caller_id ${text} not null,
    model ${text} not null,
    path ${text} not null,
    status ${text} not null,
    calls ${integer} not null,
    prompt_tokens ${integer} not null,
    completion_tokens ${integer} not null,
    total_tokens ${integer} not null,
    upstream_cost_micros ${integer} not null,
    latencies ${text} not null,
    primary key (level, start, caller_id, model, path, status)
  ) ${engine === 'sqlite' ? sql`without rowid` : sql``}`.execute(db)
  await sql`create index call_sums_of_caller on call_sums (level, caller_id, start)`.execute(db)
}
