import * as z from 'zod'
import { GroupId } from '../identity/group.ts'
import { CallerId } from '../identity/key.ts'
import { toUtc } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { toUsd } from '../text/money.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { CacheSums, cacheSums } from './call-cache.ts'
import { addFigures, type CallFigures, NO_CALLS } from './call-figures.ts'
import { groupName, isCallGroup, MOST_GROUPS, OTHER_GROUPS } from './call-groups.ts'
import {
  type CallSelection,
  ChartGroupBy,
  GroupBy,
  isOfKept,
  KEPT_FILTERS,
  keptRows,
  keysOfGroup,
  type SummedRow,
  summedRows,
} from './call-selection.ts'
import { LONGEST_SESSION_ID } from './call-session.ts'
import { statusOf } from './call-status.ts'
import { addLatencies, addLatency, type LatencyCounts, quantile } from './latency-buckets.ts'
import { callsOfSession } from './named-session.ts'

/** Rows or groups summed before the event loop is yielded. */
const ROWS_AT_ONCE = 500

/**
 * Sums over a set of calls. Latency quantiles are accurate to 2.5 % and omit refused calls; null without calls.
 */
export const CallSums = z.object({
  calls: z.int(),
  errors: z.int(),
  refused: z.int().describe('Calls refused for the key, money, permissions or limits of their caller'),
  error_rate: z.number().describe('Share of errors among calls that were not refused, 0–1'),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  upstream_cost_usd: z.number(),
  cache: CacheSums,
  latency_ms: z.object({ p50: z.int().nullable(), p95: z.int().nullable(), p99: z.int().nullable() }),
})
export type CallSums = z.infer<typeof CallSums>

const CallGroup = CallSums.extend({
  key: z.string().describe('Value of the grouping; empty for none'),
  caller_id: z.string().optional().describe('Key or wallet of a session; empty for none'),
})

/** Sums over all selected calls, and per group if a grouping was requested. */
export const CallStats = z.object({ totals: CallSums, groups: z.array(CallGroup) })
export type CallStats = z.infer<typeof CallStats>

/** Selects the calls to count. `from` is inclusive, `to` exclusive. */
export const StatsQuery = z.object({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  group_by: GroupBy.optional(),
})
export type StatsQuery = z.infer<typeof StatsQuery>

/** A {@link StatsQuery} that can also select one caller, group or model, and group by hour. */
export const ChartQuery = StatsQuery.extend({
  caller_id: CallerId.optional().describe('Only the calls of this key or wallet.'),
  group: GroupId.optional().describe('Only the calls of the keys that are in this group now.'),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Only the calls of this model: the provider's id, or an alias of it."),
  path: z.string().max(1024).optional().describe('Only the calls of this path.'),
  session: z.string().min(1).max(LONGEST_SESSION_ID).optional(),
  ...KEPT_FILTERS,
  group_by: ChartGroupBy.optional(),
})
export type ChartQuery = z.infer<typeof ChartQuery>

/** Statistics of the calls in a time range. */
export async function callStats(
  store: Store,
  query: Omit<ChartQuery, 'model'> & Pick<CallSelection, 'models'>,
): Promise<CallStats> {
  const { group_by, session, caller_id, address, upstream, kind, min_cost_usd, path } = query
  const selection = {
    ...{ caller_id, path, address, upstream, kind, min_cost_usd },
    sessions: session === undefined ? undefined : await callsOfSession(store.db, session, caller_id),
    callers: await keysOfGroup(store, query.group),
    models: query.models,
    from: query.from && toUtc(query.from),
    to: query.to && toUtc(query.to),
  }
  const isKept = session !== undefined || isOfKept(query)
  const groups = isCallGroup(group_by)
    ? dearest(await grouped(await keptRows(store, selection, group_by)))
    : await grouped(
        await (isKept ? keptRows(store, selection, group_by ?? null) : summedRows(store, selection, group_by)),
      )
  // A call of several tags is in several groups, and once in the totals.
  const whole = group_by === 'tag' ? await grouped(await keptRows(store, selection, null)) : groups
  const totals = emptySum()
  for (const sum of whole.values()) addSum(totals, sum)
  const found: CallStats['groups'] = []
  for (const [key, sum] of groups) {
    if (found.length % ROWS_AT_ONCE === 0) await yieldToEventLoop()
    found.push({ ...groupName(group_by, key), ...sumsOf(sum) })
  }
  if (isCallGroup(group_by)) return { totals: sumsOf(totals), groups: found }
  return { totals: sumsOf(totals), groups: group_by ? found.sort((a, b) => (a.key < b.key ? -1 : 1)) : [] }
}

async function grouped(rows: readonly SummedRow[]): Promise<Map<string, Sum>> {
  const groups = new Map<string, Sum>()
  for (const [i, row] of rows.entries()) {
    if (i % ROWS_AT_ONCE === 0) await yieldToEventLoop()
    addRow(groupOf(groups, row.key), row)
  }
  return groups
}

/** The dearest groups, and one of all others. */
function dearest(groups: Map<string, Sum>): Map<string, Sum> {
  const ordered = [...groups].sort(
    ([a, one], [b, other]) => other.upstream_cost_micros - one.upstream_cost_micros || (a < b ? -1 : 1),
  )
  const listed = new Map(ordered.slice(0, MOST_GROUPS))
  for (const [, sum] of ordered.slice(MOST_GROUPS)) addSum(groupOf(listed, OTHER_GROUPS), sum)
  return listed
}

/** Running sum of rows. Latencies omit refused calls. */
interface Sum extends CallFigures {
  errors: number
  refused: number
  latencies: LatencyCounts
}

const emptySum = (): Sum => ({ ...NO_CALLS, errors: 0, refused: 0, latencies: [] })

function groupOf(groups: Map<string, Sum>, key: string): Sum {
  const known = groups.get(key)
  if (known) return known
  const sum = emptySum()
  groups.set(key, sum)
  return sum
}

function addRow(sum: Sum, row: SummedRow): void {
  addFigures(sum, row)
  const { counts } = statusOf(row.status)
  if (counts === 'error') sum.errors += row.calls
  if (counts === 'refusal') sum.refused += row.calls
  else addLatencies(sum.latencies, row.latencies)
}

function addSum(sum: Sum, more: Sum): void {
  addFigures(sum, more)
  sum.errors += more.errors
  sum.refused += more.refused
  more.latencies.forEach((calls, bucket) => {
    addLatency(sum.latencies, bucket, calls)
  })
}

function sumsOf({ latencies, ...sum }: Sum): CallSums {
  return {
    calls: sum.calls,
    errors: sum.errors,
    refused: sum.refused,
    error_rate: sum.calls === sum.refused ? 0 : sum.errors / (sum.calls - sum.refused),
    prompt_tokens: sum.prompt_tokens,
    completion_tokens: sum.completion_tokens,
    total_tokens: sum.total_tokens,
    upstream_cost_usd: toUsd(sum.upstream_cost_micros),
    cache: cacheSums(sum),
    latency_ms: { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95), p99: quantile(latencies, 0.99) },
  }
}
