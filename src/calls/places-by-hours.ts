import { type RawBuilder, sql } from 'kysely'
import { hourOf, toUtc } from '../store/dates.ts'
import type { Engine } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import {
  type Conditions,
  inOrder,
  isBehind,
  meeting,
  meetingAnytime,
  type Place,
  type SelectedCalls,
} from './call-conditions.ts'
import { type CallSelection, countCalls, countsByHour } from './call-selection.ts'
import { readTotals } from './call-totals.ts'

const HOUR_MS = 3_600_000
/** Hours that are looked at first. Each later look is at four times as many. */
const FIRST_HOURS = 24
const GROWTH = 4

/** Span of time: `from` inclusive, `to` exclusive, RFC 3339 UTC. */
export interface Span {
  from: string
  to: string
}

/** Calls of a page: so many, after so many newer ones. `after` is the place that it begins behind. */
interface Wanted {
  offset: number
  limit: number
  after?: Place | undefined
}

/**
 * Reads the places of the calls of a model or path, newest first. No index leads to them: the sums of hours tell in which
 * hours they are. Those of a frequent one are soon met on the way back in time, and a rare one is in few hours.
 */
export async function placesByHours(store: Store, conditions: Conditions, wanted: Wanted): Promise<Place[]> {
  const { after, limit } = wanted
  const ends = [conditions.to, after && toUtc(Date.parse(after.at) + 1)].filter((end) => end !== undefined)
  const { spans, offset } = await spansOf(store, { ...conditions, to: ends.sort()[0] }, wanted)
  const [newest, ...earlier] = spans
  if (newest === undefined) return []
  const db = store.reads
  const placesOf = (calls: SelectedCalls, most: number, skipped: number) =>
    inOrder(after === undefined ? calls : calls.where(isBehind(after)))
      .select(['at', 'call_id'])
      .limit(most)
      .offset(skipped)
      .execute()
  const places = await placesOf(meeting(db.selectFrom('calls'), { ...conditions, ...newest }), limit, offset)
  if (places.length >= limit || earlier.length === 0) return places
  // Their calls are not many more than are wanted: they are sorted after all hours are read, each forward in time.
  const texts = JSON.stringify(earlier.map(({ from, to }) => [from, to]))
  const inSpans = db
    .with(
      (name) => name('span').materialized(),
      () => SPANS[store.engine](texts),
    )
    .selectFrom('span')
    .crossJoin('calls')
    .whereRef('calls.at', '>=', 'span.start')
    .whereRef('calls.at', '<', 'span.until') as unknown as SelectedCalls
  return [...places, ...(await placesOf(meetingAnytime(inSpans, conditions), limit - places.length, 0))]
}

/** SQL for the rows of spans, of one parameter, so that there is one statement for any number of them. */
const SPANS: Record<Engine, (texts: string) => RawBuilder<{ start: string; until: string }>> = {
  sqlite: (texts) => sql`(select value ->> 0 as start, value ->> 1 as until from json_each(${texts}))`,
  postgres: (texts) =>
    sql`(select (value ->> 0)::timestamptz as start, (value ->> 1)::timestamptz as until
      from json_array_elements(${texts}::json))`,
}

/**
 * Finds the spans of time that have the calls of a page, newest first, and how many of their calls are to be skipped: all
 * of them in the first span.
 *
 * A call and its count are stored in one transaction, so no hour is missed. Counts of pruned calls stay: only the earliest
 * hour may have fewer calls than its count.
 */
async function spansOf(
  store: Store,
  selection: CallSelection,
  { offset, limit }: Wanted,
): Promise<{ spans: Span[]; offset: number }> {
  const { from, to } = selection
  const all = await readTotals(store.db, selection)
  const [oldest, newest] = await Promise.all([timeOf(store, 'min'), timeOf(store, 'max')])
  const spans: Span[] = []
  if (oldest === null || newest === null || all === 0) return { spans, offset }
  const first = from !== undefined && from > oldest ? from : oldest
  let skipped = offset
  let found = 0
  let before = later(hourOf(to !== undefined && to < newest ? to : newest), 1)
  for (let hours = FIRST_HOURS; before > first && found < skipped + limit; hours *= GROWTH) {
    const since = later(before, -hours)
    const range = { from: since > first ? since : hourOf(first), to: before }
    for (const { hour, calls } of await countsByHour(store, { ...selection, ...range })) {
      const end = later(hour, 1)
      const isCut = to !== undefined && to < end
      const span = { from: latest(hour, first), to: isCut ? to : end }
      // A page behind a place skips none: its first hour need not be counted.
      const counted = isCut ? (offset === 0 ? 0 : await countCalls(store, { ...selection, ...span })) : calls
      if (spans.length === 0 && counted <= skipped && offset > 0) skipped -= counted
      else {
        addBefore(spans, span)
        found += counted
      }
      if (found >= skipped + limit) break
    }
    before = range.from
  }
  return { spans, offset: skipped }
}

/** Time of the oldest or the newest call; null without any. */
async function timeOf({ db }: Store, which: 'min' | 'max'): Promise<string | null> {
  const query = db.selectFrom('calls').select(({ fn }) => fn[which]<string | null>('at').as('at'))
  return (await query.executeTakeFirstOrThrow()).at
}

/** The time so many hours later. */
const later = (time: string, hours: number): string => toUtc(Date.parse(time) + hours * HOUR_MS)

const latest = (...times: string[]): string => times.sort().at(-1) as string

/** Adds a span before others. One that touches the earliest of them extends it. */
function addBefore(spans: Span[], span: Span): void {
  const earliest = spans.at(-1)
  if (earliest?.from === span.to) earliest.from = span.from
  else spans.push(span)
}
