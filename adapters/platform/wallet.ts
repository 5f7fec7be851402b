import { z } from 'zod'
import type { Gateway } from '../../src/gateway.ts'
import { Balances } from '../../src/wallet/wallet.ts'
import { callerOf } from './caller.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Wallet'

const ChainBalance = z.object({
  chain_id: z.int(),
  chain: z.string(),
  address: z.string(),
  error: z.string().nullable(),
})

const WalletOverview = z.object({
  address: z.string().nullable().describe('The wallet that is bound to the key'),
  agent: z.string().describe('The id of the key'),
  settlement: z.enum(['ledger', 'evm']).describe('Where money moves: in the ledger only, or on a chain, too'),
  ledger: Balances,
  balances: z.array(ChainBalance).describe('On chains; empty where none is configured'),
})

/** What the caller has. */
export const walletRoutes = ({ wallet }: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/wallet',
    tag,
    summary: 'What the caller has',
    access: 'platform',
    reply: WalletOverview,
    async run({ c }) {
      const { id, wallet: address } = callerOf(c)
      const ledger = await wallet.balances(id)
      return { address, agent: id, settlement: 'ledger' as const, ledger, balances: [] }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/wallet/balances',
    tag,
    summary: 'Balances on all chains that are configured',
    access: 'platform',
    reply: z.object({ items: z.array(ChainBalance), total: z.int() }),
    run: async () => ({ items: [], total: 0 }),
  }),
]
