import type { Transaction } from 'kysely'
import { runBuiltRows } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { type Sample, scanpaths } from './scanpath.ts'
import type { GazeSource } from './tensor.ts'
import { TICK_MS } from './tick.ts'
import { isSameTrace, type Trace, type TraceStep, tracesOf } from './trace.ts'

/** Records read from before a batch; its first traces may need them. */
const BEFORE = 400
/** Records read from the start of a batch: the largest batch, and as many records between its own. */
const FROM = 2000
/** Shared traces with one other session that count as a copy. A single one may match by chance. */
const LEAST_SHARED = 2
/** Hashes per query. */
const CHUNK = 250

type Found = Trace & { source: GazeSource }

/**
 * Stores the traces that the newest batch of a session completes. Marks records as copied when another session stored
 * their trace before.
 *
 * The trace that is stored first is the original. When two sessions store the same trace at once, the second waits for
 * the first. The order in which records arrive does not matter. The number of records read is bounded.
 *
 * @param since the earliest time in the batch
 */
export async function markCopies(trx: Transaction<Schema>, sessionId: string, since: string): Promise<void> {
  const records = await recordsAround(trx, sessionId, Date.parse(since))
  await yieldToEventLoop()
  const traces = scanpaths(records).flatMap((path) =>
    tracesOf(path, Date.parse(since)).map((trace) => ({ ...trace, source: path[0]?.source ?? 'manual' })),
  )
  await claimTraces(trx, sessionId, traces)
  const earlier = await tracesElsewhere(trx, sessionId, traces)
  for (const { source, start_ms, end_ms } of stretches(copiedOf(traces, earlier)))
    await trx
      .updateTable('gaze_records')
      .set({ copied: 1 })
      .where('session_id', '=', sessionId)
      .where('tick', '>', start_ms - TICK_MS)
      .where('tick', '<', end_ms)
      .where('source', '=', source)
      .execute()
}

/** Selects the traces that another session has, if that session has at least one more of them. */
function copiedOf<T extends Trace>(traces: readonly T[], earlier: ReadonlyMap<string, Original>): T[] {
  const shared = new Map<string, number>()
  const found = traces.map((trace) => {
    const hash = [trace.hash, ...trace.otherHashes].find((print) => {
      const original = earlier.get(print)
      return original !== undefined && isSameTrace(trace.steps, original.steps)
    })
    const origin = hash === undefined ? undefined : earlier.get(hash)?.session_id
    if (origin !== undefined) shared.set(origin, (shared.get(origin) ?? 0) + 1)
    return { trace, origin }
  })
  return found
    .filter(({ origin }) => origin !== undefined && (shared.get(origin) ?? 0) >= LEAST_SHARED)
    .map(({ trace }) => trace)
}

async function recordsAround(trx: Transaction<Schema>, sessionId: string, sinceMs: number): Promise<Sample[]> {
  const records = trx
    .selectFrom('gaze_records')
    .select(['at', 'dwell_ms', 'source', 'x', 'y'])
    .where('session_id', '=', sessionId)
  const from = sinceMs - (sinceMs % TICK_MS)
  const before = await records.where('tick', '<', from).orderBy('tick', 'desc').limit(BEFORE).execute()
  const after = await records.where('tick', '>=', from).orderBy('tick').limit(FROM).execute()
  return [...before, ...after].map(({ x, y, source, ...row }) => ({
    ...row,
    source: source as GazeSource,
    env: x === null || y === null ? {} : { x, y },
  }))
}

/** Stores traces as this session's, unless their hash is already stored. */
async function claimTraces(trx: Transaction<Schema>, sessionId: string, traces: readonly Trace[]): Promise<void> {
  const byHash = new Map(traces.map((trace) => [trace.hash, trace]))
  // Sorted, so that two sessions never deadlock.
  const rows = [...byHash.keys()]
    .sort()
    .flatMap((hash) => byHash.get(hash) ?? [])
    .map((trace) => toRow(sessionId, trace))
  await runBuiltRows(trx, 'claim gaze traces', rows, (part) =>
    trx
      .insertInto('gaze_traces')
      .values(part)
      .onConflict((conflict) => conflict.column('hash').doNothing())
      .compile(),
  )
}

/** A trace that another session has stored before. */
interface Original {
  session_id: string
  steps: TraceStep[]
}

/** Reads the traces of other sessions by hash. */
async function tracesElsewhere(
  trx: Transaction<Schema>,
  sessionId: string,
  traces: readonly Trace[],
): Promise<Map<string, Original>> {
  const hashes = [...new Set(traces.flatMap(({ hash, otherHashes }) => [hash, ...otherHashes]))]
  const earlier = new Map<string, Original>()
  for (let i = 0; i < hashes.length; i += CHUNK) {
    const elsewhere = await trx
      .selectFrom('gaze_traces')
      .select(['hash', 'session_id', 'steps'])
      .where('hash', 'in', hashes.slice(i, i + CHUNK))
      .where('session_id', '<>', sessionId)
      .execute()
    for (const { hash, session_id, steps } of elsewhere)
      earlier.set(hash, { session_id, steps: JSON.parse(steps) as TraceStep[] })
  }
  return earlier
}

function toRow(session_id: string, { hash, start_ms, steps }: Trace) {
  return { hash, session_id, at: new Date(start_ms).toISOString(), steps: JSON.stringify(steps) }
}

/** Merges traces into stretches of time: neighbours share all but one of their rests. */
function stretches(traces: readonly Found[]): Array<Pick<Found, 'source' | 'start_ms' | 'end_ms'>> {
  const found: Array<Pick<Found, 'source' | 'start_ms' | 'end_ms'>> = []
  for (const { source, start_ms, end_ms } of traces) {
    const last = found.at(-1)
    if (last !== undefined && last.source === source && start_ms <= last.end_ms)
      last.end_ms = Math.max(last.end_ms, end_ms)
    else found.push({ source, start_ms, end_ms })
  }
  return found
}
