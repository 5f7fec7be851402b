import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import { addDwell, placedIn, placeKey, sumDwell } from './dwell.ts'
import { chainHash, recordId, SHAPE_RECORDS, type ShapeStep, shapeHashes } from './fingerprint.ts'
import type { GazeSession } from './gaze-session.ts'
import { countedOf, rawTick, TICK_MS } from './raw-samples.ts'
import { keyOf, type ReadyRecord } from './ready-record.ts'
import { claimPrints } from './record-hashes.ts'
import { lastStepsOf, PACK_SPAN_MS, type PackedRecord } from './record-pack.ts'
import { appendPacks, type NewRecord, packsBack, packsBySeq } from './record-packs.ts'

/** Packs at the times of a batch that are read; two more for each stretch of it. An hour of a tracker at 60 Hz has 430. */
const MOST_PACKS = 500

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
  const { fresh, taken } = await withoutDuplicates(trx, session, batch)
  if (fresh.length === 0) return { session, stored: 0, since: null }

  const rows = await toRows(trx, session, { fresh, taken }, now.toISOString())
  await appendPacks(trx, session, rows)
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

/** Omits records that the session has. Also finds the ticks of its raw samples around them, see `countedOf`. */
async function withoutDuplicates(
  trx: Transaction<Schema>,
  session: GazeSession,
  batch: readonly ReadyRecord[],
): Promise<{ fresh: readonly ReadyRecord[]; taken: Set<string> }> {
  const [stored, taken] = [new Set<string>(), new Set<string>()]
  const ranges = rangesOf(batch.map(({ tensor }) => Date.parse(tensor.at)))
  let left = MOST_PACKS + 2 * ranges.length
  for (const range of ranges)
    for await (const { records } of packsBack(trx, session, range)) {
      if (left-- === 0) throw scattered()
      for (const { tensor, isBeside } of records) {
        stored.add(keyOf(tensor))
        const tick = isBeside ? null : rawTick(tensor)
        if (tick !== null) taken.add(tick)
      }
    }
  return { fresh: stored.size === 0 ? batch : batch.filter(({ tensor }) => !stored.has(keyOf(tensor))), taken }
}

const scattered = () =>
  new GazewayError(
    'conflict',
    'This session has too many batches with records of these times beside records of other hours. Omit session_id to start ' +
      'another session.',
    { param: 'session_id' },
  )

/** Stretches of time with records, of which none is far from the next. What lies between them is not read. */
function rangesOf(times: readonly number[]): Array<{ from: string; to: string }> {
  const ranges: Array<{ from: number; to: number }> = []
  for (const time of times) {
    const last = ranges.at(-1)
    if (last !== undefined && time - last.to <= PACK_SPAN_MS) last.to = time
    else ranges.push({ from: time, to: time })
  }
  return ranges.map(({ from, to }) => ({
    from: new Date(from - TICK_MS).toISOString(),
    to: new Date(to + TICK_MS).toISOString(),
  }))
}

async function toRows(
  trx: Transaction<Schema>,
  session: GazeSession,
  { fresh, taken }: { fresh: readonly ReadyRecord[]; taken: Set<string> },
  storedAt: string,
): Promise<NewRecord[]> {
  const { session_id, task_id } = session
  const before = await lastSteps(trx, session)
  const shapes = shapeHashes([...before, ...fresh.map(({ step }) => step)]).slice(before.length)
  const tensors = fresh.map(({ tensor }) => tensor)
  const counted = countedOf(tensors, taken)
  const prints = fresh.map(({ content }, i) => ({ content, shape: shapes[i] ?? null }))
  const { contents, shapes: known } = await claimPrints(trx, session_id, prints)
  let head = session.chain_head
  return fresh.map(({ tensor, json, content }, i) => {
    const [seq, shape] = [session.records + i + 1, shapes[i] ?? null]
    const id = recordId({ session_id, seq, stored_at: storedAt }, json)
    head = chainHash(head, { id, session_id, task_id, seq }, json)
    return {
      seq,
      tensor,
      stored_at: storedAt,
      isBeside: !counted[i],
      isCopied: contents.has(content) || (shape !== null && known.has(shape)),
      hash: head,
      shape,
    }
  })
}

/** Reads the last steps of the session, oldest first. They form shapes with the first new steps. */
async function lastSteps(trx: Transaction<Schema>, session: GazeSession): Promise<ShapeStep[]> {
  let last: PackedRecord[] = []
  for await (const { records } of packsBySeq(trx, session, session.records)) {
    last = [...records, ...last]
    if (last.length >= SHAPE_RECORDS) break
  }
  return lastStepsOf(last)
}
