import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { GazeTensor } from './tensor.ts'

/**
 * Length of a tick in ms. A source counts with one raw sample a tick, at most 62 a second. That is enough to find
 * fixations of 100 ms, and few enough that a bounded number of records spans many seconds.
 */
export const TICK_MS = 16
/** Ticks per query. */
const CHUNK = 250

type Timed = Pick<GazeTensor, 'at' | 'dwell_ms' | 'source'>

/**
 * Assigns each record its tick, in Unix ms. The tick of a dwell is its start; that of a raw sample is its time rounded
 * down to `TICK_MS`. Null for a raw sample whose tick is taken by another of its source, in the session or in the
 * batch.
 *
 * @param records in order of time
 */
export async function takeTicks(
  trx: Transaction<Schema>,
  sessionId: string,
  records: readonly Timed[],
): Promise<Array<number | null>> {
  const ticks = records.map(tickOf)
  const taken = await takenTicks(trx, sessionId, [...new Set(ticks.filter((_, i) => isRaw(records[i])))])
  return records.map((record, i) => {
    const tick = ticks[i] ?? 0
    if (!isRaw(record)) return tick
    const key = `${record.source} ${tick}`
    if (taken.has(key)) return null
    taken.add(key)
    return tick
  })
}

/** Tells whether a record is a raw sample, shorter than a tick. */
function isRaw(record: Timed | undefined): boolean {
  return record !== undefined && record.dwell_ms < TICK_MS
}

function tickOf(record: Timed): number {
  const at = Date.parse(record.at)
  return isRaw(record) ? at - (at % TICK_MS) : at
}

async function takenTicks(trx: Transaction<Schema>, sessionId: string, ticks: readonly number[]): Promise<Set<string>> {
  const taken = new Set<string>()
  for (let i = 0; i < ticks.length; i += CHUNK) {
    const rows = await trx
      .selectFrom('gaze_records')
      .select(['source', 'tick'])
      .where('session_id', '=', sessionId)
      .where('tick', 'in', ticks.slice(i, i + CHUNK))
      .where('dwell_ms', '<', TICK_MS)
      .execute()
    for (const { source, tick } of rows) taken.add(`${source} ${tick}`)
  }
  return taken
}
