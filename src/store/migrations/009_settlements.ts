import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Payments on chains, and the transactions that were signed for them before they were sent. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { json, time, integer, text } = columns(engine)
  await sql`create table settlements (
    id ${text} not null primary key,
    recipient ${text} not null,
    micros ${integer} not null,
    chain_id ${integer} not null,
    token ${text} not null,
    status ${text} not null,
    nonce ${integer},
    tx_hash ${text},
    block_number ${integer},
    attempts ${integer} not null,
    error ${text},
    next_at ${time} not null,
    created_at ${time} not null,
    updated_at ${time} not null
  )`.execute(db)
  await sql`create index settlements_due on settlements (chain_id, next_at) where status in ('pending', 'failed')`.execute(
    db,
  )

  await sql`create table withdrawals (
    id ${text} not null primary key,
    caller_id ${text} not null,
    recipient ${text} not null,
    amount_micros ${integer} not null,
    token ${text} not null,
    created_at ${time} not null,
    settled_at ${time}
  )`.execute(db)

  await sql`create table chain_accounts (
    chain_id ${integer} not null,
    address ${text} not null,
    next_nonce ${integer} not null,
    tender ${text},
    tended_until ${time} not null,
    primary key (chain_id, address)
  )`.execute(db)
  await sql`create table chain_transactions (
    chain_id ${integer} not null,
    address ${text} not null,
    nonce ${integer} not null,
    purpose ${text} not null,
    status ${text} not null,
    to_address ${text} not null,
    data ${text} not null,
    gas ${integer} not null,
    max_fee ${integer} not null,
    priority_fee ${integer},
    raw ${text} not null,
    hashes ${json} not null,
    block_number ${integer},
    signed_at ${time} not null,
    created_at ${time} not null,
    primary key (chain_id, address, nonce)
  )`.execute(db)
  await sql`create index chain_transactions_open on chain_transactions (chain_id, address, nonce)
    where status = 'sent'`.execute(db)
  await sql`create index chain_transactions_signed on chain_transactions (chain_id, address, signed_at)`.execute(db)
  await sql`create index chain_transactions_purpose on chain_transactions (purpose)`.execute(db)
  // Most accounts of escrows are empty for good: what is locked is added up over the others.
  await sql`create index ledger_accounts_locked on ledger_accounts (kind, balance_micros)
    where kind in ('escrow', 'settling') and balance_micros > 0`.execute(db)
}
