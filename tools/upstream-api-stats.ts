import * as z from 'zod'
import { CacheSums } from '../src/calls/call-cache.ts'
import { CallStats, CallSums, StatsQuery } from '../src/calls/call-stats.ts'
import { plain } from '../src/text/single-line.ts'
import { defineTool } from './tool.ts'

/** Sums as a model reads them, in few tokens: without what follows from other figures, or is for operators. */
const Sums = CallSums.omit({ error_rate: true }).extend({
  cache: CacheSums.pick({ hit_rate: true, saved_usd: true }),
  latency_ms: CallSums.shape.latency_ms.omit({ p95: true }),
})
type Sums = z.infer<typeof Sums>

export const upstreamApiStats = defineTool({
  name: 'gateway_upstream_api_stats',
  title: 'Sum up upstream calls',
  description:
    'Sums of calls to the provider: "what did this branch cost", "which model is slow"; for single calls use ' +
    'gateway_upstream_api_history. Example: group_by "day".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject(StatsQuery.shape),
  output: CallStats.extend({
    totals: Sums,
    groups: z.array(Sums.extend(CallStats.shape.groups.element.pick({ key: true }).shape)),
  }),
  run: (gateway, input) => gateway.calls.stats(input),
  render: ({ totals, groups }) =>
    [`total: ${line(totals)}`, ...groups.map((group) => `${plain(group.key || '(none)')}: ${line(group)}`)].join('\n'),
})

const line = (sums: Sums) =>
  `${sums.calls} calls, ${sums.errors} errors, ${sums.refused} refused, ${sums.total_tokens} tokens, $${sums.upstream_cost_usd}, ` +
  `${cacheLine(sums)}p50 ${sums.latency_ms.p50 ?? '-'} ms, p99 ${sums.latency_ms.p99 ?? '-'} ms`

const cacheLine = ({ cache: { hit_rate, saved_usd } }: Sums): string =>
  hit_rate === null ? '' : `${Math.round(hit_rate * 100)} % of the input cached ($${saved_usd} saved), `
