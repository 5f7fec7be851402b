import { type RawBuilder, type SqlBool, sql } from 'kysely'
import * as z from 'zod'
import { toUtc, utcDate, utcHour } from '../store/dates.ts'
import type { Engine } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import type { CallSumLevel, CallSumRow } from '../store/tables/calls-tables.ts'
import { Amount, toMicros } from '../text/money.ts'
import { FIGURES } from './call-figures.ts'
import { type CallGroupBy, GROUPINGS, isCallGroup, SessionGroupBy } from './call-groups.ts'
import { UNLISTED, UNLISTED_AS } from './call-status.ts'
import { amongst, FILTER_COLUMNS, type GroupKeys } from './call-totals.ts'
import { meetingAny, type SessionCondition } from './named-session.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Figures of sums, their sums, and those of single calls, whose unknown tokens count as none. */
const COLUMNS = sql.join(FIGURES.map((name) => sql.ref(name)))
const SUMS = sql.join(FIGURES.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`))
const OF_CALL = sql.join(
  FIGURES.map((name) =>
    name === 'calls' ? sql`1 as calls` : sql`coalesce(${sql.ref(`calls.${name}`)}, 0) as ${sql.ref(name)}`,
  ),
)

/** Dimensions that statistics can be grouped by. */
export const GroupBy = z.enum(['model', 'caller', 'day', 'path', 'status', ...SessionGroupBy.options])
/** Groupings of charts and pages. Hours as well: a day is too coarse for today. */
export const ChartGroupBy = z.enum([...GroupBy.options, 'hour', 'address'])
export type ChartGroupBy = z.infer<typeof ChartGroupBy>
type SumGroupBy = Exclude<ChartGroupBy, CallGroupBy>

/** Kind of the calls whose client says none. */
export const MAIN_KIND = 'main'

/** Filters that no sum has: the calls are looked through. */
export const KEPT_FILTERS = {
  address: z.string().min(1).max(64).optional().describe('Address of the client.'),
  upstream: z.string().min(1).max(256).optional().describe('Upstream, as the calls name it; for admins.'),
  kind: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe(`Kind of the call, as its client says; ${MAIN_KIND} also matches the calls whose client says none.`),
  min_cost_usd: Amount.optional().describe('This cost at the upstream, or more.'),
}
/** Filters of {@link KEPT_FILTERS}. */
export const KEPT_NAMES = [
  'address',
  'upstream',
  'kind',
  'min_cost_usd',
] as const satisfies (keyof typeof KEPT_FILTERS)[]
export type KeptFilter = { [Name in (typeof KEPT_NAMES)[number]]?: z.infer<(typeof KEPT_FILTERS)[Name]> }

/** Tells whether a filter has a column that only calls have. */
export const isOfKept = (filter: KeptFilter): boolean => KEPT_NAMES.some((name) => filter[name] !== undefined)

/** SQL conditions of a filter on columns that only calls have. */
export const meetingKept = ({ address, upstream, kind, min_cost_usd }: KeptFilter): RawBuilder<SqlBool>[] => [
  ...(address === undefined ? [] : [sql<SqlBool>`calls.address = ${address}`]),
  ...(upstream === undefined ? [] : [sql<SqlBool>`calls.upstream = ${upstream}`]),
  ...(kind === undefined ? [] : [sql<SqlBool>`coalesce(calls.kind, ${MAIN_KIND}) = ${kind}`]),
  ...(min_cost_usd === undefined ? [] : [sql<SqlBool>`calls.upstream_cost_micros >= ${toMicros(min_cost_usd)}`]),
]

/** Selects calls. `from` is inclusive, `to` exclusive, RFC 3339 UTC with milliseconds. */
export interface CallSelection {
  from?: string | undefined
  to?: string | undefined
  status?: string | undefined
  /** The provider's model ids. */
  models?: readonly string[] | undefined
  path?: string | undefined
  caller_id?: string | undefined
  /** Keys of a group: only the calls of these. */
  callers?: GroupKeys | undefined
}

export { amongst, type GroupKeys }

/** Reads the keys that are in a group now, revoked ones too. Undefined without a group. */
export async function keysOfGroup({ db }: Store, group: string | undefined): Promise<GroupKeys | undefined> {
  if (group === undefined) return undefined
  const keys = await db.selectFrom('keys').select('id').where('group_id', '=', group).execute()
  return { group, ids: keys.map(({ id }) => id) }
}

/** Partial sum of calls of one group and status. */
export interface SummedRow extends Omit<CallSumRow, 'level' | 'start' | 'caller_id' | 'model' | 'path'> {
  key: string
}

/** Counts the recorded calls of a selection from the sums, not call by call. */
export async function countCalls(store: Store, selection: CallSelection): Promise<number> {
  const { counts, sums } = sources(store.engine, selection)
  const { rows } = await sql<{ calls: number }>`
    select coalesce(sum(calls), 0) as calls
    from (select status, calls from (${counts}) as counts union all select status, calls from (${sums}) as sums) as counted
    where status <> ${UNLISTED}`.execute(store.reads)
  return Number(rows[0]?.calls ?? 0)
}

/**
 * Counts the recorded calls of each hour of a selection from the sums, newest first. Hours without any are missing.
 *
 * @param selection of whole hours
 */
export async function countsByHour(store: Store, selection: CallSelection): Promise<{ hour: string; calls: number }[]> {
  const { counts, sums } = sources(store.engine, selection, 'hour')
  const { rows } = await sql<{ hour: string; calls: number }>`
    select time as hour, sum(calls) as calls
    from (select time, status, calls from (${counts}) as counts
      union all select time, status, calls from (${sums}) as sums) as counted
    where status <> ${UNLISTED} group by time order by time desc`.execute(store.reads)
  return rows.map(({ hour, calls }) => ({ hour, calls: Number(calls) }))
}

/** Sums a selection in one statement, so that counts being folded into sums are read exactly once. */
export async function summedRows(store: Store, selection: CallSelection, groupBy?: SumGroupBy): Promise<SummedRow[]> {
  const keys = {
    model: sql`model`,
    caller: sql`caller_id`,
    day: sql`time`,
    hour: sql`time`,
    path: sql`path`,
    status: sql`case when status = ${sql.lit(UNLISTED)} then ${sql.lit(UNLISTED_AS)} else status end`,
  }
  const key = groupBy ? keys[groupBy] : sql`''`
  const { counts, sums } = sources(store.engine, selection, groupBy)
  const { rows } = await sql<SummedRow>`
    select ${key} as key, status, ${SUMS}, '[' || latency_bucket || ',' || sum(calls) || ']' as latencies
    from (${counts}) as counted group by 1, 2, latency_bucket
    union all
    select ${key}, status, ${COLUMNS}, latencies
    from (${sums}) as summed`.execute(store.reads)
  return rows
}

/** Selection of calls that are kept, one by one. */
export interface KeptSelection extends CallSelection, KeptFilter {
  /** Names of a session. */
  sessions?: readonly SessionCondition[] | undefined
}

/** SQL for the groupings of the table `calls` that sums have, too. */
const keysOfKept = (engine: Engine): Readonly<Record<SumGroupBy, RawBuilder<unknown>>> => ({
  model: sql`coalesce(calls.model, '')`,
  caller: sql`coalesce(calls.caller_id, '')`,
  day: utcDate(engine, 'calls.at'),
  hour: utcHour(engine, 'calls.at'),
  path: sql`calls.path`,
  status: sql`calls.status`,
})

/** Sums the kept calls of a selection, one by one; all together without a grouping. */
export async function keptRows(
  store: Store,
  selection: KeptSelection,
  groupBy: ChartGroupBy | null,
): Promise<SummedRow[]> {
  const { joins, key } = groupingOf(store.engine, groupBy)
  const { from, to, sessions } = selection
  const more = sql.join(
    [
      ...(sessions ? [sql`and ${meetingAny(sessions)}`] : []),
      ...meetingKept(selection).map((condition) => sql`and ${condition}`),
    ],
    sql` `,
  )
  const { rows } = await sql<SummedRow>`
    select key, status, ${SUMS}, '[' || latency_bucket || ',' || sum(calls) || ']' as latencies
    from (select ${key} as key, calls.status, calls.latency_bucket, ${OF_CALL} from calls ${joins}
      where ${between('calls.at', from, to)} ${dimensions(selection, 'calls.')} ${more}) as counted
    group by 1, 2, latency_bucket`.execute(store.reads)
  return rows
}

function groupingOf(engine: Engine, groupBy: ChartGroupBy | null) {
  if (groupBy === null) return { joins: sql``, key: sql`''` }
  return isCallGroup(groupBy) ? GROUPINGS[groupBy] : { joins: sql``, key: keysOfKept(engine)[groupBy] }
}

/**
 * Sources of a selection:
 * - sums of the whole hours and days in its range, and the counts not yet folded into them;
 * - single calls for hours that the range cuts.
 *
 * A cut hour whose calls are pruned counts in full, since only its sum is left.
 */
function sources(engine: Engine, selection: CallSelection, groupBy?: SumGroupBy) {
  const { from, to } = selection
  const timeOf = groupBy === 'hour' ? utcHour : utcDate
  const { hours, days } = levels(selection, groupBy)
  // SQLite has no statistics here. It would scan every caller's history by primary key.
  const sumsTable =
    engine === 'sqlite' && isOfCallers(selection) ? sql`call_sums indexed by call_sums_of_caller` : sql`call_sums`
  const figures = sql`status, ${COLUMNS}`
  const counts: RawBuilder<unknown>[] = []
  const sums: RawBuilder<unknown>[] = []

  function addSums(level: CallSumLevel, condition: RawBuilder<unknown>): void {
    sums.push(sql`select ${timeOf(engine, 'start')} as time, model, caller_id, path, ${figures}, latencies
      from ${sumsTable} where level = ${level} and ${condition} ${dimensions(selection)}`)
  }

  function addCounted(condition: RawBuilder<unknown>): void {
    counts.push(sql`select ${timeOf(engine, 'hour')} as time, model, caller_id, path, latency_bucket, ${figures}
      from call_rollups where ${condition} ${dimensions(selection)}`)
  }

  function addCalls(start: string, end: string): void {
    const hour = startOf(HOUR_MS, start)
    const kept = sql`select 1 from calls where at >= ${hour} and at < ${startOf(HOUR_MS, hour, HOUR_MS)}`
    counts.push(sql`select ${timeOf(engine, 'at')} as time, coalesce(model, '') as model,
        coalesce(caller_id, '') as caller_id, path, latency_bucket, status, ${OF_CALL}
      from calls where at >= ${start} and at < ${end} ${dimensions(selection)}`)
    addCounted(sql`hour = ${hour} and not exists (${kept})`)
    addSums(hours, sql`start = ${hour} and not exists (${kept})`)
  }

  const first = from && startOf(HOUR_MS, from, HOUR_MS - 1)
  const last = to && startOf(HOUR_MS, to)
  if (from && to && first && last && first > last) addCalls(from, to)
  else {
    if (from && first && from < first) addCalls(from, first)
    if (to && last && last < to) addCalls(last, to)
    addCounted(between('hour', first, last))
    const firstDay = first && startOf(DAY_MS, first, DAY_MS - 1)
    const lastDay = last && startOf(DAY_MS, last)
    if (!days || (firstDay && lastDay && firstDay >= lastDay)) addSums(hours, between('start', first, last))
    else {
      addSums(days, between('start', firstDay, lastDay))
      if (first && firstDay && first < firstDay) addSums(hours, between('start', first, firstDay))
      if (last && lastDay && lastDay < last) addSums(hours, between('start', lastDay, last))
    }
  }
  // An empty part, for a range without a whole hour.
  if (sums.length === 0) addSums(hours, sql`1 = 0`)
  return { counts: sql.join(counts, sql` union all `), sums: sql.join(sums, sql` union all `) }
}

/**
 * Coarsest levels of sums that can answer the selection. Without `days` when hours are asked for, or a dimension that
 * only hourly sums have.
 */
function levels(selection: CallSelection, groupBy?: ChartGroupBy): { hours: CallSumLevel; days: CallSumLevel | null } {
  const { models, path } = selection
  const ofCaller = isOfCallers(selection) || groupBy === 'caller'
  const ofKind = models !== undefined || path !== undefined || groupBy === 'model' || groupBy === 'path'
  const hours = ofCaller ? 'hour' : 'hour_of_all'
  if (groupBy === 'hour' || (ofCaller && ofKind)) return { hours, days: null }
  return { hours, days: ofCaller ? 'day_of_caller' : 'day_of_all' }
}

const isOfCallers = ({ caller_id, callers }: CallSelection) => caller_id !== undefined || callers !== undefined

/** SQL condition: at or after `start`, and before `end`. */
function between(column: string, start: string | undefined, end: string | undefined): RawBuilder<unknown> {
  const after = start ? sql`${sql.ref(column)} >= ${start}` : sql`1 = 1`
  const before = end ? sql`${sql.ref(column)} < ${end}` : sql`1 = 1`
  return sql`${after} and ${before}`
}

/** Start of the hour or day that contains `time`, or the time `later` milliseconds after it. */
function startOf(spanMs: number, time: string, later = 0): string {
  return toUtc(Math.floor((Date.parse(time) + later) / spanMs) * spanMs)
}

/** SQL conditions of a selection. @param of the table of its columns, with a dot */
function dimensions(selection: CallSelection, of = '') {
  const { models, callers } = selection
  const wanted = FILTER_COLUMNS.filter((name) => selection[name] !== undefined)
  return sql.join(
    [
      ...(models ? [sql`and ${sql.ref(`${of}model`)} in (${sql.join(models)})`] : []),
      ...(callers ? [sql`and ${amongst(`${of}caller_id`, callers)}`] : []),
      ...wanted.map((name) => sql`and ${sql.ref(of + name)} = ${selection[name]}`),
    ],
    sql` `,
  )
}
