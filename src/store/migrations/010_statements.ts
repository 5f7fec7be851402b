import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import { utcDate } from '../dates.ts'
import type { Engine } from '../engine.ts'

/** Transfers that move no money into or out of a caller's reach, or that receipts describe. */
const OF_CALLS = sql`('reserve', 'void', 'capture', 'charge')`

/**
 * Adds to receipts what a cost is computed from, and to their sums the tokens by kind and by price. Adds closed periods,
 * and indexes for lists by time.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer, text, time } = columns(engine)
  for (const column of [
    sql`upstream ${text} not null default ''`,
    sql`price ${text} not null default ''`,
    sql`cached_tokens ${integer} not null default 0`,
    sql`cache_write_tokens ${integer} not null default 0`,
    sql`cache_write_1h_tokens ${integer} not null default 0`,
    sql`charged ${integer} not null default 1`,
    sql`capped ${integer} not null default 0`,
    sql`stated ${integer} not null default 0`,
  ])
    await sql`alter table metered_calls add column ${column}`.execute(db)

  await sql`alter table metered_usage rename to metered_usage_before`.execute(db)
  await sql`create table metered_usage (
    caller_id ${text} not null,
    day ${text} not null,
    model ${text} not null,
    upstream ${text} not null default '',
    price ${text} not null default '',
    charged ${integer} not null default 1,
    calls ${integer} not null,
    total_tokens ${integer} not null,
    upstream_cost_micros ${integer} not null,
    margin_micros ${integer} not null,
    prompt_tokens ${integer} not null default 0,
    cached_tokens ${integer} not null default 0,
    cache_write_tokens ${integer} not null default 0,
    cache_write_1h_tokens ${integer} not null default 0,
    completion_tokens ${integer} not null default 0,
    estimated_calls ${integer} not null default 0,
    capped_calls ${integer} not null default 0,
    stated_calls ${integer} not null default 0,
    primary key (caller_id, day, model, upstream, price, charged)
  )`.execute(db)
  await sql`
    insert into metered_usage (caller_id, day, model, calls, total_tokens, upstream_cost_micros, margin_micros,
      prompt_tokens, completion_tokens, estimated_calls)
    select u.caller_id, u.day, u.model, u.calls, u.total_tokens, u.upstream_cost_micros, u.margin_micros,
      coalesce(r.prompt_tokens, 0), coalesce(r.completion_tokens, 0), coalesce(r.estimated_calls, 0)
    from metered_usage_before as u left join (
      select caller_id, ${utcDate(engine, 'at')} as day, model, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(usage_estimated) as estimated_calls
      from metered_calls group by 1, 2, 3) as r
      on r.caller_id = u.caller_id and r.day = u.day and r.model = u.model`.execute(db)
  await sql`drop table metered_usage_before`.execute(db)
  await sql`create index metered_usage_of_day on metered_usage (day)`.execute(db)

  await sql`create table closed_periods (
    period ${text} not null primary key,
    starts_at ${time} not null,
    ends_at ${time} not null,
    closed_at ${time} not null,
    closed_by ${text} not null,
    ledger_head ${text}
  )`.execute(db)
  await sql`create index closed_periods_end on closed_periods (ends_at)`.execute(db)

  await sql`create index ledger_deposits on ledger_transfers (at, key) where kind = 'deposit'`.execute(db)
  await sql`create index ledger_movements on ledger_transfers (chain, at) where kind not in ${OF_CALLS}`.execute(db)
  await sql`create index ledger_movements_at on ledger_transfers (at) where kind not in ${OF_CALLS}`.execute(db)
  await sql`create index payments_made on payments (created_at, id)`.execute(db)
  await sql`create index withdrawals_made on withdrawals (created_at, id)`.execute(db)
}
