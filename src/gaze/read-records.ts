import type { ExpressionBuilder, Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { unindexed } from '../store/unindexed.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { indexedPath, type Pack, recordsOf, unpackBody } from './record-pack.ts'
import { latestEnd } from './record-packs.ts'
import type { GazeRecord } from './tensor.ts'

/** Rows of the index that are read at a time, at first and later. */
const FIRST_PART = 16
const PART = 128
/** Packs whose records are kept while others are read: stretches of several sessions alternate. */
const KEPT_PACKS = 16
/** Times that a list is begun again because packs changed while it was read. */
const MAX_TURNS = 10

/** Filters of records; both ends of the time are included. */
export interface RecordFilter {
  session_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
  path?: string | undefined
  source?: string | undefined
  /** Only records that this key stored. */
  caller_id?: string | undefined
}

/** Position of a record in the order of time. */
export type Position = Pick<GazeRecord, 'at' | 'id'>

interface Stretch {
  number: number
  session_id: string
  first_seq: number
  path: string
  source: string
  from_at: string
  to_at: string
  records: number
}
const COLUMNS = ['number', 'session_id', 'first_seq', 'path', 'source', 'from_at', 'to_at', 'records'] as const

/**
 * Reads matching records, newest first by `at`, then `id`. Only packs that may hold the next record are unpacked.
 *
 * @param filter.session_id and the other fields: only records that match all of them
 * @param start.before only records after this one in the order
 * @param start.skip newest records to omit
 */
export async function* recordsBack(
  db: Kysely<Schema>,
  filter: RecordFilter,
  start: { before?: Position | undefined; skip?: number | undefined } = {},
): AsyncGenerator<GazeRecord> {
  let [before, left] = [start.before, start.skip ?? 0]
  for (let turn = 1; ; turn++) {
    let isWhole = true
    for await (const part of partsBack(db, filter, before, left)) {
      if (part === STALE && turn < MAX_TURNS) {
        isWhole = false
        break
      }
      if (part === STALE) continue
      const { records, passed, last } = part
      yield* records.slice(left)
      left = Math.max(0, left - passed)
      before = last ?? before
    }
    if (isWhole) return
  }
}

/** A pack was joined with another, or deleted, after its index was read. */
const STALE = Symbol('stale')

/** Records in order. `passed`: how many have come before the next part, omitted or not; `last`: position of the last of them. */
interface Part {
  records: GazeRecord[]
  passed: number
  last: Position | undefined
}

/** Reads records in parts. Whole packs that are skipped are not unpacked. */
async function* partsBack(
  db: Kysely<Schema>,
  filter: RecordFilter,
  before: Position | undefined,
  skip: number,
): AsyncGenerator<Part | typeof STALE> {
  const read = packReader(db)
  let [left, pool]: [number, GazeRecord[]] = [skip, []]
  for await (const { stretch, next } of withNext(stretchesBack(db, filter, before?.at))) {
    const isAlone = pool.length === 0 && (next === undefined || next.to_at < stretch.from_at)
    if (isAlone && left >= stretch.records && isWithin(stretch, filter, before)) {
      left -= stretch.records
      yield { records: [], passed: stretch.records, last: { at: stretch.from_at, id: '' } }
      continue
    }
    const found = (await read(stretch)).filter((record) => isOf(record, stretch))
    if (found.length !== stretch.records) yield STALE
    pool = [...pool, ...found.filter((record) => isMatch(record, filter, before))].sort(newestFirst)
    // A record of a later stretch may be newer than the rest.
    const done = next === undefined ? -1 : pool.findIndex(({ at }) => at <= next.to_at)
    const records = pool.splice(0, done === -1 ? pool.length : done)
    left = Math.max(0, left - records.length)
    yield { records, passed: records.length, last: records.at(-1) }
  }
}

/** Counts matching records, up to `most`. */
export async function countRecords(db: Kysely<Schema>, filter: RecordFilter, most: number): Promise<number> {
  const read = packReader(db)
  let total = 0
  for await (const stretch of stretchesBack(db, filter)) {
    if (isWithin(stretch, filter)) total += stretch.records
    else total += (await read(stretch)).filter((record) => isOf(record, stretch) && isMatch(record, filter)).length
    if (total >= most) return most
  }
  return total
}

/** Reads the index, the stretch with the latest record first. */
async function* stretchesBack(db: Kysely<Schema>, filter: RecordFilter, until?: string): AsyncGenerator<Stretch> {
  const { session_id, from, path, source, caller_id } = filter
  const ends = [filter.to, until].filter((end) => end !== undefined).sort()
  let query = db.selectFrom('gaze_stretches').select(COLUMNS)
  if (session_id !== undefined) query = query.where('session_id', '=', session_id)
  if (from !== undefined) query = query.where('to_at', '>=', from)
  if (ends[0] !== undefined) query = query.where('from_at', '<=', ends[0]).where('to_at', '<=', latestEnd(ends[0]))
  const isByPath = path !== undefined && caller_id !== undefined
  if (source !== undefined) query = query.where(isByPath ? unindexed('source') : 'source', '=', source)
  if (path !== undefined)
    query = query.where((of) =>
      // SQLite uses the index of a key's paths only when each part names the key.
      of.or(
        placesAt(of, path).map((place) => (caller_id ? of.and([of.eb('caller_id', '=', caller_id), place]) : place)),
      ),
    )
  else if (caller_id !== undefined) query = query.where('caller_id', '=', caller_id)
  const ordered = query.orderBy('to_at', 'desc').orderBy('number', 'desc')
  let part = ordered.limit(FIRST_PART)
  for (let asked = FIRST_PART; ; asked = PART) {
    const rows = await part.execute()
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < asked) return
    part = ordered
      .where(({ eb, refTuple, tuple }) => eb(refTuple('to_at', 'number'), '<', tuple(last.to_at, last.number)))
      .limit(PART)
  }
}

/**
 * Matches a file or everything in a folder, with `/` or `\` as separator; `0` and `]` are the characters after them.
 */
function placesAt({ eb, and }: ExpressionBuilder<Schema, 'gaze_stretches'>, path: string) {
  const folder = path.replace(/(?<![\\/])[\\/]+$/, '')
  return [
    eb('path', 'in', [path, folder]),
    and([eb('path', '>=', `${folder}/`), eb('path', '<', `${folder}0`)]),
    and([eb('path', '>=', `${folder}\\`), eb('path', '<', `${folder}]`)]),
  ]
}

/** Reads the records of a stretch's pack, each pack once while its stretches come one after another. */
function packReader(db: Kysely<Schema>): (stretch: Stretch) => Promise<GazeRecord[]> {
  const kept = new Map<string, GazeRecord[]>()
  return async ({ session_id, first_seq }) => {
    const key = `${first_seq} ${session_id}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const pack = await readPack(db, session_id, first_seq)
    await yieldToEventLoop()
    const records = pack === null ? [] : recordsOf(pack)
    kept.set(key, records)
    const [oldest] = kept.keys()
    if (kept.size > KEPT_PACKS && oldest !== undefined) kept.delete(oldest)
    return records
  }
}

/** Null for a pack that was joined with another, or deleted, since its index was read. */
async function readPack(db: Kysely<Schema>, sessionId: string, firstSeq: number): Promise<Pack | null> {
  const row = await db
    .selectFrom('gaze_packs as p')
    .innerJoin('gaze_sessions as s', 's.session_id', 'p.session_id')
    .select(['p.session_id', 's.task_id', 'p.body'])
    .where('p.session_id', '=', sessionId)
    .where('p.first_seq', '=', firstSeq)
    .executeTakeFirst()
  return row === undefined ? null : unpackBody(row.body, row)
}

const isOf = (record: GazeRecord, stretch: Stretch): boolean =>
  record.source === stretch.source && indexedPath(record) === stretch.path

function isMatch({ at, id }: GazeRecord, { from, to }: RecordFilter, before?: Position): boolean {
  if ((from !== undefined && at < from) || (to !== undefined && at > to)) return false
  return before === undefined || at < before.at || (at === before.at && id < before.id)
}

/** Tells whether all records of a stretch match. */
function isWithin({ from_at, to_at }: Stretch, { from, to }: RecordFilter, before?: Position): boolean {
  return (
    (from === undefined || from_at >= from) &&
    (to === undefined || to_at <= to) &&
    (before === undefined || to_at < before.at)
  )
}

function newestFirst(one: Position, other: Position): number {
  if (one.at !== other.at) return one.at < other.at ? 1 : -1
  return one.id < other.id ? 1 : -1
}

/** Yields each stretch with the one after it. */
async function* withNext(stretches: AsyncIterable<Stretch>): AsyncGenerator<{ stretch: Stretch; next?: Stretch }> {
  let stretch: Stretch | undefined
  for await (const next of stretches) {
    if (stretch !== undefined) yield { stretch, next }
    stretch = next
  }
  if (stretch !== undefined) yield { stretch }
}
