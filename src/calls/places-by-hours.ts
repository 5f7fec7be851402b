import { countMatches } from '../store/count-matches.ts'
import { toUtc } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { type Conditions, inOrder, isBehind, type Place } from './call-conditions.ts'
import { type CallSelection, countCalls, isOfKept } from './call-selection.ts'
import { addBefore, callsIn, hoursOfCalls, type Span } from './hours-of-calls.ts'

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
  const { after } = wanted
  const ends = [conditions.to, after && toUtc(Date.parse(after.at) + 1)].filter((end) => end !== undefined)
  const before = { ...conditions, to: ends.sort()[0] }
  return isOfKept(conditions) ? lookedThrough(store, before, wanted) : counted(store, before, wanted)
}

/** Places of calls that the sums count: the counts tell how many hours are read. */
async function counted(store: Store, conditions: Conditions, { after, limit, ...wanted }: Wanted): Promise<Place[]> {
  const { spans, offset } = await spansOf(store, conditions, { limit, ...wanted })
  const places = await placesIn(store, conditions, spans.slice(0, 1), { after, limit, offset })
  if (places.length >= limit) return places
  // Their calls are not many more than are wanted: they are sorted after all hours are read, each forward in time.
  const more = { after, limit: limit - places.length, offset: 0 }
  return [...places, ...(await placesIn(store, conditions, spans.slice(1), more))]
}

/** Places of calls that meet more than the sums count. The hours of each look are read until enough are found. */
async function lookedThrough(store: Store, conditions: Conditions, { after, limit, offset }: Wanted): Promise<Place[]> {
  const places: Place[] = []
  let skipped = offset
  for await (const hours of hoursOfCalls(store, conditions)) {
    const spans: Span[] = []
    for (const { span } of hours) addBefore(spans, span)
    for (const some of [spans.slice(0, 1), spans.slice(1)]) {
      const wanted = { after, limit: limit - places.length, offset: skipped }
      const found = await placesIn(store, conditions, some, wanted)
      places.push(...found)
      if (places.length >= limit) return places
      if (found.length > 0) skipped = 0
      else if (skipped > 0) skipped -= await countMatches(store.reads, callsIn(store, conditions, some), skipped)
    }
  }
  return places
}

/** Reads places in some spans, newest first. Several spans are read forward in time, and sorted. */
async function placesIn(
  store: Store,
  conditions: Conditions,
  spans: readonly Span[],
  { after, limit, offset }: Wanted,
): Promise<Place[]> {
  if (spans.length === 0) return []
  const calls = callsIn(store, conditions, spans)
  return inOrder(after === undefined ? calls : calls.where(isBehind(after)))
    .select(['at', 'call_id'])
    .limit(limit)
    .offset(offset)
    .execute()
}

/**
 * Finds the spans of time that have the calls of a page, newest first, and how many of their calls are to be skipped: all
 * of them in the first span.
 */
async function spansOf(
  store: Store,
  selection: CallSelection,
  { offset, limit }: Wanted,
): Promise<{ spans: Span[]; offset: number }> {
  const spans: Span[] = []
  let skipped = offset
  let found = 0
  for await (const hours of hoursOfCalls(store, selection))
    for (const { span, calls, isCut } of hours) {
      // A page behind a place skips none: its first hour need not be counted.
      const ofCut = isCut && offset > 0 ? await countCalls(store, { ...selection, ...span }) : 0
      const counted = isCut ? ofCut : calls
      if (spans.length === 0 && counted <= skipped && offset > 0) skipped -= counted
      else {
        addBefore(spans, span)
        found += counted
      }
      if (found >= skipped + limit) return { spans, offset: skipped }
    }
  return { spans, offset: skipped }
}
