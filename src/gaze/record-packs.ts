import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import type { GazeSession } from './gaze-session.ts'
import {
  indexedPath,
  leadOf,
  PACK_RECORDS,
  PACK_SPAN_MS,
  type Pack,
  type PackedRecord,
  packBody,
  rangeOf,
  unpackBody,
} from './record-pack.ts'

/** Packs read at a time: all that a batch may join, so that a reader beside it sees either them or the joined one. */
const AT_ONCE = 10
/** Stretches per statement. */
const CHUNK = 100

/** A pack with the times between which its records begin. */
export type StoredPack = Pack & { first_seq: number; from_at: string; to_at: string }

/** Session of records, with the task that all of them are for. */
export type PackSession = Pick<GazeSession, 'session_id' | 'task_id'>

interface PackRow {
  first_seq: number
  from_at: string
  to_at: string
  body: Uint8Array
}
const ROW = ['first_seq', 'from_at', 'to_at', 'body'] as const

/**
 * Reads the packs of a session, the one with the latest record first.
 *
 * @param range.upTo highest position of a pack's first record
 * @param range.from RFC 3339 UTC: only packs with a record that begins then or later
 * @param range.to RFC 3339 UTC: only packs with a record that begins then or earlier
 */
export function packsBack(
  db: Kysely<Schema>,
  session: PackSession,
  { upTo, from, to }: { upTo?: number; from?: string; to?: string } = {},
): AsyncGenerator<StoredPack> {
  let packs = packsOf(db, session).orderBy('to_at', 'desc').orderBy('first_seq', 'desc')
  if (upTo !== undefined) packs = packs.where('first_seq', '<=', upTo)
  if (from !== undefined) packs = packs.where('to_at', '>=', from)
  if (to !== undefined) packs = packs.where('from_at', '<=', to).where('to_at', '<=', latestEnd(to))
  return inParts(session, packs, ({ to_at, first_seq }) =>
    packs.where(({ eb, refTuple, tuple }) => eb(refTuple('to_at', 'first_seq'), '<', tuple(to_at, first_seq))),
  )
}

/** Reads the packs of a session with a record that begins at `from` or later, in the order of their latest records. */
export function packsForward(db: Kysely<Schema>, session: PackSession, from: string): AsyncGenerator<StoredPack> {
  const packs = packsOf(db, session).where('to_at', '>=', from).orderBy('to_at').orderBy('first_seq')
  return inParts(session, packs, ({ to_at, first_seq }) =>
    packs.where(({ eb, refTuple, tuple }) => eb(refTuple('to_at', 'first_seq'), '>', tuple(to_at, first_seq))),
  )
}

/** Reads the packs of a session by position, the last first, from the one that holds `upTo`. */
export function packsBySeq(db: Kysely<Schema>, session: PackSession, upTo: number): AsyncGenerator<StoredPack> {
  const packs = packsOf(db, session).orderBy('first_seq', 'desc')
  return inParts(session, packs.where('first_seq', '<=', upTo), ({ first_seq }) =>
    packs.where('first_seq', '<', first_seq),
  )
}

/** Reads the packs of a session in the order in which their records arrived. */
export function packsInOrder(db: Kysely<Schema>, session: PackSession): AsyncGenerator<StoredPack> {
  const packs = packsOf(db, session).orderBy('first_seq')
  return inParts(session, packs, ({ first_seq }) => packs.where('first_seq', '>', first_seq))
}

const packsOf = (db: Kysely<Schema>, { session_id }: PackSession) =>
  db.selectFrom('gaze_packs').select(ROW).where('session_id', '=', session_id)

type PackQuery = ReturnType<typeof packsOf>

async function* inParts(
  session: PackSession,
  first: PackQuery,
  after: (last: PackRow) => PackQuery,
): AsyncGenerator<StoredPack> {
  for (let part = first; ; ) {
    const rows = await part.limit(AT_ONCE).execute()
    for (const { body, ...row } of rows) {
      await yieldToEventLoop()
      yield { ...unpackBody(body, session), ...row }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < AT_ONCE) return
    part = after(last)
  }
}

/** Latest end of a pack with a record that begins at `at`. Lets an index find these packs. */
export const latestEnd = (at: string): string => {
  const end = new Date(Date.parse(at) + PACK_SPAN_MS)
  return end.getUTCFullYear() > 9999 ? at : end.toISOString()
}

/** Records to append, with the hashes and shapes that a pack keeps of them. */
export interface NewRecord extends PackedRecord {
  hash: string
  shape: number | null
}

/**
 * Appends records to a session, as new packs or to its last one. A small pack joins the one before when that has no more
 * records, so that few are written again with each of many small batches (as merges of Bentley & Saxe 1980).
 *
 * @param session locked by this transaction
 * @param records in the order of `seq`
 */
export async function appendPacks(
  trx: Transaction<Schema>,
  session: GazeSession,
  records: readonly NewRecord[],
): Promise<void> {
  for (const group of groupsOf(records)) {
    let pack = toPack(session, group)
    for await (const before of packsBySeq(trx, session, (group[0] as NewRecord).seq - 1)) {
      const joined = join(before, pack)
      if (joined === null) break
      await deletePack(trx, before)
      pack = joined
    }
    await insertPack(trx, session, pack)
  }
}

function toPack({ session_id, task_id }: GazeSession, group: readonly NewRecord[]): Pack {
  const [first, last] = [group[0] as NewRecord, group.at(-1) as NewRecord]
  const records = group.map(({ hash: _hash, shape: _shape, ...record }) => record)
  const lead = leadOf(group.map(({ shape }) => shape))
  return { session_id, task_id, records, anchor: first.hash, head: last.hash, lead }
}

/** Joins two packs, unless the earlier one has more records, or they would be too many or too far apart. */
function join(before: StoredPack, pack: Pack): Pack | null {
  const records = [...before.records, ...pack.records]
  const { from_at, to_at } = rangeOf(records)
  const fits = records.length <= PACK_RECORDS && Date.parse(to_at) - Date.parse(from_at) <= PACK_SPAN_MS
  const isNext = before.records.at(-1)?.seq === (pack.records[0]?.seq ?? 0) - 1
  if (!fits || !isNext || before.records.length > pack.records.length) return null
  const { session_id, task_id, anchor } = before
  const lead = leadOf([...before.lead, ...pack.lead])
  return { session_id, task_id, records, anchor, head: pack.head, lead }
}

/** Splits records into groups that fit into a pack. */
function groupsOf(records: readonly NewRecord[]): NewRecord[][] {
  const groups: NewRecord[][] = []
  for (const record of records) {
    const group = groups.at(-1)
    const start = Date.parse(group?.[0]?.tensor.at ?? '')
    if (group && group.length < PACK_RECORDS && Date.parse(record.tensor.at) - start <= PACK_SPAN_MS) group.push(record)
    else groups.push([record])
  }
  return groups
}

async function insertPack(trx: Transaction<Schema>, session: GazeSession, pack: Pack): Promise<void> {
  await yieldToEventLoop()
  const { records } = pack
  const [first_seq, last_seq] = [(records[0] as PackedRecord).seq, (records.at(-1) as PackedRecord).seq]
  const { session_id, caller_id } = session
  const of = { session_id, first_seq, last_seq, ...rangeOf(records), body: packBody(pack) }
  await trx.insertInto('gaze_packs').values(of).execute()
  const stretches = stretchesOf(records).map(({ path, source, found }) => ({
    session_id,
    first_seq,
    path,
    source,
    caller_id,
    ...rangeOf(found),
    records: found.length,
  }))
  for (let from = 0; from < stretches.length; from += CHUNK)
    await trx
      .insertInto('gaze_stretches')
      .values(stretches.slice(from, from + CHUNK))
      .execute()
}

/** Groups records by path ('' for none) and source. */
function stretchesOf(records: readonly PackedRecord[]): Array<{ path: string; source: string; found: PackedRecord[] }> {
  const stretches = new Map<string, { path: string; source: string; found: PackedRecord[] }>()
  for (const record of records) {
    const { source } = record.tensor
    const path = indexedPath(record.tensor)
    const stretch = stretches.get(`${source} ${path}`) ?? { path, source, found: [] }
    stretch.found.push(record)
    stretches.set(`${source} ${path}`, stretch)
  }
  return [...stretches.values()]
}

/** Writes the records of a stored pack again, with the same positions, times and places. */
export async function rewritePack(trx: Transaction<Schema>, pack: StoredPack): Promise<void> {
  await trx
    .updateTable('gaze_packs')
    .set({ body: packBody(pack) })
    .where('session_id', '=', pack.session_id)
    .where('first_seq', '=', pack.first_seq)
    .execute()
}

/** Deletes a pack and its index. */
export async function deletePack(
  trx: Transaction<Schema>,
  { session_id, first_seq }: Pick<StoredPack, 'session_id' | 'first_seq'>,
): Promise<void> {
  for (const table of ['gaze_packs', 'gaze_stretches'] as const)
    await trx.deleteFrom(table).where('session_id', '=', session_id).where('first_seq', '=', first_seq).execute()
}
