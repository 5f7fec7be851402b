import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** The ledger, metered calls with their sums, and what callers with a daily limit have spent. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createLedger(db, engine)
  await createMetering(db, engine)
}

async function createLedger(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { json, time, integer, text } = columns(engine)
  await sql`create table ledger_accounts (
    id ${text} not null primary key,
    kind ${text} not null,
    owner ${text} not null,
    balance_micros ${integer} not null,
    deposited_micros ${integer} not null,
    transfers ${integer} not null,
    head ${text} not null
  )`.execute(db)
  await sql`create index ledger_accounts_owner on ledger_accounts (owner)`.execute(db)
  await sql`create table ledger_transfers (
    key ${text} not null unique,
    chain ${text} not null,
    position ${integer} not null,
    kind ${text} not null,
    entries ${json} not null,
    memo ${text},
    at ${time} not null,
    hash ${text} not null,
    primary key (chain, position)
  ) ${clustered(engine)}`.execute(db)
}

async function createMetering(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await sql`create table metered_calls (
    call_id ${text} not null primary key,
    caller_id ${text} not null,
    model ${text} not null,
    status ${text} not null,
    at ${time} not null,
    deadline ${time} not null,
    held_micros ${integer} not null,
    margin_micros ${integer} not null,
    upstream_cost_micros ${integer} not null,
    token ${text} not null,
    prompt_tokens ${integer} not null,
    completion_tokens ${integer} not null,
    total_tokens ${integer} not null,
    usage_estimated ${integer} not null,
    latency_ms ${integer} not null,
    upstream_call_id ${text},
    idempotency_key ${text},
    fingerprint ${text},
    content ${text}
  ) ${clustered(engine)}`.execute(db)
  await sql`create index receipts on metered_calls (at, call_id) where status = 'captured'`.execute(db)
  await sql`create index receipts_of_caller on metered_calls (caller_id, at, call_id)
    where status = 'captured'`.execute(db)
  await sql`create index holds on metered_calls (deadline) where status = 'held'`.execute(db)
  await sql`create unique index metered_calls_once on metered_calls (caller_id, idempotency_key)
    where idempotency_key is not null`.execute(db)
  await sql`create index metered_calls_kept on metered_calls (at) where idempotency_key is not null`.execute(db)

  await sql`create table metered_usage (
    caller_id ${text} not null,
    day ${text} not null,
    model ${text} not null,
    calls ${integer} not null,
    total_tokens ${integer} not null,
    upstream_cost_micros ${integer} not null,
    margin_micros ${integer} not null,
    primary key (caller_id, day, model)
  )`.execute(db)
  await sql`create table daily_spending (
    caller_id ${text} not null,
    day ${text} not null,
    spent_micros ${integer} not null,
    primary key (caller_id, day)
  )`.execute(db)
}

/** SQLite keeps such a table in its primary key: a page less to be made durable with each call. */
const clustered = (engine: Engine) => (engine === 'sqlite' ? sql`without rowid` : sql``)
