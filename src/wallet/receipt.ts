import { z } from 'zod'
import { Usage } from '../providers/token-usage.ts'

/** What a call cost. `total_usd` is the sum of the other two. */
const Billing = z.object({
  upstream_cost_usd: z.number(),
  margin_usd: z.number(),
  total_usd: z.number(),
  token: z.string().describe('The token that is paid with'),
})

/** The reply to a metered call: the answer, and what it cost. */
export const Receipt = z.object({
  call_id: z.string(),
  result: z.object({ role: z.literal('assistant'), content: z.string() }),
  usage: Usage,
  billing: Billing,
  latency_ms: z.int().describe('From the request to the answer of the upstream'),
})
export type Receipt = z.infer<typeof Receipt>

/** A receipt in the history: whose it is, what was asked and when, without the answer. */
export const ReceiptRecord = Receipt.omit({ result: true }).extend({
  caller_id: z.string(),
  model: z.string(),
  path: z.string().describe('The endpoint that was asked'),
  at: z.iso.datetime().describe('When the call began'),
  upstream_call_id: z.string().nullable().describe('Its record in the audit trail'),
})
export type ReceiptRecord = z.infer<typeof ReceiptRecord>
