import { printOf } from './fingerprint.ts'
import type { Fixation } from './fixations.ts'

/** Cells of a hash on each axis of the screen. */
const CELLS = 16
/** Steps per octave of durations in a hash. Coarser for sampled fixations, as they end only at the next sample. */
const STEPS_PER_OCTAVE = { placed: 1, unplaced: 4 }
/** Fewest different cells of a trace (or durations, without positions). Traces with fewer match by chance. */
const LEAST_DIFFERENT = 4
/** Distance to a step's edge, as a share of the step, within which a copy may fall beyond the edge. */
const NEAR_AN_EDGE = 0.15
/** Maximum number of values of one trace that are searched on both sides of an edge. */
const MAX_EDGES = 2
/** Hashes that index a trace, so that copies of it are found. */
export interface TraceHashes {
  /** Equal for most copies of a trace, and for few others. */
  hash: number
  /** Hashes of copies in which values near an edge fall beyond it. */
  otherHashes: readonly number[]
}

/**
 * Computes the hashes of neighbouring rests, from their rough places and durations (locality-sensitive hashing, as in
 * Indyk & Motwani 1998). Places are rounded to a sixteenth of the screen on each axis, durations to the nearest power
 * of two. Without positions, durations are rounded to a quarter of an octave.
 *
 * The two values nearest to an edge are searched on both sides of it (multi-probe: Lv and others 2007).
 *
 * @returns null when the rests are too similar to identify a copy
 */
export function traceHashes(fixations: readonly Fixation[]): TraceHashes | null {
  const values = valuesOf(fixations)
  const bins = values.map((value) => value.map(Math.floor))
  const [places, durations] = [bins.map(([, ...place]) => `${place}`), bins.map(([duration]) => duration)]
  const different = Math.max(new Set(places).size, isPlaced(fixations) ? 0 : new Set(durations).size)
  if (different < LEAST_DIFFERENT) return null
  return { hash: hashOf(bins.flat()), otherHashes: beyondEdges(values.flat()).map(hashOf) }
}

function isPlaced(fixations: readonly Fixation[]): boolean {
  return fixations.every(({ x, y }) => x !== null && y !== null)
}

/** The duration of each fixation, and its place if it has one, in steps of the hash. */
function valuesOf(fixations: readonly Fixation[]): number[][] {
  if (!isPlaced(fixations)) return fixations.map((fixation) => [0.5 + octaves(fixation) * STEPS_PER_OCTAVE.unplaced])
  return fixations.map((fixation) => [
    0.5 + octaves(fixation) * STEPS_PER_OCTAVE.placed,
    (fixation.x ?? 0) * CELLS,
    (fixation.y ?? 0) * CELLS,
  ])
}

function octaves({ start_ms, end_ms }: Fixation): number {
  return Math.log2(end_ms - start_ms)
}

/** Each combination of moving the values nearest to an edge beyond it, except moving none. */
function beyondEdges(values: readonly number[]): number[][] {
  const edges = values
    .map((value, i) => ({ i, above: value - Math.floor(value) }))
    .map(({ i, above }) => ({ i, distance: Math.min(above, 1 - above), beyond: above < 0.5 ? -1 : 1 }))
    .filter(({ distance }) => distance < NEAR_AN_EDGE)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_EDGES)
  let choices = [values.map(Math.floor)]
  for (const { i, beyond } of edges)
    choices = choices.flatMap((choice) => [choice, choice.with(i, (choice[i] ?? 0) + beyond)])
  return choices.slice(1)
}

const hashOf = (bins: readonly number[]): number => printOf(`trace ${bins.join(' ')}`)
