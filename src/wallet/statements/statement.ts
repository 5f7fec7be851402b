import * as z from 'zod'
import { SessionGroupBy } from '../../calls/call-groups.ts'
import { Envelope } from '../../signing/envelope.ts'
import { ReceiptPrice } from '../receipts/receipt.ts'

/** Kinds of movements on a statement, by the kind of their transfers. Reservations move nothing out of an account. */
export const MOVEMENTS = {
  deposit: 'deposits_usd',
  refund: 'refunds_usd',
  return: 'refunds_usd',
  lock: 'escrow_usd',
  release: 'earned_usd',
  withdraw: 'withdrawals_usd',
  purchase: 'purchases_usd',
  bind: 'moved_usd',
} as const

/** Money that moved into an account on one day; negative when it left. */
export const Movement = z.object({
  day: z.iso.date(),
  kind: z.string().describe('Kind of the transfers in the ledger'),
  count: z.int(),
  amount_usd: z.number(),
})
export type Movement = z.infer<typeof Movement>

/** Calls of one day to one model of one upstream at one price, or with `group_by` those of one group. */
export const StatementCharge = z.object({
  day: z.iso.date().nullable().describe('Null, as are model, upstream and price, for the calls of a group'),
  model: z.string().nullable(),
  upstream: z.string().nullable().describe('Empty for calls of earlier versions'),
  group: z
    .string()
    .nullable()
    .optional()
    .describe('Session, repository, branch, commit, client or tags; null for calls without, and of deleted records'),
  caller_id: z.string().optional().describe('Key or wallet of a session'),
  charged: z.boolean().describe('False where the cost is only recorded; it is not part of any sum of money'),
  calls: z.int(),
  prompt_tokens: z.int().describe('Of these, the three below have their own rates'),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  cache_write_1h_tokens: z.int().describe('Part of cache_write_tokens'),
  completion_tokens: z.int(),
  price: ReceiptPrice.nullable().describe(
    'Each call is rounded up to a micro-dollar; null for calls of earlier versions',
  ),
  upstream_cost_usd: z.number(),
  margin_usd: z.number(),
  total_usd: z.number(),
  estimated_calls: z.int(),
  capped_calls: z.int().describe('Calls that cost more than was taken for them'),
  stated_calls: z.int().describe('Calls whose cost the vendor stated'),
  absorbed_usd: z.number().describe('Part that the operator bears; not in total_usd'),
  debt_usd: z.number().describe('Part of total_usd that credit did not hold'),
})
export type StatementCharge = z.infer<typeof StatementCharge>

const Totals = z.object({
  deposits_usd: z.number(),
  refunds_usd: z.number().describe('Escrows given back, and payments of requests that were not served'),
  escrow_usd: z.number().describe('Locked in escrow; negative'),
  earned_usd: z.number().describe('Rewards of released escrows'),
  withdrawals_usd: z.number().describe('Negative'),
  purchases_usd: z.number().describe('Requests paid from the balance of a wallet; negative'),
  moved_usd: z.number().describe('Between the accounts of a wallet and its keys'),
  charges_usd: z.number().describe('Cost and margin of charged calls; negative'),
  upstream_cost_usd: z.number().describe('Part of charges_usd'),
  margin_usd: z.number().describe('Part of charges_usd'),
  recorded_usd: z.number().describe('Cost of calls that are not charged; moves no money'),
  settlements_usd: z
    .number()
    .describe('Paid on a chain for withdrawals and escrows; left the account when it was locked'),
  absorbed_usd: z.number().describe("Part of the providers' bill that the operator bears; moves no money"),
  debts_usd: z
    .number()
    .describe('Part of the charges that deposits and credit did not hold when they were made; a deposit ends it'),
})
export type Totals = z.infer<typeof Totals>

/** Account of a caller, a group or everyone over a period. */
export const Statement = z.object({
  period: z.string(),
  starts_at: z.iso.datetime(),
  ends_at: z.iso.datetime(),
  closed_at: z.iso.datetime().nullable().describe('Null while more can be booked into the period'),
  of: z.object({ kind: z.enum(['caller', 'group', 'all']), id: z.string().nullable() }),
  currency: z.literal('USD'),
  group_by: SessionGroupBy.optional().describe('What the charges are grouped by; by day, model and price without it'),
  opening_usd: z.number().describe('Balance at the start, with what was reserved for running calls'),
  movements: z.array(Movement),
  charges: z.array(StatementCharge),
  totals: Totals,
  closing_usd: z.number().describe('The opening balance, all movements, and the charges'),
  ledger_head: z
    .string()
    .describe('SHA-256 over the heads of all chains of the ledger; of a closed period, when it was closed'),
})
export type Statement = z.infer<typeof Statement>

/** A statement and what the gateway signs of it: an in-toto statement about the bytes of its CSV. */
export const SignedStatement = Statement.extend({ signature: Envelope })
export type SignedStatement = z.infer<typeof SignedStatement>
