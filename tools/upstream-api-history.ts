import * as z from 'zod'
import { CallFilter } from '../src/calls/call-list.ts'
import { CallRecord } from '../src/calls/call-record.ts'
import { plain } from '../src/text/single-line.ts'
import { defineTool } from './tool.ts'

/** A call as a model reads it, without its session and what operators alone need. */
const ListedCall = CallRecord.omit({
  session_id: true,
  thread_id: true,
  parent_id: true,
  turn_id: true,
  kind: true,
  client: true,
  client_version: true,
  provider_key: true,
  cache: true,
  timing: true,
})

export const upstreamApiHistory = defineTool({
  name: 'gateway_upstream_api_history',
  title: 'List upstream calls',
  description:
    'Calls to the model provider, newest first, with tokens, cost, latency and error. Tells why a call ' +
    'failed; for sums use gateway_upstream_api_stats. Example: status "error".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: CallFilter.omit({
    session: true,
    address: true,
    group: true,
    upstream: true,
    kind: true,
    min_cost_usd: true,
  }).strict(),
  output: z.object({ items: z.array(ListedCall), total: z.int(), next_cursor: z.string().nullable() }),
  run: ({ calls }, input, { maxBytes }) => calls.history({ ...input, maxBytes }),
  render({ items, total, next_cursor }) {
    const lines = items.map(
      (call) =>
        `${call.at} ${call.status} ${plain(`${call.path} ${call.model ?? '-'}`)} ${call.latency_ms} ms ` +
        `${call.usage?.total_tokens ?? '?'} tokens $${call.upstream_cost_usd ?? '?'} ${call.call_id}` +
        (call.error ? `\n  ${plain(call.error)}` : ''),
    )
    const more = next_cursor ? [`More with cursor ${next_cursor}`] : []
    return [`${total} ${total === 1 ? 'call' : 'calls'}`, ...lines, ...more].join('\n')
  },
})
