import { type Fixation, identifyFixations, samplingInterval } from './fixations.ts'
import { judgeMovement, type MovementCheck } from './movement.ts'
import { type Sample, scanpaths } from './scanpath.ts'
import { greatest, least, median, ramp, spread } from './statistics.ts'
import type { GazeSource } from './tensor.ts'

/** Fewer fixations or dwells than this cannot show how they are distributed. */
const LEAST_EVENTS = 10

/** Comparison of a stream's property with a person's: 0 is impossible, 1 is typical. */
interface Check {
  name: 'events' | 'duration' | 'variation' | 'shape' | 'rhythm' | 'novelty' | 'overlap' | MovementCheck['name']
  score: number
}

/** The plausibility of a session, 0 to 1, and its weakest checks. */
export interface Plausibility {
  score: number
  checks: Check[]
}

/**
 * Highest plausibility by source: an eye tracker measures the eye itself; an editor or a pointer only what the person
 * had open or pointed at; a record made by hand is a claim. With these ceilings a manual stream never passes by itself.
 */
export const CEILING: Record<GazeSource, number> = { eye_tracker: 1, webcam: 0.95, pointer: 0.8, ide: 0.8, manual: 0.2 }

/**
 * Samples further apart than this, in ms, hide when fixations begin and end: 25 samples a second resolve a fixation of
 * 250 ms to about a sixth.
 */
export const COARSE_MS = 40
/** Factor on the ceiling of a source with coarse samples. */
export const COARSE_CEILING = 0.8

/** Typical dwell per source in ms, as the corners of a trapezoid: 0 up to the first, 1 from the second to the third. */
export const DURATIONS: Record<GazeSource, [number, number, number, number]> = {
  // Fixations last 100 to 600 ms for the most part, 200 to 350 ms on average (Rayner 1998, 2009; Henderson 2003).
  eye_tracker: [60, 120, 600, 1200],
  webcam: [60, 120, 800, 2000],
  // A pointer trails the eye by about 0.7 s and rests between moves (Huang, White & Buscher 2012).
  pointer: [30, 120, 20_000, 60_000],
  // Dwell on a page or file is heavy-tailed, seconds to tens of seconds (Liu, White & Dumais 2010).
  ide: [60, 300, 30_000, 60_000],
  manual: [60, 300, 60_000, 120_000],
}

/** Values at which each check scores 0 and 1, see `judgePlausibility`. */
export const LIMITS = {
  variation: [0.1, 0.25],
  rhythmVariation: [0.05, 0.2],
  rhythmAlike: [0.5, 0.2],
  rhythmAlikeCoarse: [0.9, 0.75],
  novelty: [0.5, 0.9],
  overlap: [0.3, 0.05],
} as const

/**
 * Judges how plausibly records come from a living person's attention, 0 to 1.
 *
 * Each source is judged by itself, on its fixations (dwells, where there is no screen position), and is as plausible as
 * its weakest check times what the source can show; several sources are averaged, weighted by their events. Sources with
 * fewer than ten events count for nothing.
 *
 * - `duration`: the median lies where this kind of source has it
 * - `variation`: the standard deviation of ln(duration): 0 at 0.10 or less, 1 from 0.25 (people's fixations: 0.3 to 0.6)
 * - `shape`: log-normal rather than flat. Mean log-likelihood ratio per event of the best log-normal over the best
 *   uniform density, 0 at −a, 1 from 0.3 − a, where a = 0.1 + 0.8 / √n allows for chance in n events (fixation durations
 *   are right-skewed and near log-normal: Velichkovsky et al. 2000; Guy, Lancry-Dayan & Pertzov 2020). Twenty events
 *   tell little by shape, sixty most, two hundred nearly all
 * - `rhythm`: no timer: the coefficient of variation of the times between onsets (0 at 0.05, 1 from 0.2), or the share
 *   of them within 2% of their median (1 up to 0.2, 0 from 0.5), whichever is worse
 * - `novelty`: the share of different triples of (duration, onset interval) among all: 0 at 0.5, 1 from 0.9; a loop repeats
 * - `overlap`: one pair of eyes is in one place: the share of dwell time that overlaps, 1 up to 0.05, 0 from 0.3
 * - `amplitude`, `rate` and `jitter`: see `judgeMovement`
 *
 * Where raw samples come more than 40 ms apart, times are multiples of that interval. `rhythm` then takes up to 0.75 of
 * intervals that are alike (0 from 0.9), `novelty` tells positions apart too (to 0.01 of the screen), and the ceiling is 0.8 times what
 * the source has.
 */
export function judgePlausibility(records: readonly Sample[]): Plausibility {
  const streams = scanpaths(records).map(judgeStream)
  const events = streams.reduce((sum, stream) => sum + stream.events, 0)
  if (events === 0) return { score: 0, checks: [{ name: 'events', score: 0 }] }
  const score = streams.reduce((sum, stream) => sum + stream.events * stream.score, 0) / events
  return { score, checks: streams.flatMap((stream) => stream.checks) }
}

function judgeStream(path: readonly Sample[]): Plausibility & { events: number } {
  const source = path[0]?.source ?? 'manual'
  const fixations = identifyFixations(path)
  const coarse = samplingInterval(path) > COARSE_MS
  if (fixations.length < LEAST_EVENTS) return { score: 0, events: 0, checks: [] }

  const durations = fixations.map((fixation) => fixation.end_ms - fixation.start_ms)
  const onsets = fixations.slice(1).map((fixation, i) => fixation.start_ms - (fixations[i]?.start_ms ?? 0))
  const logs = spread(durations.map(Math.log))
  const [none, low, high, over] = DURATIONS[source]
  const typical = median(durations) ?? 0
  const allowance = 0.1 + 0.8 / Math.sqrt(durations.length)
  const checks: Check[] = [
    { name: 'duration', score: Math.min(ramp(typical, none, low), ramp(typical, over, high)) },
    { name: 'variation', score: ramp(logs.deviation, ...LIMITS.variation) },
    { name: 'shape', score: ramp(logNormality(durations), -allowance, 0.3 - allowance) },
    { name: 'rhythm', score: rhythm(onsets, coarse ? LIMITS.rhythmAlikeCoarse : LIMITS.rhythmAlike) },
    { name: 'novelty', score: ramp(novelty(fixations, coarse ? cellOf : nowhere), ...LIMITS.novelty) },
    { name: 'overlap', score: ramp(overlap(path), ...LIMITS.overlap) },
    ...judgeMovement(path, fixations),
  ]
  const weakest = least(checks.map((check) => check.score))
  const ceiling = CEILING[source] * (coarse ? COARSE_CEILING : 1)
  return { score: weakest * ceiling, events: fixations.length, checks }
}

/**
 * ln(likelihood under the best log-normal) − ln(likelihood under the best uniform density), per duration. Maximum
 * likelihood gives −mean(ln d) − ln σ − ½ ln 2πe for the former and −ln(max − min) for the latter.
 */
function logNormality(durations: readonly number[]): number {
  const range = greatest(durations) - least(durations)
  const { mean, deviation } = spread(durations.map(Math.log))
  if (range === 0 || deviation === 0) return Number.NEGATIVE_INFINITY
  return -mean - Math.log(deviation) - 0.5 * Math.log(2 * Math.PI * Math.E) + Math.log(range)
}

function rhythm(onsets: readonly number[], alikeLimits: readonly [number, number]): number {
  const { mean, deviation } = spread(onsets)
  const middle = median(onsets) ?? 0
  if (!(middle > 0)) return 0
  const alike = onsets.filter((interval) => Math.abs(interval - middle) <= 0.02 * middle).length / onsets.length
  return Math.min(ramp(deviation / mean, ...LIMITS.rhythmVariation), ramp(alike, ...alikeLimits))
}

/** @param placeOf the place of a fixation, as far as it counts */
function novelty(fixations: readonly Fixation[], placeOf: (fixation: Fixation) => string): number {
  const steps = fixations.slice(1).map((next, i) => {
    const { start_ms, end_ms } = fixations[i] ?? next
    return `${end_ms - start_ms}/${next.start_ms - start_ms}${placeOf(next)}`
  })
  const triples = steps.slice(2).map((step, i) => `${steps[i]} ${steps[i + 1]} ${step}`)
  return new Set(triples).size / triples.length
}

const nowhere = () => ''
const cellOf = ({ x, y }: Fixation) => `@${x?.toFixed(2)},${y?.toFixed(2)}`

function overlap(path: readonly Sample[]): number {
  let seen = 0
  let dwell = 0
  let twice = 0
  for (const record of path) {
    const start = Date.parse(record.at)
    const end = start + record.dwell_ms
    dwell += record.dwell_ms
    twice += Math.max(0, Math.min(end, seen) - start)
    seen = Math.max(seen, end)
  }
  return dwell > 0 ? twice / dwell : 0
}
