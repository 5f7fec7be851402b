import * as z from 'zod'
import { Usage } from '../../providers/token-usage.ts'

/** Cost of a call. `total_usd` is the sum of cost and margin. */
const Billing = z.object({
  upstream_cost_usd: z.number(),
  margin_usd: z.number(),
  total_usd: z.number(),
  token: z.string().describe('Payment token'),
})

/** Reply to a metered call: the answer and its cost. */
export const Receipt = z.object({
  call_id: z.string(),
  result: z.object({ role: z.literal('assistant'), content: z.string() }),
  usage: Usage,
  billing: Billing,
  latency_ms: z.int().describe('From the request to the answer of the upstream'),
})
export type Receipt = z.infer<typeof Receipt>

/** A receipt in the history, without the answer. */
export const ReceiptRecord = Receipt.omit({ result: true }).extend({
  caller_id: z.string(),
  model: z.string(),
  path: z.string().describe('Called endpoint'),
  at: z.iso.datetime().describe('Start of the call'),
  upstream_call_id: z.string().nullable().describe('Id of the call in the audit trail'),
})
export type ReceiptRecord = z.infer<typeof ReceiptRecord>
