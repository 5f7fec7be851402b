import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Gaze sessions and their records, attention summed by hour and place, and attestations. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { json, time, integer, real, text } = columns(engine)
  await sql`create table gaze_sessions (
    session_id ${text} primary key,
    task_id ${text},
    records ${integer} not null,
    pruned ${integer} not null,
    chain_head ${text} not null,
    last_place ${text},
    created_at ${time} not null,
    updated_at ${time} not null
  )`.execute(db)

  await sql`create table gaze_records (
    id ${text} primary key,
    session_id ${text} not null,
    seq ${integer} not null,
    task_id ${text},
    at ${time} not null,
    stored_at ${time} not null,
    dwell_ms ${integer} not null,
    source ${text} not null,
    confidence ${real} not null,
    x ${real},
    y ${real},
    path ${text},
    tensor ${json} not null,
    hash ${text} not null,
    content_hash ${text} not null,
    shape_hash ${text},
    tick ${integer},
    copied ${integer} not null,
    unique (session_id, at, source),
    unique (session_id, seq)
  )`.execute(db)
  await sql`create index gaze_records_at on gaze_records (at, id)`.execute(db)
  await sql`create index gaze_records_path on gaze_records (path, at, id) where path is not null`.execute(db)
  await sql`create index gaze_records_source on gaze_records (source, at, id)`.execute(db)

  await sql`create index gaze_records_tick on gaze_records (session_id, tick) where tick is not null`.execute(db)

  await sql`create table gaze_prints (
    hash ${text} not null primary key,
    session_id ${text} not null
  )`.execute(db)

  await sql`create table gaze_traces (
    hash ${text} not null primary key,
    session_id ${text} not null,
    at ${time} not null,
    steps ${json} not null
  )`.execute(db)
  await sql`create index gaze_traces_at on gaze_traces (at)`.execute(db)

  await sql`create table gaze_dwell (
    hour ${time} not null,
    path ${text} not null,
    line_start ${integer} not null,
    line_end ${integer} not null,
    dwell_ms ${integer} not null,
    visits ${integer} not null,
    last_seen_at ${time} not null,
    primary key (hour, path, line_start, line_end)
  )`.execute(db)

  await sql`create table attestations (
    id ${text} primary key,
    session_id ${text} not null,
    task_id ${text},
    status ${text} not null,
    poa_score ${real} not null,
    issued_at ${time} not null,
    expires_at ${time} not null,
    body ${json} not null
  )`.execute(db)
  await sql`create index attestations_of_session on attestations (session_id, issued_at, id)`.execute(db)
}
