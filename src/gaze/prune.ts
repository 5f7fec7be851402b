import { type Selectable, sql, type Transaction } from 'kysely'
import { hourOf } from '../store/dates.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { GazeRecordRow } from '../store/tables/gaze-tables.ts'

const DAY_MS = 86_400_000
/** Interval of the sweep in milliseconds. */
const EVERY_MS = 600_000

type Pruned = Pick<Selectable<GazeRecordRow>, 'id' | 'session_id' | 'content_hash' | 'shape_hash'>

/**
 * Deletes the oldest gaze records before `before`, with their hashes. Also deletes old traces and old hours of
 * attention by place. Sessions and attestations stay, as they hold no gaze.
 *
 * @param before RFC 3339 UTC
 * @param limit most rows to delete of each kind: records, traces, hours
 * @returns the largest number of deleted rows among these kinds
 */
export function pruneGaze(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const records = await trx
      .selectFrom('gaze_records')
      .select(['id', 'session_id', 'content_hash', 'shape_hash'])
      .where('at', '<', before)
      .orderBy('at')
      .orderBy('id')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    if (records.length > 0) await deleteRecords(trx, records)
    const traces = await pruneTraces(trx, before, limit)
    return Math.max(records.length, traces, await pruneDwell(trx, before, limit))
  })
}

/**
 * Deletes gaze that is past its retention, for `startSweeps`.
 *
 * @param retentionDays `gaze.retention_days`, read at each turn; null keeps gaze records
 */
export const gazeSweeps = (store: Store, now: () => Date, retentionDays: () => number | null): Sweep[] => [
  {
    name: 'gaze.retention',
    everyMs: EVERY_MS,
    async batch(limit) {
      const days = retentionDays()
      return days === null ? 0 : pruneGaze(store, new Date(now().getTime() - days * DAY_MS).toISOString(), limit)
    },
  },
]

/** Deletes records. Sessions are updated first and in sorted order, as when records are stored, to avoid deadlocks. */
async function deleteRecords(trx: Transaction<Schema>, records: readonly Pruned[]): Promise<void> {
  const sessions = [...new Set(records.map((record) => record.session_id))]
    .sort()
    .map((session) => ({ session, own: records.filter((record) => record.session_id === session) }))
  for (const { session, own } of sessions)
    await trx
      .updateTable('gaze_sessions')
      .set({ pruned: sql<number>`pruned + ${own.length}` })
      .where('session_id', '=', session)
      .execute()
  for (const { session, own } of sessions) {
    const hashes = own
      .flatMap(({ content_hash, shape_hash }) => [content_hash, shape_hash])
      .filter((hash) => hash !== null)
    await trx.deleteFrom('gaze_prints').where('hash', 'in', hashes).where('session_id', '=', session).execute()
  }
  await trx
    .deleteFrom('gaze_records')
    .where(
      'id',
      'in',
      records.map((record) => record.id),
    )
    .execute()
}

async function pruneTraces(trx: Transaction<Schema>, before: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from gaze_traces where hash in
    (select hash from gaze_traces where at < ${before} order by at limit ${limit})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

async function pruneDwell(trx: Transaction<Schema>, before: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from gaze_dwell where (hour, path, line_start, line_end) in
    (select hour, path, line_start, line_end from gaze_dwell where hour < ${hourOf(before)}
     order by hour limit ${limit})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}
