import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/**
 * What was signed counts for one payment, in whatever transaction: one of somebody else's may carry several of them out.
 * Payments of a version before, which may still be running, keep the account that was found as they were taken.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  if (engine === 'sqlite') await withoutUniqueReference(db, engine)
  else
    await sql`alter table payments drop constraint payments_reference_key,
      add column account_named ${columns(engine).integer} not null default 1`.execute(db)
  await sql`create unique index payments_settled on payments (method, payer, proof)
    where reference is not null`.execute(db)
}

/** SQLite drops a column's constraint with its table. */
async function withoutUniqueReference(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await sql`create table new_payments (
    id ${text} not null primary key,
    method ${text} not null,
    payer ${text} not null,
    account ${text} not null,
    amount_micros ${integer} not null,
    scope ${text} not null,
    proof ${text} not null,
    reference ${text},
    status ${text} not null,
    lease_until ${time},
    created_at ${time} not null,
    expires_at ${time} not null,
    account_named ${integer} not null default 1
  )`.execute(db)
  const kept = sql.raw(`id, method, payer, account, amount_micros, scope, proof, reference, status, lease_until,
    created_at, expires_at`)
  await sql`insert into new_payments (${kept}) select ${kept} from payments`.execute(db)
  await sql`drop table payments`.execute(db)
  await sql`alter table new_payments rename to payments`.execute(db)
  await sql`create index payments_unfinished on payments (lease_until) where lease_until is not null`.execute(db)
}
