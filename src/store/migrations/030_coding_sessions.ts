import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Sums over the calls of a session. */
const SUMS = [
  'calls',
  'errors',
  'refused',
  'retries',
  'turns',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'upstream_cost_micros',
  'cached_tokens',
  'cache_write_tokens',
  'cache_saved_micros',
  'cache_missed_tokens',
  'cache_missed_micros',
]

/** Adds sessions of coding agents, what is known of them over time, and the tags of calls. Calls of before are in none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, time, integer } = columns(engine)
  await sql`create table coding_sessions (
    caller_id ${text} not null,       -- key or wallet; empty for none
    session_id ${text} not null,
    client ${text},
    client_version ${text},
    started_at ${time} not null,
    last_at ${time} not null,         -- end of the last call
    ${sql.join(SUMS.map((name) => sql`${sql.ref(name)} ${integer} not null default 0`))},
    first_turn ${text},               -- first and last turn of the newest batch of calls
    last_turn ${text},
    primary key (caller_id, session_id)
  )`.execute(db)
  await sql`create index coding_sessions_last on coding_sessions (last_at, session_id, caller_id)`.execute(db)
  await sql`create index coding_sessions_of_caller on coding_sessions (caller_id, last_at, session_id)`.execute(db)
  await sql`create index coding_sessions_cost
    on coding_sessions (upstream_cost_micros, session_id, caller_id)`.execute(db)
  await sql`create index coding_sessions_without_calls on coding_sessions (caller_id, last_at)
    where calls = 0`.execute(db)
  await sql`create table session_facts (
    caller_id ${text} not null,
    session_id ${text} not null,
    from_at ${time} not null,         -- inclusive
    until_at ${time},                 -- exclusive; null for the present range
    repository ${text},
    branch ${text},
    commit_sha ${text},
    dirty ${integer},
    path ${text},
    primary key (caller_id, session_id, from_at)
  )`.execute(db)
  await sql`create index session_facts_of_repository
    on session_facts (repository, branch, caller_id, session_id)`.execute(db)
  await sql`create table session_commits (
    caller_id ${text} not null,
    session_id ${text} not null,
    sha ${text} not null,
    at ${time} not null,
    subject ${text},
    repository ${text},
    branch ${text},
    primary key (caller_id, session_id, sha)
  )`.execute(db)
  await sql`create table call_tags (
    call_id ${text} not null,
    tag ${text} not null,
    primary key (call_id, tag)
  )`.execute(db)
}
