import { sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { GazePackRow } from '../store/tables/gaze-tables.ts'
import { addDwell, placeKey, sumDwell } from './dwell.ts'
import { canonicalJson, contentHash } from './fingerprint.ts'
import { deletePrints, sessionPrint } from './record-hashes.ts'
import { type Pack, shapesOf, unpackBody } from './record-pack.ts'
import { deletePack } from './record-packs.ts'

/**
 * Deletes the gaze of a key with its hashes and traces, and takes it out of the attention by place. Its sessions and
 * attestations stay, without places.
 *
 * @returns number of records
 */
export async function forgetGaze(store: Store, callerId: string): Promise<number> {
  const sessions = await store.db
    .selectFrom('gaze_sessions')
    .select('session_id')
    .where('caller_id', '=', callerId)
    .where(sql<boolean>`(pruned < records or last_place is not null or sketch is not null)`)
    .orderBy('session_id')
    .execute()
  let records = 0
  for (const { session_id } of sessions) {
    let place: string | null = null
    for (;;) {
      const pack: Erased | null = await store.write((trx) => erasePack(trx, session_id, place))
      if (pack === null) break
      records += pack.records
      place = pack.place
    }
    await store.write(async (trx) => {
      await trx
        .updateTable('gaze_sessions')
        .set({ pruned: sql<number>`records`, last_place: null, sketch: null })
        .where('session_id', '=', session_id)
        .execute()
      await trx.deleteFrom('gaze_traces').where('session', '=', sessionPrint(session_id)).execute()
      await trx.deleteFrom('gaze_prints').where('session', '=', sessionPrint(session_id)).execute()
    })
  }
  return records
}

/** A pack that was deleted: the number of its records, and the place of the last one. */
interface Erased {
  records: number
  place: string | null
}

/** Deletes the first pack of a session. @param before place of the record before it */
async function erasePack(trx: Transaction<Schema>, sessionId: string, before: string | null): Promise<Erased | null> {
  const row = await trx
    .selectFrom('gaze_packs')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('first_seq')
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return null
  const pack = readPack(row)
  const tensors = pack?.records.map(({ tensor }) => tensor) ?? []
  const sums = sumDwell(tensors, before)
  await addDwell(
    trx,
    sums.map((sum) => ({ ...sum, dwell_ms: -sum.dwell_ms, visits: -sum.visits })),
  )
  for (const { hour, path } of sums)
    await sql`delete from gaze_dwell where hour = ${hour} and path = ${path} and dwell_ms <= 0`.execute(trx)
  if (pack !== null) {
    const shapes = shapesOf(pack)
    const prints = tensors.map((tensor, i) => ({
      content: contentHash(canonicalJson(tensor)),
      shape: shapes[i] ?? null,
    }))
    await deletePrints(trx, sessionId, prints)
  }
  await deletePack(trx, row)
  const last = tensors.at(-1)
  return { records: row.last_seq - row.first_seq + 1, place: last === undefined ? before : placeKey(last) }
}

/** Null for one that was damaged in the store. */
function readPack({ session_id, body }: GazePackRow): Pack | null {
  try {
    return unpackBody(body, { session_id, task_id: null })
  } catch {
    return null
  }
}
