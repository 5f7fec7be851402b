import type { ExpressionBuilder, Kysely } from 'kysely'
import * as z from 'zod'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, ListQuery, MAX_COUNTED, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { GazeRecordRow } from '../store/tables/gaze-tables.ts'
import { unindexed } from '../store/unindexed.ts'
import { widthOf } from '../store/width.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import type { AnalysedRecord } from './analyse.ts'
import { GazePath, type GazeRecord, GazeSource, GazeTime, readTensor } from './tensor.ts'

/** Range of records. Both ends of the time range are included. */
export const GazeRange = z.object({
  session_id: z.string().min(1).max(128).optional().describe('Only this session.'),
  from: GazeTime.optional().describe('Records from this time on.'),
  to: GazeTime.optional().describe('Records until this time.'),
})
export type GazeRange = z.infer<typeof GazeRange>

/** A page of records, newest first. */
export const RetrieveGaze = ListQuery.extend({
  ...GazeRange.shape,
  path: GazePath.optional().describe('Only this file, or everything in this folder.'),
  source: GazeSource.optional().describe('Only what this source measured.'),
})
export type RetrieveGaze = z.infer<typeof RetrieveGaze>

/** Records that an analysis reads at a time, and the most characters of all their tensors. */
const READ_AT_ONCE = 500
const MAX_ANALYSED = 16 * 1024 * 1024

const Cursor = z.tuple([z.iso.datetime(), z.string()])

/**
 * Reads a page of the matching records, newest first by `at`, then `id`.
 *
 * @param query.caller_id only records that this key stored; all when absent
 * @throws GazewayError `invalid_cursor`
 */
export async function retrieveRecords(
  store: Store,
  query: Paged<RetrieveGaze> & { caller_id?: string },
): Promise<Page<GazeRecord>> {
  const db = pageReader(store, query)
  const after = query.cursor === undefined ? null : decodeCursor(query.cursor, Cursor)
  const total = await countMatching(db, query)
  // With many matches, a scan back in time soon fills a page; with few, the path index is faster.
  const found = total < MAX_COUNTED ? atPath(db, query) : matching(db, query)
  let rows = found.orderBy('at', 'desc').orderBy('id', 'desc')
  if (after !== null) rows = rows.where(({ eb, refTuple, tuple }) => eb(refTuple('at', 'id'), '<', tuple(...after)))
  if (query.offset !== undefined) rows = rows.offset(query.offset)
  return readPage(query, {
    rows: (limit) => rows.select(RECORD).limit(limit).execute(),
    async sizes(limit) {
      const sizes = await rows
        .select(widthOf(store.engine, ['tensor']).as('bytes'))
        .limit(limit)
        .execute()
      return sizes.map(({ bytes }) => bytes)
    },
    total: () => total,
    item: toRecord,
    cursor: (row) => [row.at, row.id],
  })
}

/**
 * Reads the newest records in a range, newest first, in parts. Stops at `limit` records or 16 MiB of tensors.
 *
 * @param range.caller_id only records that this key stored
 * @returns the records, and whether there are more
 */
export async function newestInRange(
  db: Kysely<Schema>,
  range: GazeRange & { caller_id?: string },
  limit: number,
): Promise<{ records: AnalysedRecord[]; truncated: boolean }> {
  const newest = matching(db, range)
    .select(['at', 'id', 'session_id', 'tensor'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(READ_AT_ONCE)
  const records: AnalysedRecord[] = []
  let characters = 0
  for (let part = newest; ; ) {
    await yieldToEventLoop()
    const rows = await part.execute()
    for (const { session_id, tensor } of rows) {
      characters += tensor.length
      if (records.length === limit || characters > MAX_ANALYSED) return { records, truncated: true }
      records.push({ session_id, tensor })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < READ_AT_ONCE) return { records, truncated: false }
    part = newest.where(({ eb, refTuple, tuple }) => eb(refTuple('at', 'id'), '<', tuple(last.at, last.id)))
  }
}

const RECORD = ['id', 'session_id', 'task_id', 'seq', 'hash', 'at', 'tensor'] as const

type Row = Pick<GazeRecordRow, (typeof RECORD)[number]>
type Filter = Omit<RetrieveGaze, keyof ListQuery> & { caller_id?: string }

function matching(db: Kysely<Schema>, { session_id, from, to, path, source, caller_id }: Filter) {
  let query = db.selectFrom('gaze_records')
  if (session_id !== undefined) query = query.where('session_id', '=', session_id)
  if (from !== undefined) query = query.where('at', '>=', from)
  if (to !== undefined) query = query.where('at', '<=', to)
  if (source !== undefined) query = query.where('source', '=', source)
  if (caller_id !== undefined) query = query.where('caller_id', '=', caller_id)
  if (path === undefined) return query
  return query.where((of) => of.or(placesAt(of, path)))
}

/**
 * Selects the same records through the path index of one key. SQLite uses it only when the key is named in each part.
 */
function atPath(db: Kysely<Schema>, filter: Filter) {
  const { path, source, caller_id, session_id } = filter
  if (path === undefined || caller_id === undefined || session_id !== undefined) return matching(db, filter)
  const query = matching(db, { from: filter.from, to: filter.to }).where((of) =>
    of.or(placesAt(of, path).map((place) => of.and([of.eb('caller_id', '=', caller_id), place]))),
  )
  return source === undefined ? query : query.where(unindexed('source'), '=', source)
}

/**
 * Matches a file or everything in a folder, with `/` or `\` as separator; `0` and `]` are the characters after them.
 */
function placesAt({ eb, and }: ExpressionBuilder<Schema, 'gaze_records'>, path: string) {
  const folder = path.replace(/(?<![\\/])[\\/]+$/, '')
  return [
    eb('path', 'in', [path, folder]),
    and([eb('path', '>=', `${folder}/`), eb('path', '<', `${folder}0`)]),
    and([eb('path', '>=', `${folder}\\`), eb('path', '<', `${folder}]`)]),
  ]
}

/** Counts matching records. Sessions keep their own count; other filters count in an index. */
async function countMatching(db: Kysely<Schema>, filter: Filter): Promise<number> {
  const { session_id, from, to, path, source, caller_id } = filter
  if (from ?? to ?? path ?? source) return countMatches(db, atPath(db, filter))
  let sessions = db
    .selectFrom('gaze_sessions')
    .select(({ fn, eb }) => fn.sum<number | null>(eb('records', '-', eb.ref('pruned'))).as('total'))
  if (session_id !== undefined) sessions = sessions.where('session_id', '=', session_id)
  if (caller_id !== undefined) sessions = sessions.where('caller_id', '=', caller_id)
  return Number((await sessions.executeTakeFirstOrThrow()).total ?? 0)
}

function toRecord({ at: _at, tensor, ...row }: Row): GazeRecord {
  return { ...readTensor(tensor), ...row }
}
