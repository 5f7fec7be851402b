import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import type { Part } from './change-parts.ts'
import { firstScanOf } from './first-scan.ts'
import { countGesture, type Gesture, type GestureCounts } from './gestures.ts'
import { lineNumbersOf } from './line-numbers.ts'
import { paceOf } from './reading-pace.ts'
import type { PartReading } from './review-record.ts'

/** Visible time that a changed line needs to count as seen, in ms. */
const SEEN_MS = 250

/** Lines of one view above which nothing is legible, on the tallest of screens. */
const MOST_LINES = 500

/** Views that count at one moment: hunks below each other, windows and panes beside each other. */
const MOST_VIEWS = 64

/** Greatest difference between the clocks of the client and the gateway, in ms. */
export const CLOCK_SKEW_MS = 60_000

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

/** Parts that a page shows: those of the change, and a hunk that is none of it. */
interface Shown {
  parts: readonly Part[]
  canary: Part | null
}

/** Records and acts of a reading. */
export interface ReadingEvidence {
  /** In the order in which they were received. */
  sightings: readonly Sighting[]
  gestures: readonly Gesture[]
  /** Digests of items that the reviewer acknowledged. */
  acknowledged: ReadonlySet<string>
}

/** Reading of a change. The canary is in no sum. */
export interface Reading {
  parts: PartReading[]
  canary: PartReading | null
  /** Time in which lines were in view, never more than the gateway's own clock saw pass, in ms. */
  active_ms: number
  ms_per_line: number | null
  first_scan_ms: number | null
}

/** A row of a hunk, and its time. */
interface Line {
  /** Number of the line of the new file at which it stands. */
  place: number
  isChanged: boolean
  hunk: Tracked
  budget: number
  exposure: number
  /** Active time after which it had been in view for 250 ms. */
  scannedAt: number | null
}

interface Tracked {
  part: Part
  lines: Line[]
  first: number | null
  visits: number
  gestures: GestureCounts
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
 * @param started time at which the review began at the gateway, in ms
 */
export async function readingOf(
  { parts, canary }: Shown,
  { sightings, gestures, acknowledged }: ReadingEvidence,
  started: number,
): Promise<Reading> {
  const tracked = [...parts, ...(canary === null ? [] : [canary])].map(track)
  const byPath = groupedBy(
    tracked.flatMap(({ lines }) => lines),
    ({ hunk }) => hunk.part.path,
  )
  for (const lines of byPath.values()) lines.sort((one, other) => one.place - other.place)
  const legible = sightings.filter(({ line_start, line_end }) => line_end - line_start < MOST_LINES)
  let active = 0
  let until = started - CLOCK_SKEW_MS
  let inView: ReadonlySet<Tracked> = new Set()
  for (const [received, batch] of groupedBy(legible, (sighting) => sighting.received)) {
    const moments = momentsIn(batch, until, received + CLOCK_SKEW_MS)
    const length = moments.reduce((sum, { ms }) => sum + ms, 0)
    const allowed = Math.max(0, received - started - active)
    const share = length === 0 ? 0 : Math.min(1, allowed / length)
    until = moments.at(-1)?.end ?? until
    for (const { ms, sightings } of moments) {
      await yieldToEventLoop()
      inView = credit(byPath, sightings, ms * share, { active, inView })
      active += ms * share
    }
  }
  await countGestures(tracked, byPath, gestures)
  const own = tracked.slice(0, parts.length)
  const [ofCanary = null] = tracked.slice(parts.length).map((one) => readingOfPart(one, acknowledged))
  const changed = own.flatMap(({ lines }) => lines.filter(({ isChanged }) => isChanged))
  const lines = parts.reduce((sum, part) => sum + part.lines, 0)
  return {
    parts: own.map((one) => readingOfPart(one, acknowledged)),
    canary: ofCanary,
    active_ms: Math.round(active),
    ms_per_line: paceOf(active, lines),
    first_scan_ms: firstScanOf(changed.map(({ scannedAt }) => scannedAt)),
  }
}

/** Prepares the rows of a hunk. */
function track(part: Part): Tracked {
  const gestures = { pointer_ms: 0, selections: 0, comments: 0 }
  const hunk: Tracked = { part, lines: [], first: null, visits: 0, gestures }
  if (part.kind !== 'hunk') return hunk
  const { rows } = part
  hunk.lines = lineNumbersOf(rows).map((place, index) => {
    const isChanged = rows[index]?.kind !== ' '
    return { place, isChanged, hunk, budget: 0, exposure: 0, scannedAt: null }
  })
  return hunk
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
    return open.length === 0 ? [] : [{ ms: end - start, end, sightings: legibleOf(open) }]
  })
}

/** Takes views as long as they have no more lines together than a screen. */
function legibleOf(views: readonly Sighting[]): Sighting[] {
  let lines = 0
  return views.slice(0, MOST_VIEWS).filter(({ line_start, line_end }) => {
    lines += line_end - line_start + 1
    return lines <= MOST_LINES
  })
}

/** Credits the lines in view with some ms. Returns the hunks that were in view. */
function credit(
  byPath: ReadonlyMap<string, readonly Line[]>,
  sightings: readonly Sighting[],
  ms: number,
  before: { active: number; inView: ReadonlySet<Tracked> },
): Set<Tracked> {
  const seen = new Set<Line>()
  for (const { path, line_start, line_end } of sightings)
    for (const line of linesIn(byPath.get(path) ?? [], line_start, line_end)) seen.add(line)
  const each = ms / Math.max(seen.size, linesNamed(sightings))
  const inView = new Set<Tracked>()
  for (const line of seen) {
    line.budget += each
    const [exposed, needed] = [line.exposure, SEEN_MS - line.exposure]
    line.exposure += ms
    if (exposed < SEEN_MS && ms >= needed) line.scannedAt = before.active + needed
    inView.add(line.hunk)
  }
  for (const hunk of inView) {
    hunk.first ??= Math.round(before.active)
    if (!before.inView.has(hunk)) hunk.visits++
  }
  return inView
}

/** Counts acts on the parts whose lines they name. One that names no lines is on all of its file. */
async function countGestures(
  tracked: readonly Tracked[],
  byPath: ReadonlyMap<string, readonly Line[]>,
  gestures: readonly Gesture[],
): Promise<void> {
  if (gestures.length === 0) return
  const partsByPath = groupedBy(tracked, ({ part }) => part.path)
  for (const gesture of gestures) {
    await yieldToEventLoop()
    const { path, lines } = gesture
    const touched =
      lines === null
        ? (partsByPath.get(path) ?? [])
        : new Set(
            lines[1] - lines[0] < MOST_LINES ? linesIn(byPath.get(path) ?? [], ...lines).map(({ hunk }) => hunk) : [],
          )
    for (const part of touched) countGesture(part.gestures, gesture)
  }
}

/** Counts the lines that sightings name. One that a page and a webcam both name counts once. */
function linesNamed(sightings: readonly Sighting[]): number {
  let named = 0
  for (const ranges of groupedBy(sightings, ({ path }) => path).values()) {
    let after = 0
    for (const { line_start, line_end } of ranges.toSorted((one, other) => one.line_start - other.line_start)) {
      named += Math.max(0, line_end - Math.max(line_start, after) + 1)
      after = Math.max(after, line_end + 1)
    }
  }
  return named
}

/** Finds lines in a range of places. @param lines in the order of their places */
function linesIn(lines: readonly Line[], from: number, to: number): Line[] {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle] as Line).place < from) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < lines.length && (lines[end] as Line).place <= to) end++
  return lines.slice(low, end)
}

function readingOfPart(tracked: Tracked, acknowledged: ReadonlySet<string>): PartReading {
  const { part, lines, first, visits, gestures } = tracked
  const { digest, path } = part
  if (part.kind !== 'hunk') {
    const seen = acknowledged.has(digest) ? 1 : 0
    const unseen = { exposed: seen, first_ms: null, visits: 0, glanced: [], unread: [] }
    return { digest, path, lines: 1, seen, seen_ms: 0, ...unseen, ...gestures }
  }
  const changed = lines.filter(({ isChanged }) => isChanged)
  return {
    digest,
    path,
    lines: changed.length,
    seen: changed.filter(({ budget }) => budget >= SEEN_MS).length,
    seen_ms: Math.round(changed.reduce((sum, { budget }) => sum + budget, 0)),
    exposed: changed.filter(({ exposure }) => exposure >= SEEN_MS).length,
    first_ms: first,
    visits,
    ...gestures,
    glanced: runsOf(lines, ({ budget }) => budget > 0 && budget < SEEN_MS),
    unread: runsOf(lines, ({ budget }) => budget === 0),
  }
}

/** Lists runs of changed rows, with the unchanged ones between them. */
function runsOf(lines: readonly Line[], belongs: (line: Line) => boolean): [number, number][] {
  const runs: [number, number][] = []
  let run: [number, number] | null = null
  for (const [index, line] of lines.entries()) {
    if (!line.isChanged) continue
    if (!belongs(line)) run = null
    else if (run !== null) run[1] = index
    else {
      run = [index, index]
      runs.push(run)
    }
  }
  return runs
}
