import type { Insertable, Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { GazeRecordRow } from '../store/tables/gaze-tables.ts'
import { newId } from '../text/ids.ts'
import { giveWay } from '../wire/give-way.ts'
import { addDwell, placedIn, placeKey, sumDwell } from './dwell.ts'
import { canonicalJson, chainHash, contentHash, SHAPE_RECORDS, shapeHashes } from './fingerprint.ts'
import type { GazeSession } from './gaze-session.ts'
import { inOrder } from './scanpath.ts'
import { type GazeTensor, readTensor } from './tensor.ts'
import { takeTicks } from './tick.ts'

/** Rows per statement: few enough for every engine's limit on parameters, many enough to be fast. */
const CHUNK = 250

/**
 * Appends the tensors that the session does not have yet to its records, its hash chain and the attention by place. A
 * tensor with the `at` and `source` of another one, stored or in the same batch, is a duplicate and left out.
 *
 * @param session locked by this transaction
 * @param root of the project that relative paths are of: they are stored as they are, and summed for it alone; null where
 *   that is not known
 * @param now when they arrived
 * @returns the session after it, how many tensors were stored, and the earliest time among them (null for none)
 */
export async function appendRecords(
  trx: Transaction<Schema>,
  session: GazeSession,
  tensors: readonly GazeTensor[],
  root: string | null,
  now: Date,
): Promise<{ session: GazeSession; stored: number; since: string | null }> {
  const fresh = await withoutDuplicates(trx, session, tensors)
  if (fresh.length === 0) return { session, stored: 0, since: null }

  const rows = await toRows(trx, session, fresh, now.toISOString())
  for (const chunk of chunks(rows)) {
    await giveWay()
    await trx.insertInto('gaze_records').values(chunk).execute()
  }
  const placed = root === null ? fresh : placedIn(root, fresh)
  await addDwell(trx, sumDwell(placed, session.last_place))

  const last = placed.at(-1)
  const changed = {
    records: session.records + rows.length,
    chain_head: rows.at(-1)?.hash ?? session.chain_head,
    last_place: last === undefined ? session.last_place : placeKey(last),
  }
  await trx.updateTable('gaze_sessions').set(changed).where('session_id', '=', session.session_id).execute()
  return { session: { ...session, ...changed }, stored: rows.length, since: fresh[0]?.at ?? null }
}

async function withoutDuplicates(
  trx: Transaction<Schema>,
  session: GazeSession,
  tensors: readonly GazeTensor[],
): Promise<GazeTensor[]> {
  const fresh = new Map<string, GazeTensor>()
  for (const tensor of tensors) {
    const key = keyOf(tensor)
    if (!fresh.has(key)) fresh.set(key, tensor)
  }
  for (const chunk of chunks([...fresh.values()])) {
    const known = await trx
      .selectFrom('gaze_records')
      .select(['at', 'source'])
      .where('session_id', '=', session.session_id)
      .where('at', 'in', [...new Set(chunk.map((tensor) => tensor.at))])
      .execute()
    for (const row of known) fresh.delete(keyOf(row))
  }
  return inOrder([...fresh.values()])
}

async function toRows(
  trx: Transaction<Schema>,
  session: GazeSession,
  tensors: readonly GazeTensor[],
  storedAt: string,
): Promise<Array<Insertable<GazeRecordRow>>> {
  const before = await lastTensors(trx, session)
  const shapes = shapeHashes([...before, ...tensors]).slice(before.length)
  const ticks = await takeTicks(trx, session.session_id, tensors)
  const prints = tensors.map((tensor, i) => {
    const json = canonicalJson(tensor)
    return { tensor, json, content: contentHash(json), shape: shapes[i] ?? null, tick: ticks[i] ?? null }
  })
  const known = await claimPrints(trx, session, prints)
  let head = session.chain_head
  return prints.map(({ tensor, json, content, shape, tick }, i) => {
    const own = {
      id: newId('gaze'),
      session_id: session.session_id,
      task_id: session.task_id,
      seq: session.records + i + 1,
    }
    head = chainHash(head, own, json)
    return {
      ...own,
      at: tensor.at,
      stored_at: storedAt,
      dwell_ms: tensor.dwell_ms,
      source: tensor.source,
      confidence: tensor.confidence,
      x: tensor.env.x ?? null,
      y: tensor.env.y ?? null,
      path: tensor.env.path ?? null,
      tensor: json,
      hash: head,
      content_hash: content,
      shape_hash: shape,
      tick,
      copied: [content, shape].some((hash) => hash !== null && known.has(hash)) ? 1 : 0,
      caller_id: session.caller_id,
    }
  })
}

/** The records that the first new ones form shapes with, in order. */
async function lastTensors(trx: Transaction<Schema>, session: GazeSession): Promise<GazeTensor[]> {
  const rows = await trx
    .selectFrom('gaze_records')
    .select('tensor')
    .where('session_id', '=', session.session_id)
    .orderBy('seq', 'desc')
    .limit(SHAPE_RECORDS - 1)
    .execute()
  return rows.reverse().map((row) => readTensor(row.tensor))
}

/**
 * Notes the hashes of contents and shapes as this session's, unless another session has stored them before: what is stored
 * first is the original, also where two sessions store the same at once.
 *
 * @returns those that another session has
 */
async function claimPrints(
  trx: Transaction<Schema>,
  { session_id }: GazeSession,
  prints: ReadonlyArray<{ content: string; shape: string | null }>,
): Promise<Set<string>> {
  const own = prints.flatMap(({ content, shape }) => [content, shape])
  // In one order, so that two sessions never wait for each other in a circle.
  const hashes = [...new Set(own)].filter((hash) => hash !== null).sort()
  const known = new Set<string>()
  for (const chunk of chunks(hashes)) {
    await giveWay()
    await trx
      .insertInto('gaze_prints')
      .values(chunk.map((hash) => ({ hash, session_id })))
      .onConflict((conflict) => conflict.column('hash').doNothing())
      .execute()
    const elsewhere = await trx
      .selectFrom('gaze_prints')
      .select('hash')
      .where('hash', 'in', chunk)
      .where('session_id', '<>', session_id)
      .execute()
    for (const { hash } of elsewhere) known.add(hash)
  }
  return known
}

function keyOf({ at, source }: { at: string; source: string }): string {
  return `${at} ${source}`
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK))
}
