/** Position of the pointer or the gaze: `x` and `y` are shares of the window, 0 to 1; `at` is in Unix milliseconds. */
export interface Point {
  at: number
  x: number
  y: number
}

/** Time in one place: its start, its length in milliseconds, and the mean position. */
export interface Dwell extends Point {
  ms: number
}

/** Thresholds of places and dwells. Times are in milliseconds. */
export interface DwellTerms {
  /** Largest (max x − min x) + (max y − min y) of one place, as a share of the window. */
  dispersion: number
  /** Time that a position holds when no newer one arrives. */
  heldMs: number
  /** Longest dwell; longer ones are split. */
  longestMs: number
  /** Minimum number of positions of a dwell. */
  fewest: number
}

/** Shortest fixation in milliseconds (Salvucci & Goldberg 2000). A shorter stay only passes a place. */
const SHORTEST_MS = 100

/**
 * Terms of a pointer. It reports only movements, so a position holds until the next one. A pointer that rests for ten
 * seconds says nothing more about its person.
 */
export const POINTER: DwellTerms = { dispersion: 0.04, heldMs: 10_000, longestMs: 20_000, fewest: 1 }

/**
 * Terms of a webcam, which sees gaze within a few degrees, several times a second. Gaze between distant samples, and
 * after the last one, is unknown.
 */
export const WEBCAM: DwellTerms = { dispersion: 0.16, heldMs: 400, longestMs: 10_000, fewest: 2 }

/** Terms of an eye tracker, which sees gaze within a degree, dozens of times a second. */
export const TRACKER: DwellTerms = { dispersion: 0.04, heldMs: 150, longestMs: 10_000, fewest: 2 }

/** Finds dwells in a stream of positions. */
export interface DwellFinder {
  /** @returns the dwell that this position ends, if any */
  push(point: Point): Dwell | null
  /** @returns the dwell in progress at `at`, if any */
  end(at: number): Dwell | null
}

/**
 * Finds dwells in a stream of positions by dispersion threshold (I-DT: Salvucci & Goldberg 2000, "Identifying fixations
 * and saccades in eye-tracking protocols").
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
