import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { normal, randomOf } from './human-stream.ts'

/** Makes a copy of a stream. */
type Copy = (stream: readonly GazeTensor[], seed: number) => GazeTensor[]

const within = (share: number) => Math.min(1, Math.max(0, share))
const at = (record: GazeTensor) => Date.parse(record.at)
const beginOf = (stream: readonly GazeTensor[]) => Math.min(...stream.map(at))
const endOf = (stream: readonly GazeTensor[]) => Math.max(...stream.map((record) => at(record) + record.dwell_ms))

/** Copies at another place. Records without a position stay. */
const placed = (stream: readonly GazeTensor[], move: (x: number, y: number) => [x: number, y: number]): GazeTensor[] =>
  stream.map((record) => {
    const { x, y } = record.env
    if (x === undefined || y === undefined) return record
    const [toX, toY] = move(x, y)
    return { ...record, env: { ...record.env, x: within(toX), y: within(toY) } }
  })

/** Copies with other times: `move` maps ms since the beginning. Dwells keep their share. */
const timed = (stream: readonly GazeTensor[], times: number, later = 600_000): GazeTensor[] =>
  stream.map((record) => ({
    ...record,
    at: new Date(Math.round(beginOf(stream) + later + times * (at(record) - beginOf(stream)))).toISOString(),
    dwell_ms: Math.round(times * record.dwell_ms),
  }))

const reversed: Copy = (stream) => {
  const [begin, end] = [beginOf(stream), endOf(stream)]
  return stream
    .map((record) => ({ ...record, at: new Date(begin + end - at(record) - record.dwell_ms).toISOString() }))
    .reverse()
}

/** Noise of positions, as a share of the screen, and of dwells, as a share of them. */
const noisy = (stream: readonly GazeTensor[], noise: number, seed: number): GazeTensor[] => {
  const random = randomOf(seed)
  const dwells = stream.map((record) => ({
    ...record,
    dwell_ms: Math.max(0, Math.round(record.dwell_ms * (1 + noise * normal(random)))),
  }))
  return placed(dwells, (x, y) => [x + noise * normal(random), y + noise * normal(random)])
}

const mirrored: Copy = (stream) =>
  timed(
    placed(stream, (x, y) => [1 - x, y]),
    1,
  )

/** Copies of a stream that somebody may pass for a new one. */
export const COPIES: Readonly<Record<string, Copy>> = {
  'the same at another time': (stream) => timed(stream, 1),
  'one value changed': (stream) =>
    timed(stream, 1).map((record, index) =>
      index === 10 ? { ...record, env: { ...record.env, x: within((record.env.x ?? 0) + 0.1) } } : record,
    ),
  'shifted on the screen': (stream) =>
    timed(
      placed(stream, (x, y) => [x + 0.05, y - 0.05]),
      1,
    ),
  mirrored,
  'upside down': (stream) =>
    timed(
      placed(stream, (x, y) => [x, 1 - y]),
      1,
    ),
  'with the axes exchanged': (stream) =>
    timed(
      placed(stream, (x, y) => [y, x]),
      1,
    ),
  'smaller by a half': (stream) =>
    timed(
      placed(stream, (x, y) => [0.25 + x / 2, 0.25 + y / 2]),
      1,
    ),
  'from the end to the beginning': (stream) => timed(reversed(stream, 0), 1),
  '0.8 times as long': (stream) => timed(stream, 0.8),
  '1.25 times as long': (stream) => timed(stream, 1.25),
  'with noise of 0.005': (stream, seed) => timed(noisy(stream, 0.005, seed), 1),
  'with noise of 0.02': (stream, seed) => timed(noisy(stream, 0.02, seed), 1),
  'without every tenth record': (stream) =>
    timed(
      stream.filter((_, index) => index % 10 !== 5),
      1,
    ),
  'mirrored, backwards, 0.9 times as long, with noise of 0.02': (stream, seed) =>
    timed(noisy(reversed(mirrored(stream, seed), seed), 0.02, seed), 0.9),
}
