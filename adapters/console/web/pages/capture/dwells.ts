/** Position of the pointer or the gaze: `x` and `y` are shares of the window, 0 to 1; `at` is in Unix milliseconds. */
export interface Point {
  at: number
  x: number
  y: number
}

/** A stretch of time that was spent in one place: its start, its length in milliseconds, and the mean position. */
export interface Dwell extends Point {
  ms: number
}

/** Thresholds of places and dwells. Times are in milliseconds. */
export interface DwellTerms {
  /** The largest (max x − min x) + (max y − min y) within one place, as a share of the window. */
  dispersion: number
  /** Time that a position holds when no newer one arrives. */
  heldMs: number
  /** Longest dwell; longer ones are split. */
  longestMs: number
  /** The fewest positions that show a stay. */
  fewest: number
}

/** A shorter stay is a place passed by, no fixation (Salvucci & Goldberg 2000). */
const SHORTEST_MS = 100

/**
 * A pointer tells only when it moves, so that a position holds until the next one. A pointer that has not moved for ten
 * seconds says nothing more about its person.
 */
export const POINTER: DwellTerms = { dispersion: 0.04, heldMs: 10_000, longestMs: 20_000, fewest: 1 }

/** A webcam sees gaze within a few degrees, several times a second; what is between far samples, or after one, is unknown. */
export const WEBCAM: DwellTerms = { dispersion: 0.16, heldMs: 400, longestMs: 10_000, fewest: 2 }

/** Finds the stays in positions as they come in. */
export interface DwellFinder {
  /** @returns the stay that this position ends, if one did */
  push(point: Point): Dwell | null
  /** @returns the stay that was going on at `at`, if it was one */
  end(at: number): Dwell | null
}

/**
 * Stays by dispersion threshold (I-DT: Salvucci & Goldberg 2000, "Identifying fixations and saccades in eye-tracking
 * protocols"), as positions come in.
 */
export function createDwellFinder({ dispersion, heldMs, longestMs, fewest }: DwellTerms): DwellFinder {
  let group: Group | null = null

  function close(at: number): Dwell | null {
    if (group === null) return null
    const { first, last, count, sumX, sumY } = group
    group = null
    const ms = Math.round(Math.min(at, last + heldMs) - first)
    return ms < SHORTEST_MS || count < fewest ? null : { at: Math.round(first), ms, x: sumX / count, y: sumY / count }
  }

  return {
    push(point) {
      const stays =
        group !== null &&
        point.at - group.last <= heldMs &&
        point.at - group.first <= longestMs &&
        spreadWith(group, point) <= dispersion
      const ended = stays ? null : close(point.at)
      group = joined(group, point)
      return ended
    },
    end: (at) => close(at),
  }
}

interface Group {
  first: number
  last: number
  count: number
  sumX: number
  sumY: number
  minX: number
  maxX: number
  minY: number
  maxY: number
}

function spreadWith(group: Group, { x, y }: Point): number {
  return Math.max(group.maxX, x) - Math.min(group.minX, x) + Math.max(group.maxY, y) - Math.min(group.minY, y)
}

function joined(group: Group | null, { at, x, y }: Point): Group {
  if (group === null) return { first: at, last: at, count: 1, sumX: x, sumY: y, minX: x, maxX: x, minY: y, maxY: y }
  return {
    first: group.first,
    last: at,
    count: group.count + 1,
    sumX: group.sumX + x,
    sumY: group.sumY + y,
    minX: Math.min(group.minX, x),
    maxX: Math.max(group.maxX, x),
    minY: Math.min(group.minY, y),
    maxY: Math.max(group.maxY, y),
  }
}
