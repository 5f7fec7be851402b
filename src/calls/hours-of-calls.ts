import { type RawBuilder, sql } from 'kysely'
import { hourOf, toUtc } from '../store/dates.ts'
import type { Engine } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import { type Conditions, meeting, meetingAnytime, type SelectedCalls } from './call-conditions.ts'
import { type CallSelection, countsByHour } from './call-selection.ts'
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

/** Hour with calls, as their sums tell. `isCut` where the selection ends within it. */
interface HourOfCalls {
  span: Span
  calls: number
  isCut: boolean
}

/**
 * Looks for the hours that have calls of a selection, back in time, and yields those of each look, newest first.
 *
 * A call and its count are stored in one transaction, so no hour is missed. Counts of pruned calls stay: only the earliest
 * hour may have fewer calls than its count.
 */
export async function* hoursOfCalls(store: Store, selection: CallSelection): AsyncGenerator<HourOfCalls[]> {
  const { from, to } = selection
  const [all, oldest, newest] = await Promise.all([
    readTotals(store.db, selection),
    timeOf(store, 'min'),
    timeOf(store, 'max'),
  ])
  if (oldest === null || newest === null || all === 0) return
  const first = from !== undefined && from > oldest ? from : oldest
  let before = later(hourOf(to !== undefined && to < newest ? to : newest), 1)
  for (let hours = FIRST_HOURS; before > first; hours *= GROWTH) {
    const since = later(before, -hours)
    const range = { from: since > first ? since : hourOf(first), to: before }
    const counted = await countsByHour(store, { ...selection, ...range })
    yield counted.map(({ hour, calls }) => {
      const end = later(hour, 1)
      const isCut = to !== undefined && to < end
      return { span: { from: latest(hour, first), to: isCut ? to : end }, calls, isCut }
    })
    before = range.from
  }
}

/** Finds all spans of time that have calls of a selection, newest first. */
export async function allSpans(store: Store, selection: CallSelection): Promise<Span[]> {
  const spans: Span[] = []
  for await (const hours of hoursOfCalls(store, selection)) for (const { span } of hours) addBefore(spans, span)
  return spans
}

/** Adds a span before others. One that touches the earliest of them extends it. */
export function addBefore(spans: Span[], span: Span): void {
  const earliest = spans.at(-1)
  if (earliest?.from === span.to) earliest.from = span.from
  else spans.push({ ...span })
}

/** Selects the calls in some spans of time that meet all conditions but those on their time. */
export function callsIn({ engine, reads }: Store, conditions: Conditions, spans: readonly Span[]): SelectedCalls {
  const [only] = spans
  if (only !== undefined && spans.length === 1) return meeting(reads.selectFrom('calls'), { ...conditions, ...only })
  const texts = JSON.stringify(spans.map(({ from, to }) => [from, to]))
  const inSpans = reads
    .with(
      (name) => name('span').materialized(),
      () => SPANS[engine](texts),
    )
    .selectFrom('span')
    .crossJoin('calls')
    .whereRef('calls.at', '>=', 'span.start')
    .whereRef('calls.at', '<', 'span.until') as unknown as SelectedCalls
  return meetingAnytime(inSpans, conditions)
}

/** SQL for the rows of spans, of one parameter, so that there is one statement for any number of them. */
const SPANS: Record<Engine, (texts: string) => RawBuilder<{ start: string; until: string }>> = {
  sqlite: (texts) => sql`(select value ->> 0 as start, value ->> 1 as until from json_each(${texts}))`,
  postgres: (texts) =>
    sql`(select (value ->> 0)::timestamptz as start, (value ->> 1)::timestamptz as until
      from json_array_elements(${texts}::json))`,
}

/** Time of the oldest or the newest call; null without any. */
async function timeOf({ db }: Store, which: 'min' | 'max'): Promise<string | null> {
  const query = db.selectFrom('calls').select(({ fn }) => fn[which]<string | null>('at').as('at'))
  return (await query.executeTakeFirstOrThrow()).at
}

/** The time so many hours later. */
const later = (time: string, hours: number): string => toUtc(Date.parse(time) + hours * HOUR_MS)

const latest = (...times: string[]): string => times.sort().at(-1) as string
