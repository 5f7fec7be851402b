import { endOf, type Sample } from './scanpath.ts'
import { median } from './statistics.ts'

/** The shortest time that counts as a fixation (Salvucci & Goldberg 2000: at least 100 ms). */
export const MIN_FIXATION_MS = 100
/**
 * The largest dispersion inside one fixation, as a share of the screen: 0.04 is about 1° of visual angle on each axis
 * for a 53 cm wide screen at 60 cm (Salvucci & Goldberg 2000 use 0.5° to 1°).
 */
const MAX_DISPERSION = 0.04
/** The shortest saccade, about 1°: shorter ones are microsaccades within a fixation (Martinez-Conde et al. 2009). */
const MIN_AMPLITUDE = 0.02
/** Longest gap inside one fixation (Olsen 2012, the Tobii I-VT filter: 75 ms). */
const MAX_BRIDGED_MS = 75
/** Longest gap that is one saccade or blink (Schiffman 2001: blinks last 100–400 ms). A longer gap is unknown time. */
export const MAX_SACCADE_MS = 500

/** Longest gap inside one fixation, in sampling intervals. Tolerates jitter of the clock, but not a missing sample. */
const BRIDGED_INTERVALS = 1.5

/**
 * A stretch of gaze that stayed in one place. `x` and `y` are the mean position, null where the source gives none.
 * `identified`: the source itself reported it as one fixation.
 */
export interface Fixation {
  start_ms: number
  end_ms: number
  identified: boolean
  x: number | null
  y: number | null
}

/** A jump from one fixation to the next; `amplitude` is its length as a share of the screen, 0 to √2. */
interface Saccade {
  amplitude: number
}

/**
 * Finds the fixations of one scanpath by dispersion threshold (I-DT: Salvucci & Goldberg 2000, "Identifying fixations
 * and saccades in eye-tracking protocols").
 *
 * - Raw samples are dwells shorter than a fixation. Neighbours merge while (max x − min x) + (max y − min y) ≤
 *   `MAX_DISPERSION` and the gap between them is bridged.
 * - A raw sample stands for the time until the next one, at most one sampling interval.
 * - A longer dwell is a fixation that its source identified.
 * - A dwell without a position is never merged.
 * - Results shorter than `MIN_FIXATION_MS` are dropped.
 *
 * @param path one scanpath, in order of time
 */
export function identifyFixations(path: readonly Sample[]): Fixation[] {
  const found: Fixation[] = []
  let group: Group | null = null
  const interval = samplingInterval(path)
  const bridged = bridgedMs(interval)
  for (const [i, record] of path.entries()) {
    const next: Group = group !== null && joins(group, record, bridged) ? group : emptyGroup(record)
    if (next !== group) {
      if (group !== null) found.push(toFixation(group))
      group = next
    }
    const follower = path[i + 1]
    const until = follower === undefined ? Number.POSITIVE_INFINITY : Date.parse(follower.at)
    add(next, record, Math.min(until, Date.parse(record.at) + interval))
  }
  if (group !== null) found.push(toFixation(group))
  return found.filter((fixation) => fixation.end_ms - fixation.start_ms >= MIN_FIXATION_MS)
}

/**
 * Estimates the sampling interval of a source in ms: the median time between neighbouring raw samples that are at most
 * half a second apart. 0 when such pairs are not the majority, as for a source that identifies fixations itself.
 *
 * @param path in order of time
 */
export function samplingInterval(path: readonly Sample[]): number {
  const steps: number[] = []
  for (const [i, next] of path.entries()) {
    const last = path[i - 1]
    if (last === undefined || last.dwell_ms >= MIN_FIXATION_MS || next.dwell_ms >= MIN_FIXATION_MS) continue
    const step = Date.parse(next.at) - Date.parse(last.at)
    if (step <= MAX_SACCADE_MS) steps.push(step)
  }
  return 2 * steps.length > path.length ? (median(steps) ?? 0) : 0
}

/** Longest gap inside one fixation in ms: 75 ms, or more for a slow sampling rate. */
export function bridgedMs(interval: number): number {
  return Math.max(MAX_BRIDGED_MS, BRIDGED_INTERVALS * interval)
}

/**
 * The saccades between neighbouring fixations that both have a position, are at least `MIN_AMPLITUDE` apart, and follow
 * each other within half a second. Amplitude is the Euclidean distance of the two mean positions.
 */
export function findSaccades(fixations: readonly Fixation[]): Saccade[] {
  const saccades: Saccade[] = []
  for (const [i, to] of fixations.entries()) {
    const from = fixations[i - 1]
    if (from === undefined || to.start_ms - from.end_ms > MAX_SACCADE_MS) continue
    if (from.x === null || from.y === null || to.x === null || to.y === null) continue
    const amplitude = Math.hypot(to.x - from.x, to.y - from.y)
    if (amplitude >= MIN_AMPLITUDE) saccades.push({ amplitude })
  }
  return saccades
}

interface Group {
  start_ms: number
  end_ms: number
  /** The source itself reported it as one fixation. */
  identified: boolean
  records: number
  sumX: number
  sumY: number
  minX: number
  maxX: number
  minY: number
  maxY: number
}

function emptyGroup(record: Sample): Group {
  return {
    start_ms: Date.parse(record.at),
    end_ms: endOf(record),
    identified: record.dwell_ms >= MIN_FIXATION_MS,
    records: 0,
    sumX: 0,
    sumY: 0,
    minX: Number.POSITIVE_INFINITY,
    maxX: Number.NEGATIVE_INFINITY,
    minY: Number.POSITIVE_INFINITY,
    maxY: Number.NEGATIVE_INFINITY,
  }
}

function joins(group: Group, record: Sample, bridged: number): boolean {
  const { x, y } = record.env
  if (x === undefined || y === undefined || group.minX === Number.POSITIVE_INFINITY) return false
  if (group.identified || record.dwell_ms >= MIN_FIXATION_MS) return false
  if (Date.parse(record.at) - group.end_ms > bridged) return false
  const width = Math.max(group.maxX, x) - Math.min(group.minX, x)
  const height = Math.max(group.maxY, y) - Math.min(group.minY, y)
  return width + height <= MAX_DISPERSION
}

/** @param until the end of the time that a raw sample stands for */
function add(group: Group, record: Sample, until: number): void {
  group.records++
  group.end_ms = Math.max(group.end_ms, endOf(record), group.identified ? 0 : until)
  const { x, y } = record.env
  if (x === undefined || y === undefined) return
  group.sumX += x
  group.sumY += y
  group.minX = Math.min(group.minX, x)
  group.maxX = Math.max(group.maxX, x)
  group.minY = Math.min(group.minY, y)
  group.maxY = Math.max(group.maxY, y)
}

function toFixation(group: Group): Fixation {
  const placed = group.minX !== Number.POSITIVE_INFINITY
  return {
    start_ms: group.start_ms,
    end_ms: group.end_ms,
    identified: group.identified,
    x: placed ? group.sumX / group.records : null,
    y: placed ? group.sumY / group.records : null,
  }
}
