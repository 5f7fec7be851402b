import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { GazeTensor } from './tensor.ts'

/**
 * The length of a tick in ms. A source is assessed by one raw sample a tick, 62 a second, however fast it is: enough to find
 * fixations of 100 ms, and few enough that a bounded number of records spans many seconds.
 */
export const TICK_MS = 16
/** Ticks that one statement asks for. */
const CHUNK = 250

type Timed = Pick<GazeTensor, 'at' | 'dwell_ms' | 'source'>

/**
 * The tick by which each record is assessed, in Unix ms: the start of a dwell, and of a raw sample the time rounded down to
 * `TICK_MS`. Null for a raw sample whose tick another one of its source has taken, in the session or in the same batch.
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

/** Tells whether a record is a sample at one moment, with others in the same tick. */
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
