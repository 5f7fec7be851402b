import { bridgedMs, findSaccades, MAX_SACCADE_MS, MIN_FIXATION_MS, samplingInterval } from './fixations.ts'
import type { Sample } from './scanpath.ts'
import { median, ramp, spread } from './statistics.ts'

/** Fewest movements, and fewest pairs of neighbouring samples, that show a distribution. */
const LEAST_MOVES = 10
const LEAST_PAIRS = 30

type Fixations = Parameters<typeof findSaccades>[0]

/** One comparison of eye movements with a person's: 0 is impossible, 1 is typical. */
export interface MovementCheck {
  name: 'amplitude' | 'rate' | 'jitter'
  score: number
}

/** Values at which each check scores 0 and 1, see `judgeMovement`. */
export const MOVEMENT_LIMITS = {
  amplitudeMedian: [0.42, 0.3],
  amplitudeVariation: [0.1, 0.3],
  fewSaccades: [0.1, 0.4],
  manySaccades: [10, 6],
  still: [0.9, 0.5],
} as const

/**
 * Judges the movements of one stream with positions.
 *
 * - `amplitude`, from ten saccades: the worse of two scores.
 *   - The median saccade: 1 up to 0.30 of the screen, 0 from 0.42. Most saccades are short (4° to 5° on average in
 *     scenes, about 0.1 of a screen: Rayner 2009). Random points are 0.51 apart.
 *   - The coefficient of variation of all saccades: 0 at 0.1, 1 from 0.3. Real amplitudes are near exponential, which
 *     has 1 (Tatler et al. 2006). Equal steps have 0.
 * - `rate`, of an eye tracker or a webcam, from ten fixations with a position: saccades per second of observed time. 1
 *   from 0.4 to 6, 0 at 0.1 or less and from 10. People make 2 to 5 (Rayner 2009; Henderson 2003). They cannot make
 *   more than about one every 100 to 150 ms (Carpenter 1988). Eyes that never leave a place are a picture of eyes.
 * - `jitter`, of raw samples of an eye tracker or webcam, from thirty pairs of neighbours: the share of samples at the
 *   exact position of the sample before. 1 up to 0.5, 0 from 0.9. Eyes drift and tremble within a fixation, and
 *   trackers add noise of 0.01° to 1° between neighbours (Holmqvist et al. 2012). An exactly repeated position is
 *   artificial. A constant sampling rate proves nothing, because trackers have one.
 *
 * @param path one scanpath, in order of time
 * @param fixations those of `path`
 */
export function judgeMovement(path: readonly Sample[], fixations: Fixations): MovementCheck[] {
  const checks: MovementCheck[] = []
  const amplitudes = findSaccades(fixations).map((saccade) => saccade.amplitude)
  const jump = median(amplitudes)
  if (jump !== null && amplitudes.length >= LEAST_MOVES) {
    const { mean, deviation } = spread(amplitudes)
    checks.push({
      name: 'amplitude',
      score: Math.min(
        ramp(jump, ...MOVEMENT_LIMITS.amplitudeMedian),
        ramp(deviation / mean, ...MOVEMENT_LIMITS.amplitudeVariation),
      ),
    })
  }
  const source = path[0]?.source
  if (source !== 'eye_tracker' && source !== 'webcam') return checks

  if (fixations.filter(({ x, y }) => x !== null && y !== null).length >= LEAST_MOVES) {
    const perSecond = (1000 * amplitudes.length) / seenMs(fixations)
    checks.push({
      name: 'rate',
      score: Math.min(
        ramp(perSecond, ...MOVEMENT_LIMITS.fewSaccades),
        ramp(perSecond, ...MOVEMENT_LIMITS.manySaccades),
      ),
    })
  }
  const still = stillShare(path)
  if (still !== null) checks.push({ name: 'jitter', score: ramp(still, ...MOVEMENT_LIMITS.still) })
  return checks
}

/** Sums the time inside fixations and in the movements between them, in ms. */
function seenMs(fixations: Fixations): number {
  return fixations.reduce((seen, { start_ms, end_ms }, i) => {
    const pause = start_ms - (fixations[i - 1]?.end_ms ?? start_ms)
    return seen + (end_ms - start_ms) + (pause > 0 && pause <= MAX_SACCADE_MS ? pause : 0)
  }, 0)
}

/** Share of raw samples at the position of the previous sample; null with too few samples. */
function stillShare(path: readonly Sample[]): number | null {
  const bridged = bridgedMs(samplingInterval(path))
  let pairs = 0
  let still = 0
  for (const [i, next] of path.entries()) {
    const last = path[i - 1]
    if (last === undefined || last.dwell_ms >= MIN_FIXATION_MS || next.dwell_ms >= MIN_FIXATION_MS) continue
    if (last.env.x === undefined || last.env.y === undefined) continue
    if (Date.parse(next.at) - Date.parse(last.at) > bridged) continue
    pairs++
    if (last.env.x === next.env.x && last.env.y === next.env.y) still++
  }
  return pairs < LEAST_PAIRS ? null : still / pairs
}
