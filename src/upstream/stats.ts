import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { CallerId } from '../identity/key.ts'
import { toUsd } from '../money.ts'
import type { Engine } from '../store/columns.ts'
import { toUtc, utcDate, utcHour } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import type { CallRollupRow } from '../store/tables/calls.ts'
import { quantile } from './latency.ts'

const HOUR_MS = 3_600_000

/** What the statistics may be grouped by. */
const GroupBy = z.enum(['model', 'caller', 'day', 'path', 'status'])
/** The hours are for charts: a day is too coarse for what happened today. */
const ChartGroupBy = z.enum([...GroupBy.options, 'hour'])
type ChartGroupBy = z.infer<typeof ChartGroupBy>

/** Sums over a set of calls. Latency quantiles are within 2.5 %, null without calls. */
export const CallSums = z.object({
  calls: z.int(),
  errors: z.int(),
  error_rate: z.number().describe('Share of calls that ended in an error, 0–1'),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  upstream_cost_usd: z.number(),
  latency_ms: z.object({ p50: z.int().nullable(), p95: z.int().nullable(), p99: z.int().nullable() }),
})
export type CallSums = z.infer<typeof CallSums>

/** Sums over all selected calls, and over each group of them; no groups where none were asked for. */
export const CallStats = z.object({
  totals: CallSums,
  groups: z.array(CallSums.extend({ key: z.string().describe('The model, caller, day, hour, path or status') })),
})
export type CallStats = z.infer<typeof CallStats>

/** Which calls to count. `from` is inclusive, `to` exclusive. */
export const StatsQuery = z.object({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  group_by: GroupBy.optional(),
})
export type StatsQuery = z.infer<typeof StatsQuery>

/** The same of one caller or model, and by the hour, too. */
export const ChartQuery = StatsQuery.extend({
  caller_id: CallerId.optional().describe('Only the calls of this key or wallet.'),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Only the calls of this model: the provider's id, or an alias of it."),
  group_by: ChartGroupBy.optional(),
})
export type ChartQuery = z.infer<typeof ChartQuery>

/** Some of the calls: `from` is inclusive, `to` exclusive, RFC 3339 UTC with milliseconds. */
export interface CallSelection {
  from?: string | undefined
  to?: string | undefined
  status?: string | undefined
  /** The provider's ids. */
  models?: readonly string[] | undefined
  path?: string | undefined
  caller_id?: string | undefined
}

interface SummedRow extends Omit<CallRollupRow, 'hour' | 'model' | 'caller_id' | 'path'> {
  key: string
}

/** Statistics over the calls of a time range: whole hours from their rollups, the hours at its ends from the calls. */
export async function callStats(
  store: Store,
  query: Omit<ChartQuery, 'model'> & Pick<CallSelection, 'models'>,
): Promise<CallStats> {
  const selection = {
    caller_id: query.caller_id,
    models: query.models,
    from: query.from && toUtc(query.from),
    to: query.to && toUtc(query.to),
  }
  const rows = await summedRows(store, selection, query.group_by)
  const groups = new Map<string, SummedRow[]>()
  for (const row of rows) groups.set(row.key, [...(groups.get(row.key) ?? []), row])
  return {
    totals: sums(rows),
    groups: query.group_by
      ? [...groups].map(([key, members]) => ({ key, ...sums(members) })).sort((a, b) => (a.key < b.key ? -1 : 1))
      : [],
  }
}

/** How many calls a selection holds, without reading them one by one. */
export async function countCalls(store: Store, selection: CallSelection): Promise<number> {
  const { rows } = await sql<{ calls: number }>`
    select coalesce(sum(calls), 0) as calls from (${counted(store.engine, selection)}) as counted`.execute(store.db)
  return Number(rows[0]?.calls ?? 0)
}

async function summedRows(store: Store, selection: CallSelection, groupBy?: ChartGroupBy): Promise<SummedRow[]> {
  const keys = {
    model: sql`model`,
    caller: sql`caller_id`,
    day: sql`time`,
    hour: sql`time`,
    path: sql`path`,
    status: sql`status`,
  }
  const key = groupBy ? keys[groupBy] : sql`''`
  const { rows } = await sql<SummedRow>`
    select ${key} as key, status, latency_bucket, sum(calls) as calls, sum(prompt_tokens) as prompt_tokens,
      sum(completion_tokens) as completion_tokens, sum(total_tokens) as total_tokens,
      sum(upstream_cost_micros) as upstream_cost_micros
    from (${counted(store.engine, selection, groupBy === 'hour' ? utcHour : utcDate)}) as counted
    group by 1, 2, 3`.execute(store.db)
  return rows
}

/**
 * The counters of a selection: rollups for the whole hours in the range, single calls for the hours it cuts. A cut hour
 * whose calls are pruned counts in full: its rollup is all that is known of it.
 *
 * @param timeOf what the column `time` holds of a time
 */
function counted(engine: Engine, selection: CallSelection, timeOf = utcDate) {
  const { from, to } = selection
  const firstHour = from && startOfHour(from, HOUR_MS - 1)
  const lastHour = to && startOfHour(to)
  const sameHour = firstHour && lastHour && firstHour > lastHour
  const columns = sql`model, caller_id, path, status, latency_bucket, calls, prompt_tokens, completion_tokens,
    total_tokens, upstream_cost_micros`
  const rollups = (condition: RawBuilder<unknown>) => sql`
    select ${timeOf(engine, 'hour')} as time, ${columns} from call_rollups where ${condition} ${dimensions(selection)}`
  const calls = (start: string, end: string) => {
    const hour = startOfHour(start)
    const kept = sql`select 1 from calls where at >= ${hour} and at < ${startOfHour(hour, HOUR_MS)}`
    return sql`
      select ${timeOf(engine, 'at')} as time, coalesce(model, '') as model, coalesce(caller_id, '') as caller_id,
        path, status, latency_bucket, 1 as calls, coalesce(prompt_tokens, 0) as prompt_tokens,
        coalesce(completion_tokens, 0) as completion_tokens, coalesce(total_tokens, 0) as total_tokens,
        upstream_cost_micros
      from calls where at >= ${start} and at < ${end} ${dimensions(selection)}
      union all ${rollups(sql`hour = ${hour} and not exists (${kept})`)}`
  }
  if (from && to && sameHour) return calls(from, to)

  const after = firstHour ? sql`hour >= ${firstHour}` : sql`1 = 1`
  const before = lastHour ? sql`hour < ${lastHour}` : sql`1 = 1`
  const parts = [rollups(sql`${after} and ${before}`)]
  if (from && firstHour && from < firstHour) parts.push(calls(from, firstHour))
  if (to && lastHour && lastHour < to) parts.push(calls(lastHour, to))
  return sql.join(parts, sql` union all `)
}

/** The hour that `time`, or the time `later` milliseconds after it, falls into. */
function startOfHour(time: string, later = 0): string {
  return toUtc(Math.floor((Date.parse(time) + later) / HOUR_MS) * HOUR_MS)
}

function dimensions(selection: CallSelection) {
  const { models } = selection
  const wanted = (['status', 'path', 'caller_id'] as const).filter((name) => selection[name] !== undefined)
  return sql.join(
    [
      ...(models ? [sql`and model in (${sql.join(models)})`] : []),
      ...wanted.map((name) => sql`and ${sql.ref(name)} = ${selection[name]}`),
    ],
    sql` `,
  )
}

function sums(rows: readonly SummedRow[]): CallSums {
  const total = (field: Exclude<keyof SummedRow, 'key' | 'status'>, of = rows) =>
    of.reduce((sum, row) => sum + Number(row[field]), 0)
  const calls = total('calls')
  const failed = rows.filter((row) => row.status === 'error')
  const errors = total('calls', failed)
  const latencies = new Map<number, number>()
  for (const row of rows)
    latencies.set(row.latency_bucket, (latencies.get(row.latency_bucket) ?? 0) + Number(row.calls))
  return {
    calls,
    errors,
    error_rate: calls === 0 ? 0 : errors / calls,
    prompt_tokens: total('prompt_tokens'),
    completion_tokens: total('completion_tokens'),
    total_tokens: total('total_tokens'),
    upstream_cost_usd: toUsd(total('upstream_cost_micros')),
    latency_ms: { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95), p99: quantile(latencies, 0.99) },
  }
}
