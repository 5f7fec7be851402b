import type { Kysely } from 'kysely'
import * as z from 'zod'
import {
  decodeCursor,
  ListQuery,
  MAX_COUNTED,
  PAGE_BYTES,
  type Page,
  type Paged,
  pageReader,
  readPage,
} from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { jsonBytes } from '../text/json-bytes.ts'
import type { AnalysedRecord } from './analyse.ts'
import { countRecords, type RecordFilter, recordsBack } from './read-records.ts'
import { GazePath, type GazeRecord, GazeSource, GazeTime } from './tensor.ts'

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

/** Most characters of all tensors of an analysis. */
const MAX_ANALYSED = 16 * 1024 * 1024
/** Most bytes of the records that are read for a page; a page holds fewer. */
const MAX_READ = 2 * PAGE_BYTES

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
  const { limit, offset: skip, cursor, ...filter } = query
  const db = pageReader(store, query)
  const [at, id] = cursor === undefined ? [] : decodeCursor(cursor, Cursor)
  const before = at === undefined || id === undefined ? undefined : { at, id }
  return readPage(query, {
    async rows(asked) {
      const rows: GazeRecord[] = []
      let bytes = 0
      for await (const record of recordsBack(db, filter, { before, skip })) {
        rows.push(record)
        bytes += jsonBytes(record)
        // The record after the last one of a page says that more follow.
        if (rows.length === asked || bytes > MAX_READ) break
      }
      return rows
    },
    total: () => countMatching(db, filter),
    item: (record) => record,
    cursor: (record) => [record.at, record.id],
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
  const records: AnalysedRecord[] = []
  let characters = 0
  for await (const { id: _id, task_id: _task, seq: _seq, hash: _hash, session_id, ...tensor } of recordsBack(
    db,
    range,
  )) {
    const json = JSON.stringify(tensor)
    characters += json.length
    if (records.length === limit || characters > MAX_ANALYSED) return { records, truncated: true }
    records.push({ session_id, tensor: json })
  }
  return { records, truncated: false }
}

/** Counts matching records. Sessions keep their own count; other filters count in an index. */
async function countMatching(db: Kysely<Schema>, filter: RecordFilter): Promise<number> {
  const { session_id, from, to, path, source, caller_id } = filter
  if (from ?? to ?? path ?? source) return countRecords(db, filter, MAX_COUNTED)
  let sessions = db
    .selectFrom('gaze_sessions')
    .select(({ fn, eb }) => fn.sum<number | null>(eb('records', '-', eb.ref('pruned'))).as('total'))
  if (session_id !== undefined) sessions = sessions.where('session_id', '=', session_id)
  if (caller_id !== undefined) sessions = sessions.where('caller_id', '=', caller_id)
  return Number((await sessions.executeTakeFirstOrThrow()).total ?? 0)
}
