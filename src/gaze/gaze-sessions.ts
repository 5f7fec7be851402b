import type { Kysely } from 'kysely'
import * as z from 'zod'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { Attestation } from './attestation.ts'

/** Filters of a list of gaze sessions. */
export const GazeSessionQuery = ListQuery.extend({
  task_id: z.string().min(1).max(128).optional().describe('Only sessions for this task.'),
})
export type GazeSessionQuery = z.infer<typeof GazeSessionQuery>

/** A gaze session in a list. */
export const GazeSessionSummary = z.object({
  session_id: z.string(),
  task_id: z.string().nullable().describe('The task that the attention is for.'),
  caller_id: z.string().nullable().describe('Key that created it; null for a tool on this machine.'),
  records: z.int().describe('Number of records.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe('Time of the last addition.'),
  attestation: Attestation.pick({ id: true, status: true, poa_score: true, issued_at: true, expires_at: true })
    .nullable()
    .describe('Latest attestation, which may have expired.'),
})
export type GazeSessionSummary = z.infer<typeof GazeSessionSummary>

const Cursor = z.tuple([z.iso.datetime(), z.string()])

/**
 * Lists gaze sessions, latest addition first. The total is counted in an index, up to 1,000.
 *
 * @param callerId only sessions that this key created; all when absent
 * @throws GazewayError `invalid_cursor`
 */
export async function listGazeSessions(
  store: Store,
  query: Paged<GazeSessionQuery>,
  callerId?: string,
): Promise<Page<GazeSessionSummary>> {
  const { cursor, offset } = query
  const db = pageReader(store, query)
  const after = cursor === undefined ? null : decodeCursor(cursor, Cursor)
  let selected = matching(db, query, callerId)
    .leftJoin('attestations as a', (join) =>
      join.on('a.id', '=', ({ selectFrom, ref }) =>
        selectFrom('attestations as newest')
          .select('newest.id')
          .where('newest.session_id', '=', ref('s.session_id'))
          .orderBy('newest.issued_at', 'desc')
          .orderBy('newest.id', 'desc')
          .limit(1),
      ),
    )
    .select(['s.session_id', 's.task_id', 's.caller_id', 's.created_at', 's.updated_at'])
    .select(({ eb, ref }) => eb(ref('s.records'), '-', ref('s.pruned')).as('records'))
    .select(['a.id', 'a.status', 'a.poa_score', 'a.issued_at', 'a.expires_at'])
    .orderBy('s.updated_at', 'desc')
    .orderBy('s.session_id', 'desc')
  if (after !== null)
    selected = selected.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('s.updated_at', 's.session_id'), '<', tuple(...after)),
    )
  if (offset !== undefined) selected = selected.offset(offset)
  return readPage(query, {
    rows: (limit) => selected.limit(limit).execute(),
    total: () => countMatches(db, matching(db, query, callerId)),
    item: ({ id, status, poa_score, issued_at, expires_at, ...session }) => ({
      ...session,
      attestation: id === null ? null : Issued.parse({ id, status, poa_score, issued_at, expires_at }),
    }),
    cursor: (row) => [row.updated_at, row.session_id],
  })
}

const Issued = GazeSessionSummary.shape.attestation.unwrap()

function matching(db: Kysely<Schema>, { task_id }: GazeSessionQuery, callerId?: string) {
  let query = db.selectFrom('gaze_sessions as s')
  if (task_id !== undefined) query = query.where('s.task_id', '=', task_id)
  if (callerId !== undefined) query = query.where('s.caller_id', '=', callerId)
  return query
}
