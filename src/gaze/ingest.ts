import type { Insertable, Transaction } from 'kysely'
import { runBuiltRows } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { GazeRecordRow } from '../store/tables/gaze-tables.ts'
import { newId } from '../text/ids.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { addDwell, placedIn, placeKey, sumDwell } from './dwell.ts'
import { chainHash, SHAPE_RECORDS, type ShapeStep, shapeHashes, shapeStep } from './fingerprint.ts'
import type { GazeSession } from './gaze-session.ts'
import { keyOf, type ReadyRecord } from './ready-record.ts'
import { readTensor } from './tensor.ts'
import { takeTicks } from './tick.ts'

/** Rows per statement. Other work gets the thread between two statements. */
const CHUNK = 200

/**
 * Appends new records to the session, its hash chain and its attention by place. A record with the `at` and `source` of
 * a stored one is a duplicate and is skipped.
 *
 * @param session locked by this transaction
 * @param batch in order of time, without duplicates
 * @param root project of the relative paths: they are stored unchanged and summed for this project; null when unknown
 * @param now time of arrival
 * @returns the changed session, the number of stored records, and the earliest time among them (null for none)
 */
export async function appendRecords(
  trx: Transaction<Schema>,
  session: GazeSession,
  batch: readonly ReadyRecord[],
  root: string | null,
  now: Date,
): Promise<{ session: GazeSession; stored: number; since: string | null }> {
  const fresh = await withoutDuplicates(trx, session, batch)
  if (fresh.length === 0) return { session, stored: 0, since: null }

  const rows = await toRows(trx, session, fresh, now.toISOString())
  for (const chunk of chunks(rows)) {
    await yieldToEventLoop()
    await runBuiltRows(trx, 'insert gaze records', chunk, (part) =>
      trx.insertInto('gaze_records').values(part).compile(),
    )
  }
  const tensors = fresh.map(({ tensor }) => tensor)
  const placed = root === null ? tensors : placedIn(root, tensors)
  await addDwell(trx, sumDwell(placed, session.last_place))

  const last = placed.at(-1)
  const changed = {
    records: session.records + rows.length,
    chain_head: rows.at(-1)?.hash ?? session.chain_head,
    last_place: last === undefined ? session.last_place : placeKey(last),
  }
  await trx.updateTable('gaze_sessions').set(changed).where('session_id', '=', session.session_id).execute()
  return { session: { ...session, ...changed }, stored: rows.length, since: tensors[0]?.at ?? null }
}

async function withoutDuplicates(
  trx: Transaction<Schema>,
  session: GazeSession,
  batch: readonly ReadyRecord[],
): Promise<readonly ReadyRecord[]> {
  const stored = new Set<string>()
  for (const chunk of chunks(batch)) {
    const known = await trx
      .selectFrom('gaze_records')
      .select(['at', 'source'])
      .where('session_id', '=', session.session_id)
      .where('at', 'in', [...new Set(chunk.map(({ tensor }) => tensor.at))])
      .execute()
    for (const row of known) stored.add(keyOf(row))
  }
  return stored.size === 0 ? batch : batch.filter(({ tensor }) => !stored.has(keyOf(tensor)))
}

async function toRows(
  trx: Transaction<Schema>,
  session: GazeSession,
  records: readonly ReadyRecord[],
  storedAt: string,
): Promise<Array<Insertable<GazeRecordRow>>> {
  const before = await lastSteps(trx, session)
  const shapes = shapeHashes([...before, ...records.map(({ step }) => step)]).slice(before.length)
  const ticks = await takeTicks(
    trx,
    session.session_id,
    records.map(({ tensor }) => tensor),
  )
  const prints = records.map((record, i) => ({ ...record, shape: shapes[i] ?? null, tick: ticks[i] ?? null }))
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
      confidence: tensor.confidence ?? null,
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

/** Reads the last steps of the session, oldest first. They form shapes with the first new steps. */
async function lastSteps(trx: Transaction<Schema>, session: GazeSession): Promise<ShapeStep[]> {
  const rows = await trx
    .selectFrom('gaze_records')
    .select('tensor')
    .where('session_id', '=', session.session_id)
    .orderBy('seq', 'desc')
    .limit(SHAPE_RECORDS - 1)
    .execute()
  return rows.reverse().map((row) => shapeStep(readTensor(row.tensor)))
}

/**
 * Stores the hashes of contents and shapes as this session's, unless another session stored them before. The first to
 * store a hash has the original, even when two sessions store it at once.
 *
 * @returns the hashes that another session has
 */
async function claimPrints(
  trx: Transaction<Schema>,
  { session_id }: GazeSession,
  prints: ReadonlyArray<{ content: string; shape: string | null }>,
): Promise<Set<string>> {
  const own = prints.flatMap(({ content, shape }) => [content, shape])
  // Sorted, so that two sessions never deadlock.
  const hashes = [...new Set(own)].filter((hash) => hash !== null).sort()
  const known = new Set<string>()
  for (const chunk of chunks(hashes)) {
    await yieldToEventLoop()
    const claims = chunk.map((hash) => ({ hash, session_id }))
    await runBuiltRows(trx, 'claim gaze prints', claims, (part) =>
      trx
        .insertInto('gaze_prints')
        .values(part)
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .compile(),
    )
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

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK))
}
