import type { Transaction } from 'kysely'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { TICK_MS } from './raw-samples.ts'
import { sessionPrint } from './record-hashes.ts'
import { countedTick, PACK_SPAN_MS, type PackedRecord } from './record-pack.ts'
import { type PackSession, packsBack, packsForward, rewritePack } from './record-packs.ts'
import { type Sample, scanpaths } from './scanpath.ts'
import type { GazeSource } from './tensor.ts'
import { isSameTrace, readSteps, type Trace, type TraceStep, tracesOf, writeSteps } from './trace.ts'

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
export async function markCopies(trx: Transaction<Schema>, session: PackSession, since: string): Promise<void> {
  const { session_id: sessionId } = session
  const records = await recordsAround(trx, session, Date.parse(since))
  await yieldToEventLoop()
  const traces = scanpaths(records).flatMap((path) =>
    tracesOf(path, Date.parse(since)).map((trace) => ({ ...trace, source: path[0]?.source ?? 'manual' })),
  )
  await claimTraces(trx, sessionId, traces)
  const earlier = await tracesElsewhere(trx, sessionId, traces)
  for (const stretch of stretches(copiedOf(traces, earlier))) await markStretch(trx, session, stretch)
}

async function markStretch(
  trx: Transaction<Schema>,
  session: PackSession,
  { source, start_ms, end_ms }: Pick<Found, 'source' | 'start_ms' | 'end_ms'>,
): Promise<void> {
  const isInside = (record: PackedRecord) => {
    const tick = countedTick(record)
    return record.tensor.source === source && tick !== null && tick > start_ms - TICK_MS && tick < end_ms
  }
  const range = { from: new Date(start_ms - TICK_MS).toISOString(), to: new Date(end_ms + TICK_MS).toISOString() }
  for await (const pack of packsBack(trx, session, range)) {
    if (!pack.records.some((record) => !record.isCopied && isInside(record))) continue
    const records = pack.records.map((record) => (isInside(record) ? { ...record, isCopied: true } : record))
    await rewritePack(trx, { ...pack, records })
  }
}

/** Selects the traces that another session has, if that session has at least one more of them. */
function copiedOf<T extends Trace>(traces: readonly T[], earlier: ReadonlyMap<number, Original>): T[] {
  const shared = new Map<number, number>()
  const found = traces.map((trace) => {
    const hash = [trace.hash, ...trace.otherHashes].find((print) => {
      const original = earlier.get(print)
      return original !== undefined && isSameTrace(trace.steps, original.steps)
    })
    const origin = hash === undefined ? undefined : earlier.get(hash)?.session
    if (origin !== undefined) shared.set(origin, (shared.get(origin) ?? 0) + 1)
    return { trace, origin }
  })
  return found
    .filter(({ origin }) => origin !== undefined && (shared.get(origin) ?? 0) >= LEAST_SHARED)
    .map(({ trace }) => trace)
}

/** Reads the counted records of a session before and after a time, as many as traces may need. */
async function recordsAround(trx: Transaction<Schema>, session: PackSession, sinceMs: number): Promise<Sample[]> {
  const from = sinceMs - (sinceMs % TICK_MS)
  const at = new Date(from).toISOString()
  let [before, after]: [Counted[], Counted[]] = [[], []]
  for await (const { records, to_at } of packsBack(trx, session, { to: at })) {
    const earliest = before.length < BEFORE ? undefined : before[0]
    if (earliest !== undefined && Date.parse(to_at) < earliest.tick) break
    const counted = records.flatMap(toCounted).filter(({ tick }) => tick < from)
    before = [...counted, ...before].sort(byTick).slice(-BEFORE)
  }
  let packs = 0
  for await (const { records, to_at } of packsForward(trx, session, at)) {
    if (packs++ === FROM) break
    const latest = after.length < FROM ? undefined : after.at(-1)
    if (latest !== undefined && Date.parse(to_at) - PACK_SPAN_MS > latest.tick) break
    const counted = records.flatMap(toCounted).filter(({ tick }) => tick >= from)
    after = [...after, ...counted].sort(byTick).slice(0, FROM)
  }
  return [...before, ...after].map(({ sample }) => sample)
}

interface Counted {
  tick: number
  sample: Sample
}

const byTick = (one: Counted, other: Counted): number => one.tick - other.tick

function toCounted(record: PackedRecord): Counted[] {
  const tick = countedTick(record)
  if (tick === null) return []
  const { at, dwell_ms, source, env } = record.tensor
  const { x, y } = env
  return [{ tick, sample: { at, dwell_ms, source, env: x === undefined || y === undefined ? {} : { x, y } } }]
}

/** Stores traces as this session's, unless their hash is already stored. */
async function claimTraces(trx: Transaction<Schema>, sessionId: string, traces: readonly Trace[]): Promise<void> {
  const byHash = new Map(traces.map((trace) => [trace.hash, trace]))
  const session = sessionPrint(sessionId)
  // Sorted, so that two sessions never deadlock.
  const rows = [...byHash.values()]
    .sort((one, other) => one.hash - other.hash)
    .map(({ hash, start_ms, steps }) => ({ hash, session, hour: traceHour(start_ms), steps: writeSteps(steps) }))
  await runBuiltRows(trx, 'claim gaze traces', rows, (part) =>
    trx
      .insertInto('gaze_traces')
      .values(part)
      .onConflict((conflict) => conflict.column('hash').doNothing())
      .compile(),
  )
}

/** The hour of a time in Unix ms, counted from 1970. */
export const traceHour = (ms: number): number => Math.floor(ms / 3_600_000)

/** A trace that another session has stored before, and the number of that session. */
interface Original {
  session: number
  steps: TraceStep[]
}

/** Reads the traces of other sessions by hash. */
async function tracesElsewhere(
  trx: Transaction<Schema>,
  sessionId: string,
  traces: readonly Trace[],
): Promise<Map<number, Original>> {
  const hashes = [...new Set(traces.flatMap(({ hash, otherHashes }) => [hash, ...otherHashes]))]
  const earlier = new Map<number, Original>()
  for (let i = 0; i < hashes.length; i += CHUNK) {
    const elsewhere = await trx
      .selectFrom('gaze_traces')
      .select(['hash', 'session', 'steps'])
      .where('hash', 'in', hashes.slice(i, i + CHUNK))
      .where('session', '<>', sessionPrint(sessionId))
      .execute()
    for (const { hash, session, steps } of elsewhere) earlier.set(hash, { session, steps: readSteps(steps) })
  }
  return earlier
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
