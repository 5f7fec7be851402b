import { type Fixation, identifyFixations, samplingInterval } from './fixations.ts'
import { judgeMovement, type MovementCheck } from './movement.ts'
import { type Sample, scanpaths } from './scanpath.ts'
import { greatest, least, median, ramp, spread } from './statistics.ts'
import type { GazeSource } from './tensor.ts'

/** Fewest fixations or dwells that show a distribution. */
const LEAST_EVENTS = 10

/** One comparison of a stream with a person's attention: 0 is impossible, 1 is typical. */
interface Check {
  name: 'events' | 'duration' | 'variation' | 'shape' | 'rhythm' | 'novelty' | 'overlap' | MovementCheck['name']
  score: number
}

/** The plausibility of a session, 0 to 1, and all checks that it follows from. */
export interface Plausibility {
  score: number
  /** False when no source has enough events to be judged; the score is then 0. */
  isMeasured: boolean
  checks: Check[]
}

/**
 * Highest plausibility by source. An eye tracker measures the eye itself. An editor or a pointer shows only what the
 * person had open or pointed at. A manual record is a claim: a manual stream alone never passes.
 */
export const CEILING: Record<GazeSource, number> = { eye_tracker: 1, webcam: 0.95, pointer: 0.8, ide: 0.8, manual: 0.2 }

/**
 * Interval in ms above which samples are coarse and hide the ends of fixations. 25 samples a second resolve a fixation
 * of 250 ms to about a sixth.
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
 * Judges how plausible it is that records come from a living person's attention, 0 to 1.
 *
 * Each source is judged by its fixations (its dwells, if they have no screen position). Its score is the weakest check
 * times the ceiling of the source. Several sources are averaged, weighted by their events. Sources with fewer than ten
 * events do not count.
 *
 * - `duration`: the median lies in the usual range of this source
 * - `variation`: the standard deviation of ln(duration): 0 at 0.10 or less, 1 from 0.25 (people's fixations: 0.3 to
 *   0.6)
 * - `shape`: log-normal rather than flat. Mean log-likelihood ratio per event of the best log-normal over the best
 *   uniform density: 0 at −a, 1 from 0.3 − a. a = 0.1 + 0.8 / √n allows for chance in n events. Fixation durations are
 *   right-skewed and near log-normal (Velichkovsky et al. 2000; Guy, Lancry-Dayan & Pertzov 2020). Twenty events show
 *   little of the shape, sixty most, two hundred nearly all
 * - `rhythm`: no timer. The worse of two scores: the coefficient of variation of the times between onsets (0 at 0.05, 1
 *   from 0.2), and the share of these times within 2% of their median (1 up to 0.2, 0 from 0.5)
 * - `novelty`: no loop. The share of distinct values among all triples of (duration, onset interval): 0 at 0.5, 1 from
 *   0.9
 * - `overlap`: one pair of eyes is in one place. The share of dwell time that overlaps: 1 up to 0.05, 0 from 0.3
 * - `amplitude`, `rate` and `jitter`: see `judgeMovement`
 *
 * Raw samples more than 40 ms apart are coarse: times are multiples of that interval. Then:
 * - `rhythm` allows a share of equal intervals up to 0.75 (0 from 0.9)
 * - `novelty` also compares positions, to 0.01 of the screen
 * - the ceiling is multiplied by 0.8
 */
export function judgePlausibility(records: readonly Sample[]): Plausibility {
  const streams = scanpaths(records).map(judgeStream)
  const events = streams.reduce((sum, stream) => sum + stream.events, 0)
  if (events === 0) return { score: 0, isMeasured: false, checks: [{ name: 'events', score: 0 }] }
  const score = streams.reduce((sum, stream) => sum + stream.events * stream.score, 0) / events
  return { score, isMeasured: true, checks: streams.flatMap((stream) => stream.checks) }
}

function judgeStream(path: readonly Sample[]): Omit<Plausibility, 'isMeasured'> & { events: number } {
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

/** @param placeOf the place of a fixation, as `novelty` compares it; empty to ignore places */
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
