import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'
import { packRows } from '../packed-rows.ts'

/** Rows read at a time. */
const BATCH = 500
const PACK_RECORDS = 512
const PACK_SPAN_MS = 3_600_000
const LEAD = 3

interface OldRecord {
  id: string
  session_id: string
  seq: number
  at: string
  stored_at: string
  source: string
  path: string | null
  tensor: string
  hash: string
  content_hash: string
  shape_hash: string | null
  tick: number | null
  copied: number
  caller_id: string | null
}

/**
 * Packs gaze records, and stores the hashes of contents, shapes and traces as numbers. Records of before are packed here, so that
 * queries know one form. They keep their ids and their chain.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createTables(db, engine)
  await packRecords(db)
  await moveTraces(db)
  for (const table of ['gaze_records', 'old_gaze_prints', 'old_gaze_traces'])
    await sql`drop table ${sql.table(table)}`.execute(db)
}

async function createTables(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { bytes, integer, sequence, text, time } = columns(engine)
  await sql`alter table gaze_prints rename to old_gaze_prints`.execute(db)
  await sql`alter table gaze_traces rename to old_gaze_traces`.execute(db)
  await sql`create table gaze_packs (
    session_id ${text} not null,
    first_seq ${integer} not null,    -- positions in the session
    last_seq ${integer} not null,
    from_at ${time} not null,         -- the earliest and the latest start of a record
    to_at ${time} not null,
    body ${bytes} not null,           -- all records
    primary key (session_id, first_seq)
  )`.execute(db)
  // Packed bytes do not compress again.
  if (engine === 'postgres') await sql`alter table gaze_packs alter column body set storage external`.execute(db)
  await sql`create index gaze_packs_of_session on gaze_packs (session_id, to_at)`.execute(db)
  await sql`create index gaze_packs_to on gaze_packs (to_at)`.execute(db)

  await sql`create table gaze_stretches (
    number ${sequence},
    session_id ${text} not null,
    first_seq ${integer} not null,    -- of the pack
    path ${text} not null,            -- '' for records without one
    source ${text} not null,
    caller_id ${text},                -- its session's
    from_at ${time} not null,
    to_at ${time} not null,
    records ${integer} not null       -- of the pack that have the path and the source
  )`.execute(db)
  for (const [name, of] of [
    ['of_pack', 'session_id, first_seq'],
    ['to', 'to_at, number'],
    ['of_session', 'session_id, to_at, number'],
    ['of_path', 'path, to_at, number'],
    ['of_source', 'source, to_at, number'],
    ['of_caller', 'caller_id, to_at, number'],
    ['of_caller_path', 'caller_id, path, to_at, number'],
    ['of_caller_source', 'caller_id, source, to_at, number'],
  ] as const)
    await sql`create index ${sql.ref(`gaze_stretches_${name}`)} on gaze_stretches (${sql.raw(of)})`.execute(db)

  // Hashes of records, and of the session that stored them first.
  await sql`create table gaze_prints (
    content ${integer} not null primary key, -- the negative of shape where the row holds that alone
    shape ${integer} unique,
    session ${integer} not null
  )`.execute(db)
  await sql`create table gaze_traces (
    hash ${integer} not null primary key,
    session ${integer} not null,
    hour integer not null,            -- since 1970
    steps ${bytes} not null
  )`.execute(db)
  await sql`create index gaze_traces_hour on gaze_traces (hour)`.execute(db)
}

/** Packs the records of each session in their order. */
async function packRecords(db: Kysely<unknown>): Promise<void> {
  let pack: OldRecord[] = []
  let after: OldRecord | undefined
  for (;;) {
    const from = after && sql`where (session_id, seq) > (${after.session_id}, ${after.seq})`
    const { rows } = await sql<OldRecord>`select id, session_id, seq, at, stored_at, source, path, tensor, hash,
      content_hash, shape_hash, tick, copied, caller_id from gaze_records ${from ?? sql``}
      order by session_id, seq limit ${sql.lit(BATCH)}`.execute(db)
    await movePrints(db, rows)
    for (const record of rows) {
      if (pack.length > 0 && !fits(pack, record)) {
        await writePack(db, pack)
        pack = []
      }
      pack.push(record)
    }
    after = rows.at(-1)
    if (rows.length < BATCH) break
  }
  if (pack.length > 0) await writePack(db, pack)
}

function fits(pack: readonly OldRecord[], next: OldRecord): boolean {
  const last = pack.at(-1)
  const [from, to] = rangeOf([...pack, next])
  return (
    pack.length < PACK_RECORDS &&
    last?.session_id === next.session_id &&
    last.seq + 1 === next.seq &&
    Date.parse(to) - Date.parse(from) <= PACK_SPAN_MS
  )
}

async function writePack(db: Kysely<unknown>, pack: readonly OldRecord[]): Promise<void> {
  const [first, last] = [pack[0] as OldRecord, pack.at(-1) as OldRecord]
  const about = {
    anchor: first.hash,
    head: last.hash,
    lead: pack.slice(0, LEAD).map(({ shape_hash }) => (shape_hash === null ? null : numberOf(shape_hash))),
  }
  const body = packRows(about, pack.map(rowOf))
  const [from, to] = rangeOf(pack)
  const { session_id, seq } = first
  await sql`insert into gaze_packs (session_id, first_seq, last_seq, from_at, to_at, body)
    values (${session_id}, ${seq}, ${last.seq}, ${from}, ${to}, ${body})`.execute(db)
  const stretches = new Map<string, OldRecord[]>()
  for (const record of pack) {
    const key = `${record.source} ${record.path ?? ''}`
    stretches.set(key, [...(stretches.get(key) ?? []), record])
  }
  for (const stretch of stretches.values()) {
    const [of, [start, end]] = [stretch[0] as OldRecord, rangeOf(stretch)]
    await sql`insert into gaze_stretches (session_id, first_seq, path, source, caller_id, from_at, to_at, records)
      values (${session_id}, ${seq}, ${of.path ?? ''}, ${of.source}, ${of.caller_id}, ${start}, ${end}, ${stretch.length})`.execute(
      db,
    )
  }
}

function rowOf({ id, seq, at, stored_at, tensor, tick, copied }: OldRecord): Record<string, unknown> {
  return {
    ...JSON.parse(tensor),
    at: Date.parse(at),
    seq,
    id,
    stored: Date.parse(stored_at),
    ...(tick === null && { beside: 1 }),
    ...(copied === 1 && { copied: 1 }),
  }
}

function rangeOf(records: readonly OldRecord[]): [from: string, to: string] {
  const times = records.map(({ at }) => at).sort()
  return [times[0] as string, times.at(-1) as string]
}

/** Keeps the hashes of the records' contents and shapes that their own session was the first to store. */
async function movePrints(db: Kysely<unknown>, records: readonly OldRecord[]): Promise<void> {
  const hashes = records.flatMap(({ content_hash, shape_hash }) => [content_hash, ...(shape_hash ? [shape_hash] : [])])
  if (hashes.length === 0) return
  const { rows } = await sql<{ hash: string; session_id: string }>`select hash, session_id from old_gaze_prints
    where hash in (${sql.join(hashes)})`.execute(db)
  const owners = new Map(rows.map(({ hash, session_id }) => [hash, session_id]))
  for (const { session_id, content_hash, shape_hash } of records) {
    const session = sessionNumber(session_id)
    const content = owners.get(content_hash) === session_id ? numberOf(content_hash) : null
    const shape = shape_hash !== null && owners.get(shape_hash) === session_id ? numberOf(shape_hash) : null
    if (content !== null)
      await sql`insert into gaze_prints (content, session) values (${content}, ${session})
        on conflict do nothing`.execute(db)
    if (shape !== null)
      await sql`insert into gaze_prints (content, shape, session) values (${-shape}, ${shape}, ${session})
        on conflict do nothing`.execute(db)
  }
}

type OldStep = readonly [x: number | null, y: number | null, durationMs: number, offsetMs: number]

async function moveTraces(db: Kysely<unknown>): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ hash: string; session_id: string; at: string; steps: string }>`select * from
      old_gaze_traces where hash > ${sql.lit(after)} order by hash limit ${sql.lit(BATCH)}`.execute(db)
    for (const { hash, session_id, at, steps } of rows)
      await sql`insert into gaze_traces (hash, session, hour, steps) values (${numberOf(hash)},
        ${sessionNumber(session_id)}, ${Math.floor(Date.parse(at) / PACK_SPAN_MS)}, ${stepBytes(JSON.parse(steps))})
        on conflict do nothing`.execute(db)
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH) return
    after = last.hash
  }
}

/** Seven bytes a step: x and y in 1/4094 (4095: none), duration and time since the step before in units of 4 ms. */
function stepBytes(steps: readonly OldStep[]): Buffer {
  const bytes = Buffer.alloc(7 * steps.length)
  const place = (share: number | null) => (share === null ? 4095 : Math.round(4094 * share))
  const time = (ms: number) => Math.max(0, Math.min(65_535, Math.round(ms / 4)))
  for (const [i, [x, y, duration, offset]] of steps.entries()) {
    bytes.writeUIntBE(place(x) * 4096 + place(y), 7 * i, 3)
    bytes.writeUInt16BE(time(duration), 7 * i + 3)
    bytes.writeUInt16BE(time(offset - (steps[i - 1]?.[3] ?? 0)), 7 * i + 5)
  }
  return bytes
}

/** The first 52 bits of a hash in hexadecimal. */
const numberOf = (hash: string): number => Number.parseInt(hash.slice(0, 13), 16)

const sessionNumber = (sessionId: string): number =>
  numberOf(createHash('sha256').update(`session ${sessionId}`).digest('hex'))
