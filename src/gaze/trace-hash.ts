import { createHash } from 'node:crypto'
import type { Fixation } from './fixations.ts'

/** Cells on each axis of the screen that a hash tells apart. */
const CELLS = 16
/** Steps to the octave in which a hash tells durations apart: a sampled fixation ends at the next sample, a dwell does not. */
const STEPS_PER_OCTAVE = { placed: 1, unplaced: 4 }
/** A trace of fewer different cells, or of fewer different durations where it has no positions, is alike by chance. */
const LEAST_DIFFERENT = 4
/** A value so near to a step's edge, as a share of the step, may be on its other side in a copy. */
const NEAR_AN_EDGE = 0.15
/** Values of one trace that are looked for on either side. */
const MOST_EDGES = 2
/** Hexadecimal digits of a hash: 64 bits. */
const HASH_DIGITS = 16

/** Hashes that find a trace. */
export interface TraceHashes {
  /** Equal for most copies of a trace, and for few others. */
  hash: string
  /** Hashes of copies whose values near an edge fall beyond it. */
  otherHashes: readonly string[]
}

/**
 * The hashes of neighbouring rests: roughly where and how long they were. Which sixteenth of the screen on each axis,
 * and the duration to the nearest power of two; without positions, to the nearest quarter of an octave (locality-sensitive
 * hashing, as in Indyk & Motwani 1998). The two values that are nearest to an edge are looked for on both sides of it
 * (multi-probe: Lv and others 2007).
 *
 * Null where they are too alike to tell a copy by.
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

/** For each fixation its duration, and where it has one its place, in steps of the hash. */
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

/** The steps with each choice of the values nearest to an edge moved beyond it; not the choice of none. */
function beyondEdges(values: readonly number[]): number[][] {
  const edges = values
    .map((value, i) => ({ i, above: value - Math.floor(value) }))
    .map(({ i, above }) => ({ i, distance: Math.min(above, 1 - above), beyond: above < 0.5 ? -1 : 1 }))
    .filter(({ distance }) => distance < NEAR_AN_EDGE)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST_EDGES)
  let choices = [values.map(Math.floor)]
  for (const { i, beyond } of edges)
    choices = choices.flatMap((choice) => [choice, choice.with(i, (choice[i] ?? 0) + beyond)])
  return choices.slice(1)
}

function hashOf(bins: readonly number[]): string {
  return createHash('sha256')
    .update(`trace ${bins.join(' ')}`)
    .digest('hex')
    .slice(0, HASH_DIGITS)
}
