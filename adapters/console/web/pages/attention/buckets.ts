import type { GazeRecord, GazeTensor } from '../../../../../src/gaze/tensor.ts'

/** Row of the heat map: a place, or some lines of it, with the dwell in each step of time, in milliseconds. */
export interface HeatRow {
  place: string
  cells: number[]
  total: number
}

/** Attention by place and time. `from` and `step` are in milliseconds, `from` since 1970. */
export interface HeatMap {
  rows: HeatRow[]
  from: number
  step: number
  /** Longest dwell of one cell. */
  greatest: number
  /** Number of places without a row. */
  others: number
}

/** Lines per row. */
const LINES = 10
const MAX_ROWS = 14

/** Sums dwell by place over equal steps of time. Records with lines are grouped by ten lines. */
export function heatOf(records: readonly GazeRecord[], steps: number): HeatMap {
  const { from, step } = span(records, steps)
  const rows = new Map<string, HeatRow>()
  for (const record of records) {
    const place = regionOf(record)
    const row = rows.get(place) ?? { place, cells: new Array<number>(steps).fill(0), total: 0 }
    rows.set(place, row)
    const at = Math.min(steps - 1, Math.floor((Date.parse(record.at) - from) / step))
    row.cells[at] = (row.cells[at] ?? 0) + record.dwell_ms
    row.total += record.dwell_ms
  }
  const sorted = [...rows.values()].sort((a, b) => b.total - a.total)
  const shown = sorted.slice(0, MAX_ROWS)
  return {
    rows: shown,
    from,
    step,
    greatest: Math.max(1, ...shown.flatMap(({ cells }) => cells)),
    others: sorted.length - shown.length,
  }
}

/**
 * Sums dwell by position in the window: `rows` × `columns` cells, in milliseconds. Null when no record has a position.
 */
export function positionsOf(records: readonly GazeRecord[], columns: number, rows: number): number[][] | null {
  const placed = records.filter(({ env }) => env.x !== undefined && env.y !== undefined)
  if (placed.length === 0) return null
  const cells = Array.from({ length: rows }, () => new Array<number>(columns).fill(0))
  for (const { env, dwell_ms } of placed) {
    const row = cells[Math.min(rows - 1, Math.floor((env.y ?? 0) * rows))]
    const column = Math.min(columns - 1, Math.floor((env.x ?? 0) * columns))
    // A raw sample of an eye tracker has no dwell of its own, and counts as 1 ms.
    if (row) row[column] = (row[column] ?? 0) + Math.max(1, dwell_ms)
  }
  return cells
}

/** The three channels over time. */
export interface Channels {
  cog: [number, number | null][]
  emo: [number, number | null][]
  env: [number, number | null][]
}

/**
 * Computes the activity of each channel over time, as in the classification. A step in which a channel was not measured is a gap. Means are
 * weighted by dwell.
 *
 * - COG = (focus + load) / 2
 * - EMO = (abs(valence) + arousal) / 2
 * - ENV = (distraction + switching) / 2; switching is the share of records that changed the place
 *
 * @param records in order of time
 */
export function channelsOf(records: readonly GazeRecord[], steps: number): Channels {
  const { from, step } = span(records, steps)
  const sums = Array.from({ length: steps }, () => ({
    weight: 0,
    cog: none(),
    emo: none(),
    distraction: 0,
    moves: 0,
    count: 0,
  }))
  for (const [i, record] of records.entries()) {
    const sum = sums[Math.min(steps - 1, Math.floor((Date.parse(record.at) - from) / step))]
    if (!sum) continue
    const { cog, emo, env, dwell_ms } = record
    const weight = Math.max(1, dwell_ms)
    const before = records[i - 1]
    sum.weight += weight
    addTo(sum.cog, [cog?.focus, cog?.load], weight)
    addTo(sum.emo, [emo?.valence, emo?.arousal], weight)
    sum.distraction += weight * (env.distraction ?? 0)
    sum.count++
    if (before && placeOf(before) !== placeOf(record)) sum.moves++
  }
  const line = (of: (sum: (typeof sums)[number]) => number) =>
    sums.map((sum, i): [number, number | null] => {
      const activity = of(sum)
      return [from + (i + 0.5) * step, Number.isNaN(activity) ? null : Math.round(activity * 1000) / 1000]
    })
  // A step without weight is 0 / 0, a gap.
  return {
    cog: line((sum) => sum.cog.total / sum.cog.weight),
    emo: line((sum) => sum.emo.total / sum.emo.weight),
    env: line((sum) => (sum.distraction / sum.weight + sum.moves / sum.count) / 2),
  }
}

const none = () => ({ total: 0, weight: 0 })

/** Adds the mean amount of the parts of a channel that were measured. */
function addTo(sum: ReturnType<typeof none>, parts: readonly (number | undefined)[], weight: number): void {
  const measured = parts.filter((part) => part !== undefined).map(Math.abs)
  if (measured.length === 0) return
  sum.weight += weight
  sum.total += (weight * measured.reduce((total, part) => total + part, 0)) / measured.length
}

function regionOf(record: GazeRecord): string {
  const place = placeOf(record)
  const line = record.env.line_start
  if (line === undefined) return place
  const first = Math.floor((line - 1) / LINES) * LINES + 1
  return `${place} : ${first}–${first + LINES - 1}`
}

function span(records: readonly GazeRecord[], steps: number): { from: number; step: number } {
  const starts = records.map(({ at }) => Date.parse(at))
  const ends = records.map(({ at, dwell_ms }) => Date.parse(at) + dwell_ms)
  const from = starts.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const to = ends.reduce((most, at) => Math.max(most, at), Number.NEGATIVE_INFINITY)
  return records.length === 0 ? { from: 0, step: 1 } : { from, step: Math.max(1, (to - from) / steps) }
}

/** Place of a record: a file, an address or a program. */
const placeOf = ({ env }: Pick<GazeTensor, 'env'>): string => env.path ?? env.url ?? env.app ?? 'no place named'
