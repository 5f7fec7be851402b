import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Payments: a credential, and a transaction on the chain, count once. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await sql`create table payments (
    id ${text} not null primary key,
    method ${text} not null,
    payer ${text} not null,
    account ${text} not null,
    amount_micros ${integer} not null,
    scope ${text} not null,
    proof ${text} not null,
    reference ${text} unique,
    status ${text} not null,
    lease_until ${time},
    created_at ${time} not null,
    expires_at ${time} not null
  )`.execute(db)
  await sql`create index payments_unfinished on payments (lease_until) where lease_until is not null`.execute(db)
}
