import { type Gaze, placeOf } from './scanpath.ts'

/** Number of moves from one place to another, and their share of all moves away from `from`. */
interface Transition {
  from: string
  to: string
  count: number
  probability: number
}

/** Every transition between different places of some scanpaths, the most frequent first. */
interface TransitionMatrix {
  count: number
  entropy_bits: number
  transitions: Transition[]
}

/**
 * Groups neighbouring records on the same place into visits, in order. Records that name no place form visits with the
 * place null.
 *
 * @param path one scanpath, in order of time
 */
export function visitsOf(path: readonly Gaze[]): Array<{ place: string | null; records: Gaze[] }> {
  const visits: Array<{ place: string | null; records: Gaze[] }> = []
  for (const record of path) {
    const place = placeOf(record)
    const last = visits.at(-1)
    if (last !== undefined && last.place === place) last.records.push(record)
    else visits.push({ place, records: [record] })
  }
  return visits
}

/**
 * Computes the transition matrix between places, as a first-order Markov chain, and its conditional (transition)
 * entropy
 *
 *   H = − Σᵢ πᵢ Σⱼ pᵢⱼ log₂ pᵢⱼ
 *
 * - pᵢⱼ: the share of the moves away from place i that went to place j
 * - πᵢ: the share of all moves that left place i. It is observed, not the fitted stationary distribution, as in
 *   Shiferaw, Downey & Crewther 2019
 *
 * Sources: Krejtz et al. 2014, "Entropy-based statistical analysis of eye movement transitions"; 2015, "Gaze transition
 * entropy". Staying on a place is no transition, so with n places 0 ≤ H ≤ log₂(n − 1). 0 is a fixed route, the upper
 * bound a random walk.
 *
 * @param paths scanpaths, each in order of time
 */
export function transitionsBetween(paths: ReadonlyArray<readonly Gaze[]>): TransitionMatrix {
  const counts = new Map<string, Map<string, number>>()
  let count = 0
  for (const path of paths) {
    const visits = visitsOf(path)
    for (const [i, { place: to }] of visits.entries()) {
      const from = visits[i - 1]?.place ?? null
      if (from === null || to === null) continue
      const row = counts.get(from) ?? new Map<string, number>()
      row.set(to, (row.get(to) ?? 0) + 1)
      counts.set(from, row)
      count++
    }
  }
  const transitions = [...counts].flatMap(([from, row]) => rowOf(from, row))
  transitions.sort((a, b) => b.count - a.count || order(a.from, b.from) || order(a.to, b.to))
  const bits = transitions.reduce((sum, t) => sum - (t.count / count) * Math.log2(t.probability), 0)
  return { count, entropy_bits: Math.max(0, bits), transitions }
}

function rowOf(from: string, row: ReadonlyMap<string, number>): Transition[] {
  const leaving = [...row.values()].reduce((sum, count) => sum + count, 0)
  return [...row].map(([to, count]) => ({ from, to, count, probability: count / leaving }))
}

function order(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
