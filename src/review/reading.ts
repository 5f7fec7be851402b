import { changedRows, type Hunk, type Part } from './part.ts'
import type { PartCoverage } from './statement.ts'

/** Visible time that a changed line needs to count as seen, in ms. */
const SEEN_MS = 250

/** Greatest difference between the clocks of the client and the gateway, in ms. */
const CLOCK_SKEW_MS = 60_000

/** Lines of a file that were in view for a while, as a gaze record says it. */
export interface Sighting {
  path: string
  line_start: number
  line_end: number
  /** Start of the view, by the client's clock, and its length, in ms. */
  at: number
  dwell_ms: number
  /** Time at which the gateway received it, in ms. */
  received: number
}

/** Reading of one part of a change. */
export interface PartReading extends PartCoverage {
  /** Changed lines that were in view for 250 ms, whatever else was in view. A script that scrolls exposes every line. */
  exposed: number
  /** Time in view before the first line of it, in ms; null when it was never in view. */
  first_ms: number | null
  /** Number of times that it came into view. */
  visits: number
}

/** Reading of a change. */
export interface Reading {
  parts: PartReading[]
  /** Time in which lines were in view, never more than the gateway's own clock saw pass, in ms. */
  active_ms: number
}

/** Time of one line. */
interface Line {
  budget: number
  exposure: number
}

interface Tracked {
  part: Part
  /** Time of each row of a hunk; empty for an item. */
  lines: Line[]
  first: number | null
  visits: number
  inView: boolean
}

/**
 * Computes how far a change was read. Visible time is a budget: each millisecond is shared among the lines in view. A moment
 * counts once, whatever else arrives about it later. The total never exceeds the time that passed at the gateway since the
 * review began.
 *
 * ```formula
 * seen: a changed line with Σ over moments in view (ms / lines in view) ≥ 250 ms
 * ```
 *
 * @param sightings in the order in which they were received
 * @param acknowledged digests of items that the reviewer acknowledged
 * @param started time at which the review began at the gateway, in ms
 */
export function readingOf(
  parts: readonly Part[],
  sightings: readonly Sighting[],
  acknowledged: ReadonlySet<string>,
  started: number,
): Reading {
  const tracked = parts.map((part): Tracked => {
    const lines = part.kind === 'hunk' ? part.rows.map(() => ({ budget: 0, exposure: 0 })) : []
    return { part, lines, first: null, visits: 0, inView: false }
  })
  const byPath = groupedBy(tracked, ({ part }) => part.path)
  let active = 0
  let until = started - CLOCK_SKEW_MS
  for (const [received, batch] of groupedBy(sightings, (sighting) => sighting.received)) {
    const moments = momentsIn(batch, until, received + CLOCK_SKEW_MS)
    const length = moments.reduce((sum, { ms }) => sum + ms, 0)
    const allowed = Math.max(0, received - started - active)
    const share = length === 0 ? 0 : Math.min(1, allowed / length)
    until = moments.at(-1)?.end ?? until
    for (const moment of moments) {
      credit(tracked, byPath, moment, share, active)
      active += moment.ms * share
    }
  }
  return { parts: tracked.map((one) => readingOfPart(one, acknowledged)), active_ms: Math.round(active) }
}

function groupedBy<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}

/** A while in which the same lines were in view. */
interface Moment {
  ms: number
  end: number
  sightings: Sighting[]
}

/** Cuts sightings that arrived together at their starts and ends, between two times. */
function momentsIn(batch: readonly Sighting[], from: number, to: number): Moment[] {
  const within = (time: number) => Math.min(Math.max(time, from), to)
  const times = batch.flatMap(({ at, dwell_ms }) => [within(at), within(at + dwell_ms)])
  const cuts = [...new Set(times)].sort((one, other) => one - other)
  const starting = [...batch].sort((one, other) => one.at - other.at)
  let open: Sighting[] = []
  let next = 0
  return cuts.slice(0, -1).flatMap((start, index) => {
    const end = cuts[index + 1] as number
    while (next < starting.length && (starting[next] as Sighting).at <= start) open.push(starting[next++] as Sighting)
    open = open.filter(({ at, dwell_ms }) => at + dwell_ms > start)
    return open.length === 0 ? [] : [{ ms: end - start, end, sightings: open }]
  })
}

function credit(
  tracked: readonly Tracked[],
  byPath: ReadonlyMap<string, readonly Tracked[]>,
  { ms, sightings }: Moment,
  share: number,
  active: number,
): void {
  const seen = new Map<Tracked, Set<Line>>()
  for (const { path, line_start, line_end } of sightings)
    for (const one of byPath.get(path) ?? []) {
      const lines = linesIn(one, line_start, line_end)
      if (lines.length > 0) seen.set(one, new Set([...(seen.get(one) ?? []), ...lines]))
    }
  const rows = [...seen.values()].reduce((sum, lines) => sum + lines.size, 0)
  const spans = new Set(sightings.map(({ path, line_start, line_end }) => `${line_start} ${line_end} ${path}`))
  const span = [...spans].reduce((sum, text) => sum + lengthOf(text), 0)
  const each = (ms * share) / Math.max(rows, span, 1)
  for (const lines of seen.values())
    for (const line of lines) {
      line.budget += each
      line.exposure += ms * share
    }
  for (const one of tracked) {
    const inView = seen.has(one)
    if (inView && !one.inView) one.visits++
    if (inView) one.first ??= Math.round(active)
    one.inView = inView
  }
}

function lengthOf(span: string): number {
  const [start, end] = span.split(' ')
  return Number(end) - Number(start) + 1
}

/**
 * Finds the rows of a hunk in a range of lines of the new file. Removed lines stand before the next line of the new file;
 * those of a removed file have their old numbers.
 */
function linesIn({ part, lines }: Tracked, from: number, to: number): Line[] {
  if (part.kind !== 'hunk') return []
  const places = placesOf(part)
  return lines.filter((_, index) => (places[index] as number) >= from && (places[index] as number) <= to)
}

const known = new WeakMap<Hunk, number[]>()

function placesOf(hunk: Hunk): number[] {
  const found = known.get(hunk)
  if (found !== undefined) return found
  const isRemoved = hunk.rows.every((row) => row.new === null)
  let next = hunk.rows.findLast((row) => row.new !== null)?.new ?? 0
  const places = hunk.rows
    .toReversed()
    .map((row) => {
      if (isRemoved) return row.old as number
      next = row.new ?? next
      return next
    })
    .reverse()
  known.set(hunk, places)
  return places
}

function readingOfPart({ part, lines, first, visits }: Tracked, acknowledged: ReadonlySet<string>): PartReading {
  const { digest, path } = part
  if (part.kind !== 'hunk') {
    const seen = acknowledged.has(digest) ? 1 : 0
    return { digest, path, lines: 1, seen, seen_ms: 0, exposed: seen, first_ms: null, visits: 0 }
  }
  const changed = lines.filter((_, index) => part.rows[index]?.kind !== ' ')
  return {
    digest,
    path,
    lines: changedRows(part).length,
    seen: changed.filter(({ budget }) => budget >= SEEN_MS).length,
    seen_ms: Math.round(changed.reduce((sum, { budget }) => sum + budget, 0)),
    exposed: changed.filter(({ exposure }) => exposure >= SEEN_MS).length,
    first_ms: first,
    visits,
  }
}
