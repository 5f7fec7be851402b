import * as z from 'zod'
import { eachMediumKind } from '../../providers/preset.ts'
import { PRICE_ORIGINS } from '../../providers/prices.ts'
import { Usage } from '../../providers/token-usage.ts'

const MediumOfReceipt = z
  .object({ input_tokens: z.int(), cached_input_tokens: z.int(), output_tokens: z.int() })
  .optional()
  .describe('Tokens of the medium, at its rates; the others are text. Absent from sums')

/** Rates of a call and their source. */
export const ReceiptPrice = z.object({
  input: z.number().describe('US dollars per 1,000,000 tokens, as all rates'),
  output: z.number(),
  cached_input: z.number().optional(),
  cache_write: z.number().optional(),
  cache_write_1h: z.number().optional(),
  ...eachMediumKind(() => z.number().optional().describe('Where a call had some')),
  tier: z.string().nullable().describe('Service tier that answered; null for the standard one'),
  mixed: z
    .literal(true)
    .optional()
    .describe('Several models used the tokens, each at its own price; these rates are those of the requested one'),
  from: z.enum(PRICE_ORIGINS).describe('flat, dearest: the model has no price; fixed: the price of metered models'),
  id: z.string().optional().describe('Name of the price'),
  source: z.string().optional(),
  date: z.string().optional().describe('Day on which the source was read'),
  audio: MediumOfReceipt,
  image: MediumOfReceipt,
  video: MediumOfReceipt,
})
export type ReceiptPrice = z.infer<typeof ReceiptPrice>

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
  at: z.iso
    .datetime()
    .describe('Start of the call; the first moment after a period that was closed before the call ended'),
  caller_name: z.string().nullable().describe('Name of the key; null for a wallet'),
  group_id: z.string().nullable(),
  session: z.string().nullable().describe('Session of the call, as its client says; null once its record is deleted'),
  upstream: z.string().describe('Empty for receipts of earlier versions'),
  price: ReceiptPrice.nullable().describe(
    'Rates that the cost was computed from, rounded up once to a micro-dollar; null for receipts of earlier versions',
  ),
  charged: z.boolean().describe('False where the cost is only recorded'),
  capped: z.boolean().describe('The call cost more than was taken for it'),
  stated: z.boolean().describe('The vendor stated the cost'),
  absorbed_usd: z.number().describe("Part of the provider's bill that the operator bears; not in total_usd"),
  debt_usd: z.number().describe('Part of total_usd that the credit of the caller did not hold'),
  transfer: z.string().nullable().describe('Key of the ledger transfer that took the money'),
  upstream_call_id: z.string().nullable().describe('Id of the call in the audit trail'),
})
export type ReceiptRecord = z.infer<typeof ReceiptRecord>
