import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the keys that seal the reasoning of providers, and what is kept of it for chat clients. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, time } = columns(engine)
  await sql`create table seal_keys (
    id ${text} primary key,
    secret ${text} not null,          -- 32 bytes, base64
    created_at ${time} not null
  )`.execute(db)
  await sql`create table reasoning_states (
    reference ${text} primary key,    -- hash of caller, upstream, model and tool calls
    sealed ${text} not null,
    expires_at ${time} not null
  )`.execute(db)
  await sql`create index reasoning_states_over on reasoning_states (expires_at)`.execute(db)
}
