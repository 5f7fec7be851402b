import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { normal, randomOf } from './human-stream.ts'
import { COPIES } from './near-copies.ts'

/** Records that somebody sends to pass for a reader, the key that sends them, and when: at their end by default. */
export interface Attack {
  records: GazeTensor[]
  key?: string
  sentAt?: Date
}

const MINUTE_MS = 60_000
const OTHER_KEY = 'key_of_another'
const start = (record: GazeTensor | undefined) => Date.parse(record?.at ?? '')
const beginAt = (records: readonly GazeTensor[], ms: number): GazeTensor[] =>
  records.map((record) => ({ ...record, at: new Date(ms + start(record) - start(records[0])).toISOString() }))
const later = (records: readonly GazeTensor[]) => beginAt(records, start(records[0]) + 10 * MINUTE_MS)
const endMs = (records: readonly GazeTensor[]) => Math.max(...records.map((record) => start(record) + record.dwell_ms))

/** Puts streams one after another, 200 ms apart. */
function joined(...streams: ReadonlyArray<readonly GazeTensor[]>): GazeTensor[] {
  const all: GazeTensor[] = []
  for (const stream of streams) all.push(...beginAt(stream, all.length === 0 ? start(stream[0]) : endMs(all) + 200))
  return all
}

const half = (stream: readonly GazeTensor[], second: boolean): GazeTensor[] =>
  second ? stream.slice(stream.length / 2) : stream.slice(0, stream.length / 2)

const stretched = (stream: readonly GazeTensor[], times: number): GazeTensor[] =>
  stream.map((record) => ({
    ...record,
    at: new Date(Math.round(start(stream[0]) + times * (start(record) - start(stream[0])))).toISOString(),
    dwell_ms: Math.round(times * record.dwell_ms),
  }))

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomOf(seed)
  return items
    .map((item) => ({ item, by: random() }))
    .sort((one, other) => one.by - other.by)
    .map(({ item }) => item)
}

const chunksOf = (stream: readonly GazeTensor[], size: number): GazeTensor[][] =>
  Array.from({ length: Math.ceil(stream.length / size) }, (_, i) => stream.slice(i * size, (i + 1) * size))

const withPlaces = (stream: readonly GazeTensor[], place: (x: number, y: number, index: number) => [number, number]) =>
  stream.map((record, index) => {
    const [x, y] = place(record.env.x ?? 0.5, record.env.y ?? 0.5, index)
    return { ...record, env: { ...record.env, x: Math.min(1, Math.max(0, x)), y: Math.min(1, Math.max(0, y)) } }
  })

/**
 * Attacks on the level `plausible`, beside the near copies. `stored(seed)` is a stream that the attacking key stored
 * before, `unseen(seed)` a new one by a program that simulates a reader.
 */
export const ATTACKS: Readonly<
  Record<
    string,
    (stored: (seed: number) => GazeTensor[], seed: number, unseen: (seed: number) => GazeTensor[]) => Attack
  >
> = {
  'the same stream by another key': (stored, seed) => ({ records: later(stored(seed)), key: OTHER_KEY }),
  // Of a stream that nobody has mirrored before: the copy would be a replay of that one.
  'a mirrored stream by another key': (stored, seed) => ({
    records: COPIES.mirrored?.(stored(seed + 100), seed) ?? [],
    key: OTHER_KEY,
  }),
  'the same stream with other files': (stored, seed) => ({
    records: later(stored(seed)).map((record) => ({
      ...record,
      env: { ...record.env, path: `other/${seed}.ts`, line_start: 1, line_end: 9 },
    })),
  }),
  'the same stream as one of another source': (stored, seed) => ({
    records: later(stored(seed)).map((record) => ({ ...record, source: 'webcam' })),
  }),
  'the same stream, dated back by an hour': (stored, seed) => {
    const records = beginAt(stored(seed), start(stored(seed)[0]) - 60 * MINUTE_MS)
    return { records, sentAt: new Date(endMs(stored(seed))) }
  },
  'places rounded to a fiftieth of the screen': (stored, seed) => ({
    records: withPlaces(later(stored(seed)), (x, y) => [Math.round(50 * x) / 50, Math.round(50 * y) / 50]),
  }),
  'parts of ten records in another order': (stored, seed) => ({
    records: later(joined(...shuffled(chunksOf(stored(seed), 10), seed))),
  }),
  'half of one stream and half of another, 1.1 times as long': (stored, seed) => ({
    records: later(joined(stretched(half(stored(seed), false), 1.1), stretched(half(stored(seed + 100), true), 1.1))),
  }),
  'half a copy, then half a new stream': (stored, seed, unseen) => ({
    records: later(joined(half(stored(seed), false), half(unseen(seed), true))),
  }),
  'the times of one stream with the places of another': (stored, seed) => {
    const places = stored(seed + 100)
    const records = later(stored(seed))
    return {
      records: withPlaces(records, (x, y, index) => {
        const env: Partial<GazeTensor['env']> = places[index % places.length]?.env ?? {}
        return [env.x ?? x, env.y ?? y]
      }),
    }
  },
  'the mean of two streams': (stored, seed) => {
    const other = stored(seed + 100)
    return {
      records: withPlaces(later(stored(seed)), (x, y, index) => {
        const env: Partial<GazeTensor['env']> = other[index % other.length]?.env ?? {}
        return [(x + (env.x ?? x)) / 2, (y + (env.y ?? y)) / 2]
      }),
    }
  },
  'a stream with noise of 0.1': (stored, seed) => {
    const random = randomOf(seed)
    return { records: withPlaces(later(stored(seed)), (x, y) => [x + 0.1 * normal(random), y + 0.1 * normal(random)]) }
  },
}
