import { endOf, type Sample, scanpaths } from './scanpath.ts'

/** Points of a sketch on each axis. */
const POINTS = 128
/** Points on either side of one whose mean is taken off it: what is left are the single moves, not the way down a page. */
const BESIDE = 8
/** Greatest value of a point, in a byte. */
const MOST = 127

/**
 * Draws the way of the gaze as a short text, for `likeness`. Time is relative to the whole stream, so that another beginning and
 * another speed leave the sketch as it is. Streams without positions are drawn by the lengths of their dwells.
 *
 * @param records of one session; the source with the most of them is drawn
 * @returns null where nothing moves
 */
export function sketchOf(records: readonly Sample[]): string | null {
  const paths = scanpaths(records)
  const path = paths.toSorted((one, other) => other.length - one.length)[0] ?? []
  const placed = path.filter(({ env }) => env.x !== undefined && env.y !== undefined)
  const axes =
    2 * placed.length > path.length
      ? [drawn(placed, ({ env }) => env.x as number), drawn(placed, ({ env }) => env.y as number)]
      : [drawn(path, ({ dwell_ms }) => Math.log(1 + dwell_ms))]
  const greatest = Math.max(...axes.flat().map(Math.abs))
  if (greatest < 1e-6) return null
  const bytes = axes.flat().map((value) => Math.round((MOST * value) / greatest))
  return Buffer.from(Int8Array.from(bytes).buffer).toString('base64')
}

/** Averages a value over each point of time, and takes the mean of the points around it off. A gap is halved between its sides. */
function drawn(path: readonly Sample[], valueIn: (sample: Sample) => number): number[] {
  const begin = Date.parse(path[0]?.at ?? '')
  const end = Math.max(begin + 1, ...path.map(endOf))
  const pointAt = (ms: number) => ((ms - begin) / (end - begin)) * POINTS
  const [sums, weights] = [new Array<number>(POINTS).fill(0), new Array<number>(POINTS).fill(0)]
  let from = 0
  for (const [index, sample] of path.entries()) {
    const next = path[index + 1]
    const to = next === undefined ? POINTS : pointAt((endOf(sample) + Date.parse(next.at)) / 2)
    const value = valueIn(sample)
    for (let point = Math.floor(from); point < Math.min(POINTS, to); point++) {
      const weight = Math.max(0, Math.min(point + 1, to) - Math.max(point, from))
      sums[point] = (sums[point] as number) + weight * value
      weights[point] = (weights[point] as number) + weight
    }
    from = Math.max(from, to)
  }
  const means = sums.map((sum, point) => (weights[point] ? sum / weights[point] : 0))
  return means.map((value, point) => {
    const around = means.slice(Math.max(0, point - BESIDE), point + BESIDE + 1)
    return value - around.reduce((sum, one) => sum + one, 0) / around.length
  })
}

/**
 * Measures how like two streams are, forwards or backwards, mirrored on either axis, or with the axes exchanged.
 *
 * ```formula
 * likeness = max (|x · x′| + |y · y′|) / √((x² + y²) · (x′² + y′²)), over the ways to lay one upon the other
 * ```
 *
 * @param one from `sketchOf`
 * @returns 0 (nothing in common) to 1 (the same)
 */
export function likeness(one: string, other: string): number {
  const [a, b] = [axesOf(one), axesOf(other)]
  if (a.length !== b.length) return 0
  const energy = Math.sqrt(
    sum(a.map((axis) => products(axis, axis)[0])) * sum(b.map((axis) => products(axis, axis)[0])),
  )
  const laid = [b, b.toReversed()].flatMap((axes) => {
    const pairs = a.map((axis, at) => products(axis, axes[at] as Int8Array))
    return [0, 1].map((way) => sum(pairs.map((pair) => Math.abs(pair[way] as number))))
  })
  return Math.max(...laid) / energy
}

function axesOf(sketch: string): Int8Array[] {
  const bytes = Buffer.from(sketch, 'base64')
  const points = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: points.length / POINTS }, (_, at) => points.subarray(at * POINTS, (at + 1) * POINTS))
}

/** The products of one axis with another, forwards and backwards. */
function products(one: Int8Array, other: Int8Array): [forwards: number, backwards: number] {
  let [forwards, backwards] = [0, 0]
  for (let point = 0; point < POINTS; point++) {
    const value = one[point] as number
    forwards += value * (other[point] as number)
    backwards += value * (other[POINTS - 1 - point] as number)
  }
  return [forwards, backwards]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
