import * as z from 'zod'
import { ChainBalance } from '../../../src/chain/chain.ts'
import { NewWithdrawal, Withdrawal, WithdrawalId } from '../../../src/chain/withdrawals.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import { csvOf } from '../../../src/store/csv.ts'
import {
  Balances,
  type MoneyQuery,
  StatementLine,
  StatementQuery,
  TRANSFER_COLUMNS,
} from '../../../src/wallet/wallet.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { shownTo } from '../caller.ts'
import { csvReply, wantsCsv } from '../csv.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const WalletOverview = z.object({
  address: z
    .string()
    .nullable()
    .describe('Wallet bound to the key; for an admin without one, the account that Gazeway pays from'),
  agent: z.string().describe('The id of the key'),
  settlement: z.enum(['ledger', 'evm']).describe('Where money moves: only in the ledger, or also on a chain'),
  ledger: Balances,
  balances: z.array(ChainBalance).describe('Balances of the address on every chain; empty without an address'),
})
export type WalletOverview = z.infer<typeof WalletOverview>

const ChainBalances = z.object({ items: z.array(ChainBalance), total: z.int() })
export type ChainBalances = z.infer<typeof ChainBalances>

const Statement = pageOf(StatementLine).extend({ caller_id: z.string(), balances: Balances })
export type Statement = z.infer<typeof Statement>

/** Routes of the caller's balances. */
export const walletRoutes = ({ wallet, chain, withdrawals }: Gateway): Route[] => {
  async function onChains(caller: Identity) {
    const address = caller.wallet ?? (caller.scopes.has('admin') ? await chain.address() : null)
    return { address, balances: address === null ? [] : await chain.balances(address) }
  }

  return [
    defineRoute('GET /api/wallet', {
      operation: 'getWallet',
      summary: 'Retrieve the wallet of the caller',
      description: 'Balances in the ledger and on every configured chain. If a chain cannot be read, error says why.',
      access: 'platform',
      reply: WalletOverview,
      async run({ c }) {
        const caller = callerOf(c)
        const [ledger, { address, balances }] = await Promise.all([wallet.balances(caller.id), onChains(caller)])
        return { address, agent: caller.id, settlement: chain.settlements.mode, ledger, balances }
      },
    }),
    defineRoute('GET /api/wallet/balances', {
      operation: 'listBalances',
      summary: 'List coin and token balances on all configured chains',
      description: 'Read from a node of each chain. A balance is at most a second old.',
      access: 'platform',
      reply: ChainBalances,
      async run({ c }) {
        const { balances } = await onChains(callerOf(c))
        return { items: balances, total: balances.length }
      },
    }),
    defineRoute('GET /api/wallet/ledger', {
      operation: 'listLedgerEntries',
      summary: 'List the transfers of an account, newest first, with its balance',
      description:
        'For the caller, or the wallet that it is bound to. An admin can read all. Reserved money that a call did ' +
        'not use is returned. With Accept: text/csv, returns all selected transfers as CSV.',
      access: 'own',
      query: StatementQuery.strict(),
      reply: Statement,
      alsoAnswers: ['text/csv'],
      async run({ query: { caller_id: asked, ...query }, c }) {
        const caller = callerOf(c)
        const callerId = shownTo(caller, asked) ?? caller.id
        const transfers = (page: MoneyQuery) => wallet.statement(callerId, page)
        if (wantsCsv(c)) return csvReply('ledger', csvOf(TRANSFER_COLUMNS, transfers, query))
        const balances = await wallet.balances(callerId)
        return listReply(query, async (part) => ({
          ...(await wallet.statement(callerId, part)),
          caller_id: callerId,
          balances,
        }))
      },
    }),
    ...withdrawalRoutes(withdrawals),
  ]
}

const withdrawalRoutes = (withdrawals: Gateway['withdrawals']): Route[] => [
  defineRoute('POST /api/wallet/withdraw', {
    operation: 'withdraw',
    summary: 'Create a withdrawal to a chain',
    description:
      'Takes the amount from the caller’s account at once, and pays it in the token of settlements. Only deposited ' +
      'money can be withdrawn (402 insufficient_credit). Send an Idempotency-Key: without one, each retry pays ' +
      'again.',
    access: 'admin',
    body: NewWithdrawal,
    reply: Withdrawal,
    idempotent: true,
    run: ({ body, keep }) => withdrawals.make(body, keep),
  }),
  defineRoute('GET /api/wallet/withdraw/{id}', {
    operation: 'getWithdrawal',
    summary: 'Retrieve a withdrawal and its payment status',
    access: 'admin',
    params: z.object({ id: WithdrawalId }),
    reply: Withdrawal,
    run: ({ params }) => withdrawals.get(params.id),
  }),
]
