import type { Gaze } from '../gaze/gaze.ts'
import type { Part } from './change-parts.ts'
import { lineNumbersOf } from './line-numbers.ts'
import { CLOCK_SKEW_MS } from './reading.ts'

/** A gaze record with its time of arrival. */
type Arrived = Awaited<ReturnType<Gaze['arrived']>>[number]

/**
 * Selects the records that are about a change: since its review began, on lines of its hunks, which are the changed ones
 * and three beside them, or on a file that has items alone. Gaze at anything else says nothing of this review.
 *
 * @param started time at which the review began at the gateway, in ms
 */
export function recordsOfReview(records: readonly Arrived[], parts: readonly Part[], started: number): Arrived[] {
  const hunks = new Map<string, [first: number, last: number][]>()
  for (const part of parts) {
    const ranges = hunks.get(part.path) ?? []
    hunks.set(part.path, ranges)
    if (part.kind !== 'hunk') continue
    const lines = lineNumbersOf(part.rows)
    ranges.push([lines[0] as number, lines.at(-1) as number])
  }
  return records.filter(({ tensor: { at, env } }) => {
    const { path, line_start, line_end = line_start } = env
    const ranges = path === undefined ? undefined : hunks.get(path)
    if (ranges === undefined || Date.parse(at) < started - CLOCK_SKEW_MS) return false
    if (ranges.length === 0) return true
    if (line_start === undefined || line_end === undefined) return false
    return ranges.some(([first, last]) => line_start <= last && line_end >= first)
  })
}
