import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { MeteredCall } from '../../../src/metering/metered-call.ts'
import {
  Deposit,
  DepositReceipt,
  Pricing,
  Receipt,
  ReceiptRecord,
  UsageQuery,
  UsageSums,
} from '../../../src/wallet/wallet.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { callContext } from '../call-context.ts'
import { callerNamed, shownTo } from '../caller.ts'
import { csvReply, wantsCsv } from '../csv.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import type { KeylessPayments } from '../payments/open-payments.ts'
import { paidCall } from '../payments/paid-call.ts'
import { depositor, depositScope, isPaid, paidDeposit } from '../payments/paid-deposit.ts'

const CallRequest = MeteredCall.extend({
  caller_id: z
    .string()
    .min(1)
    .max(4096)
    .describe(
      'An API key, which also authenticates the call; or a wallet address, with its bound API key or a payment from it',
    ),
})

const UsageReport = pageOf(ReceiptRecord).extend({
  totals: UsageSums,
  by_caller: z.array(UsageSums.extend({ caller_id: z.string() })),
  groups: z
    .array(UsageSums.extend({ key: z.string(), caller_id: z.string().optional().describe('Key of a session') }))
    .describe('By group_by; empty without it'),
})

/**
 * Routes of metered model calls.
 *
 * @param payments payments for deposits and calls; null when they are disabled
 * @param stopping aborted shortly before shutdown ends pending work
 */
export const meteredRoutes = (gateway: Gateway, payments: KeylessPayments | null, stopping: AbortSignal): Route[] => [
  defineRoute('POST /api/wallet/metered/call', {
    operation: 'callMetered',
    summary: 'Create a metered model call',
    description:
      'Reserves the most that the call can cost, and charges its actual cost and the margin once the answer is ' +
      'complete. A failed call costs nothing.',
    access: 'caller',
    body: CallRequest,
    reply: Receipt,
    idempotent: true,
    identify({ caller_id, ...call }, c) {
      const paid = paidCall({ caller_id, call }, c, { gateway, payments })
      if (!paid) return callerNamed(caller_id, c, gateway)
      // Checked before any payment, because nobody should pay for an impossible call. Stores nothing for a client that
      // does not pay.
      return paid.identify()
    },
    async run({ body: { caller_id, ...call }, c, keep }) {
      const paid = paidCall({ caller_id, call }, c, { gateway, payments })
      const callerId = paid?.wallet ?? callerOf(c).id
      const context = callContext(c, callerId, stopping)
      await paid?.pay()
      return gateway.metering.call(call, { callerId, context, keep })
    },
  }),
  defineRoute('GET /api/wallet/metered/usage', {
    operation: 'listReceipts',
    summary: 'List receipts and their sums, newest first',
    description:
      'A caller sees its own receipts; an admin sees all. With Accept: text/csv, returns all selected receipts as CSV.',
    access: 'own',
    query: UsageQuery.strict(),
    reply: UsageReport,
    alsoAnswers: ['text/csv'],
    async run({ query, c }) {
      const selection = { ...query, caller_id: shownTo(callerOf(c), query.caller_id) }
      const { usage, usageCsv, receipts } = gateway.wallet
      return wantsCsv(c) ? csvReply('usage', usageCsv(selection)) : listReply(selection, usage, receipts)
    },
  }),
  defineRoute('GET /api/wallet/metered/pricing', {
    operation: 'getPricing',
    summary: 'List metered models and their prices',
    access: 'platform',
    reply: Pricing,
    run: async () => gateway.wallet.pricing(),
  }),
  defineRoute('POST /api/wallet/metered/deposit', {
    operation: 'deposit',
    summary: 'Create a deposit',
    description:
      'An admin deposits once per reference; a repeated request changes nothing. If payments are enabled, anyone ' +
      'can deposit: a request without a key gets a challenge for the amount (402), and the payment is the ' +
      'reference.',
    access: payments ? 'caller' : 'admin',
    body: Deposit.partial({ reference: true }),
    reply: DepositReceipt,
    idempotent: true,
    ...(payments && {
      identify: (body: Pick<Deposit, 'caller_id' | 'amount_usd'>, c: FrameContext) =>
        depositor(c, { gateway, payments }, body),
      keyScope: depositScope,
    }),
    run: ({ body, c }) =>
      payments && isPaid(c) ? paidDeposit(c, { gateway, payments }, body) : gateway.wallet.deposit(body),
  }),
]
