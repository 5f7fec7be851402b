import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** API keys, and the replies that repeated requests get again. `headers` and `body` are plain text: they come back as they were. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { json, time, integer, text } = columns(engine)
  await sql`create table keys (
    id ${text} not null primary key,
    name ${text} not null,
    hash ${text} not null,
    scopes ${json} not null,
    wallet ${text},
    credit_limit_micros ${integer},
    daily_limit_micros ${integer},
    first ${integer} unique,
    created_at ${time} not null,
    last_used_at ${time},
    revoked_at ${time}
  )`.execute(db)
  await sql`create index keys_revoked on keys (revoked_at) where revoked_at is not null`.execute(db)

  await sql`create table idempotency_keys (
    scope ${text} not null,
    key ${text} not null,
    fingerprint ${text} not null,
    attempt ${text} not null,
    in_flight_until ${time},
    status ${integer},
    headers ${text},
    body ${text},
    expires_at ${time} not null,
    primary key (scope, key)
  )`.execute(db)
  await sql`create index idempotency_keys_expiry on idempotency_keys (expires_at)`.execute(db)
}
