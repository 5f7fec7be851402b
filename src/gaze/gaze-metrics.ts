import * as z from 'zod'
import { findSaccades, identifyFixations } from './fixations.ts'
import { transitionsBetween, visitsOf } from './place-transitions.ts'
import { endOf, type Gaze, inOrder, scanpaths } from './scanpath.ts'
import { greatest, least, meanOfMeasured, median, rounded, slope, weightedMean } from './statistics.ts'

/** Places and transitions that are listed by name; the others are summed. */
const LISTED = 20
const MINUTE_MS = 60_000

const Level = z.object({
  mean: z.number().nullable().describe('Mean weighted by dwell; null where nothing was measured.'),
  trend_per_min: z.number().nullable().describe('Least-squares slope per minute; null without two different times.'),
})
const Mean = z.object({ mean: z.number().nullable() })

/** Metrics of records. Null: the records do not determine the metric. Never NaN. */
export const GazeMetrics = z.object({
  records: z.int().describe('How many records these figures are from.'),
  duration_ms: z.number().describe('From the first record to the end of the last.'),
  fixations: z.object({ count: z.int(), mean_ms: z.number().nullable(), median_ms: z.number().nullable() }),
  saccades: z.object({
    count: z.int(),
    mean_amplitude: z.number().nullable().describe('Mean length as a share of the screen.'),
  }),
  dwell_by_place: z.array(z.object({ path: z.string(), dwell_ms: z.number(), share: z.number(), visits: z.int() })),
  dwell_elsewhere: z
    .object({ places: z.int(), dwell_ms: z.number(), share: z.number(), visits: z.int() })
    .describe('All places after the listed ones, together.'),
  transitions: z.object({
    count: z.int(),
    entropy_bits: z
      .number()
      .describe('Transition entropy: 0 is a fixed route between places, log2(places - 1) a random walk.'),
    matrix_top: z.array(z.object({ from: z.string(), to: z.string(), count: z.int(), probability: z.number() })),
  }),
  focus: Level,
  load: Level,
  valence: Mean,
  arousal: Mean,
})
export type GazeMetrics = z.infer<typeof GazeMetrics>

/**
 * Computes the metrics of some records, in any order. A pure function.
 *
 * - fixations and saccades: dispersion threshold, see `identifyFixations` and `findSaccades`
 * - dwell by place: the sum of `dwell_ms` per place, its share of all dwell on places, and its visits (unbroken runs)
 * - transitions and their entropy: see `transitionsBetween`
 * - means and trends: of the records that measured the value
 * - means: weighted by `dwell_ms`, so that one second counts ten times as much as a tenth of a second
 * - trends: ordinary least squares over `at`, per minute
 *
 * Times are in milliseconds, entropy in bits, amplitudes in shares of the screen.
 */
export function computeMetrics(records: readonly Gaze[]): GazeMetrics {
  const ordered = inOrder(records)
  const paths = scanpaths(ordered)
  const fixations = paths.map(identifyFixations)
  const durations = fixations.flat().map((fixation) => fixation.end_ms - fixation.start_ms)
  const amplitudes = fixations.flatMap(findSaccades).map((saccade) => saccade.amplitude)
  const { transitions, count, entropy_bits } = transitionsBetween(paths)
  const start = ordered[0] === undefined ? 0 : Date.parse(ordered[0].at)

  return {
    records: ordered.length,
    duration_ms: Math.max(0, greatest(ordered.map(endOf)) - start),
    fixations: {
      count: durations.length,
      mean_ms: maybe(weightedMean(durations, []), 1),
      median_ms: maybe(median(durations), 1),
    },
    saccades: { count: amplitudes.length, mean_amplitude: maybe(weightedMean(amplitudes, []), 4) },
    ...dwellByPlace(paths),
    transitions: {
      count,
      entropy_bits: rounded(entropy_bits, 4),
      matrix_top: transitions.slice(0, LISTED).map((t) => ({ ...t, probability: rounded(t.probability, 4) })),
    },
    focus: level(ordered, (record) => record.cog?.focus),
    load: level(ordered, (record) => record.cog?.load),
    valence: { mean: mean(ordered, (record) => record.emo?.valence) },
    arousal: { mean: mean(ordered, (record) => record.emo?.arousal) },
  }
}

function dwellByPlace(paths: readonly Gaze[][]): Pick<GazeMetrics, 'dwell_by_place' | 'dwell_elsewhere'> {
  const places = new Map<string, { path: string; dwell_ms: number; visits: number }>()
  for (const { place, records } of paths.flatMap(visitsOf)) {
    if (place === null) continue
    const known = places.get(place) ?? { path: place, dwell_ms: 0, visits: 0 }
    known.dwell_ms += records.reduce((sum, record) => sum + record.dwell_ms, 0)
    known.visits++
    places.set(place, known)
  }
  const sorted = [...places.values()].sort((a, b) => b.dwell_ms - a.dwell_ms || (a.path < b.path ? -1 : 1))
  const total = sorted.reduce((sum, place) => sum + place.dwell_ms, 0)
  const share = (dwell: number) => (total > 0 ? rounded(dwell / total, 6) : 0)
  const rest = sorted.slice(LISTED)
  const elsewhere = rest.reduce((sum, place) => sum + place.dwell_ms, 0)
  return {
    dwell_by_place: sorted.slice(0, LISTED).map((place) => ({
      path: place.path,
      dwell_ms: place.dwell_ms,
      share: share(place.dwell_ms),
      visits: place.visits,
    })),
    dwell_elsewhere: {
      places: rest.length,
      dwell_ms: elsewhere,
      share: share(elsewhere),
      visits: rest.reduce((sum, place) => sum + place.visits, 0),
    },
  }
}

function level(records: readonly Gaze[], of: (record: Gaze) => number | undefined): z.infer<typeof Level> {
  const measured = records.flatMap((record) => {
    const value = of(record)
    return value === undefined ? [] : { minute: Date.parse(record.at) / MINUTE_MS, value }
  })
  const first = least(measured.map(({ minute }) => minute))
  const trend = slope(
    measured.map(({ minute }) => minute - first),
    measured.map(({ value }) => value),
  )
  return { mean: mean(records, of), trend_per_min: maybe(trend, 4) }
}

function mean(records: readonly Gaze[], of: (record: Gaze) => number | undefined): number | null {
  const weights = records.map((record) => record.dwell_ms)
  return maybe(meanOfMeasured(records.map(of), weights), 4)
}

function maybe(value: number | null, decimals: number): number | null {
  return value === null ? null : rounded(value, decimals)
}
