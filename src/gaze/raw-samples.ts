import type { GazeTensor } from './tensor.ts'

/**
 * Length of a tick in ms. A source counts with one raw sample a tick, at most 62 a second. That is enough to find
 * fixations of 100 ms, and few enough that a bounded number of records spans many seconds.
 */
export const TICK_MS = 16

type Timed = Pick<GazeTensor, 'at' | 'dwell_ms' | 'source'>

/**
 * Finds the records that count: all dwells, and one raw sample of each source a tick.
 *
 * @param records in order of time
 * @param taken ticks of the session's stored raw samples, from `rawTick`; those of the records are added
 */
export function countedOf(records: readonly Timed[], taken: Set<string>): boolean[] {
  return records.map((record) => {
    const tick = rawTick(record)
    if (tick === null) return true
    const isFree = !taken.has(tick)
    taken.add(tick)
    return isFree
  })
}

/** Source and tick of a raw sample; null for a dwell. */
export const rawTick = (record: Timed): string | null => (isRaw(record) ? `${record.source} ${tickOf(record)}` : null)

/** The time by which a record is assessed, in Unix ms: the start of a dwell, or that of a raw sample rounded down to `TICK_MS`. */
export function tickOf(record: Timed): number {
  const at = Date.parse(record.at)
  return isRaw(record) ? at - (at % TICK_MS) : at
}

/** Tells whether a record is a raw sample, shorter than a tick. */
function isRaw(record: Timed): boolean {
  return record.dwell_ms < TICK_MS
}
