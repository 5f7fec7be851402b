import { endOf, type Sample } from './scanpath.ts'

/** Observed and interrupted parts of a time range, in milliseconds. */
export interface Timeline {
  /** From the first record to the end of the last. */
  span_ms: number
  /** Time inside at least one dwell, or in a gap short enough to be inside one fixation. */
  observed_ms: number
  /** Time in gaps longer than allowed. */
  interrupted_ms: number
}

/**
 * Computes the observed time and the time in long gaps, from the first record to the end of the last.
 *
 * @param records in order of time
 * @param gaps.longest longest gap that is no interruption, in ms
 * @param gaps.bridged longest gap that counts as observed, in ms, as between samples of one fixation
 */
export function timelineOf(records: readonly Sample[], gaps: { longest: number; bridged: number }): Timeline {
  const [first] = records
  if (first === undefined) return { span_ms: 0, observed_ms: 0, interrupted_ms: 0 }
  const start = Date.parse(first.at)
  let seenUntil = start
  let observed = 0
  let interrupted = 0
  for (const record of records) {
    const from = Date.parse(record.at)
    const until = endOf(record)
    const gap = from - seenUntil
    if (gap > gaps.longest) interrupted += gap
    const resumed = gap <= gaps.bridged ? seenUntil : from
    observed += Math.max(0, until - resumed)
    seenUntil = Math.max(seenUntil, until)
  }
  return { span_ms: seenUntil - start, observed_ms: observed, interrupted_ms: interrupted }
}
