import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds limits of the sessions of keys and groups, the states of sessions, and what is reserved for a session's calls. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer, text, time } = columns(engine)
  await sql`create table session_limits (
    owner ${text} primary key,
    micros ${integer},
    calls ${integer},
    minutes ${integer},
    repeat_times ${integer},
    repeat_minutes ${integer}
  )`.execute(db)
  await sql`create table session_states (
    caller_id ${text} not null,
    session_id ${text} not null,
    started_at ${time} not null,
    seen_at ${time} not null,
    calls ${integer} not null,
    raised_micros ${integer} not null,
    raised_calls ${integer} not null,
    raised_minutes ${integer} not null,
    stopped_at ${time},
    stopped_by ${text},
    changed_at ${time},
    primary key (caller_id, session_id)
  )`.execute(db)
  await sql`create index session_states_changed on session_states (changed_at) where changed_at is not null`.execute(db)
  await sql`create index session_states_seen on session_states (seen_at) where stopped_at is null`.execute(db)
  await sql`alter table allowances add column session ${text}`.execute(db)
}
