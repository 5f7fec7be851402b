import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import * as z from 'zod'
import { GroupId } from '../identity/group.ts'
import { CallerId } from '../identity/key.ts'
import { countMatches } from '../store/count-matches.ts'
import { toUtc } from '../store/dates.ts'
import type { Engine } from '../store/engine.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import {
  type Conditions,
  hasStatusIndex,
  inOrder,
  isBehind,
  meeting,
  type Narrower,
  type Place,
  type SelectedCalls,
} from './call-conditions.ts'
import { type CallRecord, CallStatus } from './call-record.ts'
import { type CallSelection, countCalls, isOfKept, KEPT_FILTERS, keysOfGroup } from './call-selection.ts'
import { LONGEST_SESSION_ID } from './call-session.ts'
import { type FILTER_COLUMNS, readTotals } from './call-totals.ts'
import { allSpans, callsIn } from './hours-of-calls.ts'
import { callsOfSession } from './named-session.ts'
import { placesByHours } from './places-by-hours.ts'
import { CALL_COLUMNS, type ReadCall, toRecord } from './stored-call.ts'

/** Most keys of a group whose calls are read one key after another. */
const MOST_CALLERS = 200
/** Selections of one list that are read at once. */
const QUERIES_AT_ONCE = 4
/** Largest content in a list, in bytes. A single call is shown in full. */
const LISTED_CONTENT = 1024 * 1024

/** Filters by the exact value of a column. */
const COLUMN_FILTERS = {
  status: CallStatus.optional(),
  path: z.string().max(1024).optional(),
  caller_id: CallerId.optional(),
} satisfies Record<(typeof FILTER_COLUMNS)[number], z.ZodType>

/** Filter of the call list. `from` is inclusive, `to` exclusive. */
export const CallFilter = ListQuery.extend({
  ...COLUMN_FILTERS,
  group: GroupId.optional().describe('Only the calls of the keys that are in this group now.'),
  session: z.string().min(1).max(LONGEST_SESSION_ID).optional(),
  ...KEPT_FILTERS,
  model: z.string().min(1).max(256).optional().describe("The provider's model id, or an alias of it."),
  from: z.iso.datetime({ offset: true }).optional().describe('At this time or later.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Before this time.'),
})
export type CallFilter = z.infer<typeof CallFilter>

/**
 * Lists calls, newest first.
 *
 * @param models the provider's ids that `filter.model` resolves to
 */
export async function listCalls(
  store: Store,
  filter: Paged<CallFilter>,
  models: string[] | undefined,
): Promise<Page<CallRecord>> {
  const conditions = await conditionsOf(store, filter, models)
  const selection = { ...conditions, by: await smallerOf(store, { ...filter, callers: conditions.callers }) }
  const { from, to } = selection
  const { cursor } = filter
  // No index leads to them: a whole history may be read, on the reader's thread.
  const isLookedThrough = isOfKept(filter)
  const after = placeAfter(cursor)
  const page = { offset: filter.offset ?? 0, limit: filter.limit + 1 }
  const places = isOfSums(selection) ? await placesByHours(store, selection, { ...page, after }) : null
  const db = isLookedThrough ? store.reads : pageReader(store, filter)
  const each = newestFirst(db, selection).map((calls) => (after === undefined ? calls : calls.where(isBehind(after))))
  const read = <Row>(limit: number, select: Select<Row>) =>
    places === null
      ? newest(each, select, { db, limit, offset: page.offset })
      : rowsAt(db, places.slice(0, limit), select)
  return readPage(filter, {
    rows: (limit) => read<ReadCall>(limit, (calls) => listed(calls, store.engine)),
    async sizes(limit) {
      const width = listedWidth(store.engine).as('bytes')
      return (await read(limit, (calls) => calls.select(width))).map(({ bytes }) => bytes)
    },
    total: async () => {
      if (places !== null && isLookedThrough) {
        const isWhole = after === undefined && page.offset === 0 && places.length < page.limit
        return isWhole ? places.length : countInHours(store, selection)
      }
      if (filter.session !== undefined || isLookedThrough)
        return countMatches(db, meeting(db.selectFrom('calls'), selection))
      return from || to ? countKept(store, selection) : readTotals(store.db, { ...selection, models })
    },
    item: toRecord,
    cursor: (row) => [row.at, row.call_id],
  })
}

/** Place that a page begins behind. */
function placeAfter(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const [at, call_id] = decodeCursor(cursor, z.tuple([z.iso.datetime(), z.string()]))
  return { at, call_id }
}

/** Reads the ids of the newest calls that meet a filter, newest first. */
export async function newestIds(
  store: Store,
  filter: Omit<CallFilter, 'limit'>,
  models: string[] | undefined,
  limit: number,
): Promise<string[]> {
  const selection = await conditionsOf(store, filter, models)
  const places = isOfSums(selection)
    ? await placesByHours(store, selection, { offset: 0, limit })
    : await newestPlaces(newestFirst(isOfKept(selection) ? store.reads : store.db, selection), limit)
  return places.map(({ call_id }) => call_id)
}

/** Reads calls by their ids, newest first, without content. */
export async function callsByIds({ db }: Store, ids: readonly string[]): Promise<CallRecord[]> {
  if (ids.length === 0) return []
  const calls = db
    .selectFrom('calls')
    .select(CALL_COLUMNS)
    .where('call_id', 'in', [...ids])
  const rows = await calls.orderBy('at', 'desc').orderBy('call_id', 'desc').execute()
  return rows.map((row) => toRecord({ ...row, content: null }))
}

/**
 * Tells whether the sums of hours lead to calls: to those of a model or path, where no index does. Those of a group or of a
 * failed status, if they are looked through, have one.
 */
const isOfSums = (selection: Conditions): boolean =>
  (selection.models !== undefined || selection.path !== undefined) &&
  selection.sessions === undefined &&
  !(isOfKept(selection) && (selection.callers !== undefined || hasStatusIndex(selection.status)))

/** Counts the calls of a selection in the hours that the sums lead to. */
const countInHours = async (store: Store, selection: Conditions): Promise<number> =>
  countMatches(store.reads, callsIn(store, selection, await allSpans(store, selection)))

/** Compares the calls of a caller or group with those of a status. An engine without statistics reads either whole history. */
async function smallerOf(
  { db }: Store,
  {
    session,
    caller_id,
    callers,
    status,
  }: Pick<Conditions, 'caller_id' | 'callers' | 'status'> & { session?: string | undefined },
): Promise<Narrower> {
  if (session !== undefined || (caller_id ?? callers) === undefined || status === undefined) return null
  if (!hasStatusIndex(status)) return 'caller_id'
  const [ofCaller, ofStatus] = await Promise.all([readTotals(db, { caller_id, callers }), readTotals(db, { status })])
  return ofCaller < ofStatus ? 'caller_id' : 'status'
}

async function conditionsOf(
  store: Store,
  filter: Omit<CallFilter, 'limit'>,
  models: string[] | undefined,
): Promise<Conditions> {
  const { session, caller_id, group } = filter
  return {
    ...filter,
    models,
    callers: await keysOfGroup(store, group),
    from: filter.from && toUtc(filter.from),
    to: filter.to && toUtc(filter.to),
    sessions: session === undefined ? undefined : await callsOfSession(store.db, session, caller_id),
  }
}

/** Selects the calls that meet all conditions, newest first: a query for each name of a session and key of a group. */
const newestFirst = (db: Kysely<Schema>, selection: Conditions): SelectedCalls[] =>
  ofEachCaller(selection).flatMap((ofCaller) =>
    (selection.sessions?.map((session) => [session]) ?? [undefined]).map((sessions) =>
      inOrder(meeting(db.selectFrom('calls'), { ...ofCaller, sessions })),
    ),
  )

/** Conditions for each key of a group, whose index leads to its calls. Of more keys, the newest calls are looked through. */
function ofEachCaller(selection: Conditions): Conditions[] {
  const { callers, caller_id, sessions, by } = selection
  const hasIndex = caller_id !== undefined || sessions !== undefined || by === 'status'
  if (callers === undefined || hasIndex || callers.ids.length === 0 || callers.ids.length > MOST_CALLERS)
    return [selection]
  return callers.ids.map((one) => ({ ...selection, callers: undefined, caller_id: one, by: 'caller_id' }))
}

/** Columns of a listed call, without content above the limit. */
function listed(calls: SelectedCalls, engine: Engine): SelectQueryBuilder<Schema, 'calls', ReadCall> {
  const width = widthOf(engine, ['content'])
  const content = sql<string | null>`case when ${width} <= ${LISTED_CONTENT} then content end`
  return calls.select(CALL_COLUMNS).select(content.as('content'))
}

const listedWidth = (engine: Engine) => {
  const width = widthOf(engine, ['content'])
  return sql<number>`(case when ${width} <= ${LISTED_CONTENT} then ${width} else 0 end)`
}

/** Selects columns of calls. */
type Select<Row> = (calls: SelectedCalls) => SelectQueryBuilder<Schema, 'calls', Row>

/**
 * Newest calls of some keys, or names of a session. Each is read through its own index: one query for several would
 * sort every match. Only their places are read from each; their other columns, of those that are among the newest of all.
 */
async function newest<Row>(
  each: readonly SelectedCalls[],
  select: Select<Row>,
  { db, limit, offset }: { db: Kysely<Schema>; limit: number; offset: number },
): Promise<Row[]> {
  const [only] = each
  if (only !== undefined && each.length === 1)
    return (await select(only).limit(limit).offset(offset).execute()) as Row[]
  return rowsAt(db, (await newestPlaces(each, offset + limit)).slice(offset), select)
}

/** Reads the calls at some places, newest first. */
async function rowsAt<Row>(db: Kysely<Schema>, places: readonly Place[], select: Select<Row>): Promise<Row[]> {
  if (places.length === 0) return []
  const ids = places.map(({ call_id }) => call_id)
  return (await select(inOrder(db.selectFrom('calls').where('call_id', 'in', ids))).execute()) as Row[]
}

/** Places of the newest calls of several selections, newest first. */
async function newestPlaces(each: readonly SelectedCalls[], limit: number): Promise<Place[]> {
  let places: Place[] = []
  for (let at = 0; at < each.length; at += QUERIES_AT_ONCE) {
    const some = each.slice(at, at + QUERIES_AT_ONCE)
    const found = await Promise.all(some.map((calls) => calls.select(['at', 'call_id']).limit(limit).execute()))
    places = [...places, ...found.flat()].sort((a, b) => (isNewer(a, b) ? -1 : 1)).slice(0, limit)
  }
  return places
}

const isNewer = (a: Place, b: Place): boolean => (a.at === b.at ? a.call_id > b.call_id : a.at > b.at)

/**
 * Counts the calls of a time range that the trail still holds. The hourly sums include pruned calls, which a list
 * cannot show.
 */
async function countKept(store: Store, selection: CallSelection): Promise<number> {
  const oldest = await store.db.selectFrom('calls').select('at').orderBy('at').limit(1).execute()
  const kept = oldest[0]?.at
  if (kept === undefined) return 0
  const { from } = selection
  return countCalls(store, { ...selection, from: from !== undefined && from > kept ? from : kept })
}
