import { sql, type Transaction } from 'kysely'
import { hourOf } from '../store/dates.ts'
import { retentionSweep } from '../store/retention.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { GazePackRow } from '../store/tables/gaze-tables.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { canonicalJson, contentHash } from './fingerprint.ts'
import { traceHour } from './mark-copies.ts'
import { deletePrints, type Print } from './record-hashes.ts'
import { shapesOf, unpackBody } from './record-pack.ts'
import { deletePack } from './record-packs.ts'

/** Packs that are read at a time, and sessions that are locked for it. */
const AT_ONCE = 4
/** Oldest packs among which sessions are looked for that nobody uses. */
const LOOKED_AT = 64

/**
 * Deletes gaze records before `before`, with their hashes: packs whose last record is older. Also deletes old traces and
 * old hours of attention by place. Sessions and attestations stay, as they hold no gaze.
 *
 * @param before RFC 3339 UTC
 * @param limit number of rows of each kind after which it stops: records, traces, hours
 * @returns the largest number of deleted rows among these kinds
 */
export function pruneGaze(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    let records = 0
    while (records < limit) {
      const deleted = await deletePacks(trx, before)
      records += deleted
      if (deleted === 0) break
    }
    const traces = await pruneTraces(trx, before, limit)
    return Math.max(records, traces, await pruneDwell(trx, before, limit))
  })
}

/**
 * Deletes gaze that is past its retention, for `startSweeps`.
 *
 * @param retentionDays `gaze.retention_days`, read at each turn; null keeps gaze records
 */
export const gazeSweeps = (store: Store, now: () => Date, retentionDays: () => number | null): Sweep[] => [
  retentionSweep({
    name: 'gaze.retention',
    now,
    days: retentionDays,
    prune: (before, limit) => pruneGaze(store, before, limit),
  }),
]

/**
 * Deletes the oldest packs. A session is locked before its packs, as when records are stored. One that is in use keeps its
 * packs until the next time, so that this waits for nobody and nobody deadlocks.
 *
 * @returns the number of their records
 */
async function deletePacks(trx: Transaction<Schema>, before: string): Promise<number> {
  const oldest = trx.selectFrom('gaze_packs').where('to_at', '<', before).orderBy('to_at').limit(LOOKED_AT)
  const sessions = await trx
    .selectFrom('gaze_sessions')
    .select('session_id')
    .where('session_id', 'in', oldest.select('session_id'))
    .limit(AT_ONCE)
    .forUpdate()
    .skipLocked()
    .execute()
  if (sessions.length === 0) return 0
  const packs = await trx
    .selectFrom('gaze_packs')
    .select(['session_id', 'first_seq', 'last_seq', 'body'])
    .where('to_at', '<', before)
    .where(
      'session_id',
      'in',
      sessions.map(({ session_id }) => session_id),
    )
    .orderBy('to_at')
    .limit(AT_ONCE)
    .execute()
  for (const { session_id, first_seq, last_seq } of packs)
    await trx
      .updateTable('gaze_sessions')
      .set({ pruned: sql<number>`pruned + ${last_seq - first_seq + 1}` })
      .where('session_id', '=', session_id)
      .execute()
  for (const pack of packs) {
    await yieldToEventLoop()
    await deletePrints(trx, pack.session_id, printsIn(pack))
    await deletePack(trx, pack)
  }
  return packs.reduce((sum, { first_seq, last_seq }) => sum + last_seq - first_seq + 1, 0)
}

/** Computes the hashes of a pack's records again. None for one that was damaged in the store: it would stay forever. */
function printsIn({ session_id, body }: Pick<GazePackRow, 'session_id' | 'body'>): Print[] {
  try {
    const pack = unpackBody(body, { session_id, task_id: null })
    const shapes = shapesOf(pack)
    return pack.records.map(({ tensor }, i) => ({
      content: contentHash(canonicalJson(tensor)),
      shape: shapes[i] ?? null,
    }))
  } catch {
    return []
  }
}

async function pruneTraces(trx: Transaction<Schema>, before: string, limit: number): Promise<number> {
  const old = trx
    .selectFrom('gaze_traces')
    .select('hash')
    .where('hour', '<', traceHour(Date.parse(before)))
  const free = old.orderBy('hour').limit(limit).forUpdate().skipLocked()
  const { numDeletedRows } = await trx.deleteFrom('gaze_traces').where('hash', 'in', free).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes old hours that nobody adds to at this moment: a batch locks them in another order. */
async function pruneDwell(trx: Transaction<Schema>, before: string, limit: number): Promise<number> {
  const free = trx
    .selectFrom('gaze_dwell')
    .select(['hour', 'path', 'line_start', 'line_end'])
    .where('hour', '<', hourOf(before))
    .orderBy('hour')
    .limit(limit)
    .forUpdate()
    .skipLocked()
  const { numDeletedRows } = await trx
    .deleteFrom('gaze_dwell')
    .where(({ eb, refTuple }) =>
      eb(
        refTuple('hour', 'path', 'line_start', 'line_end'),
        'in',
        free.$asTuple('hour', 'path', 'line_start', 'line_end'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
