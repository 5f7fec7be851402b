import * as z from 'zod'
import { CallStats, CallSums, StatsQuery } from '../src/calls/call-stats.ts'
import { plain } from '../src/text/plain.ts'
import { defineTool } from './tool.ts'

/** Sums as a model reads them, without those of prompt caches, which are for operators. */
const Sums = CallSums.omit({ cache: true })
type Sums = z.infer<typeof Sums>

export const upstreamApiStats = defineTool({
  name: 'gateway_upstream_api_stats',
  title: 'Sum up upstream calls',
  description:
    'Sums of the calls to the model provider: errors, tokens, cost, latency percentiles. Use it for "what did we spend ' +
    'this week" or "which model is slow"; for single calls use gateway_upstream_api_history. ' +
    'Example: from "2026-11-14T00:00:00Z", group_by "day".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject(StatsQuery.shape),
  output: CallStats.extend({ totals: Sums, groups: z.array(CallStats.shape.groups.element.omit({ cache: true })) }),
  run: (gateway, input) => gateway.calls.stats(input),
  render: ({ totals, groups }) =>
    [`total: ${line(totals)}`, ...groups.map((group) => `${plain(group.key || '(none)')}: ${line(group)}`)].join('\n'),
})

const line = (sums: Sums) =>
  `${sums.calls} calls, ${sums.errors} errors, ${sums.refused} refused, ${sums.total_tokens} tokens, $${sums.upstream_cost_usd}, ` +
  `p50 ${sums.latency_ms.p50 ?? '-'} ms, p99 ${sums.latency_ms.p99 ?? '-'} ms`
