import type { List } from '../../paging.ts'

/** What a caller has, as `GET /api/wallet` tells it; amounts in USD. */
export interface Balances {
  available_usd: number
  held_usd: number
  escrow_usd: number
  credit_limit_usd: number
  daily_limit_usd: number | null
}

/** An amount of a coin or a token, exact in `amount`. */
interface Amount {
  symbol: string
  amount: string
}

/** What an address has on one chain. */
export interface ChainBalance {
  chain_id: number
  chain: string
  address: string
  native: Amount | null
  tokens: Amount[]
  block_number: number | null
  as_of: string
  error: string | null
}

/** `GET /api/wallet` */
export interface Wallet {
  address: string | null
  agent: string
  settlement: 'ledger' | 'evm'
  ledger: Balances
  balances: ChainBalance[]
}

/** A transfer as one account's statement shows it. */
export interface StatementLine {
  key: string
  position: number
  kind: string
  at: string
  amount_usd: number
  entries: { account: string; amount_usd: number }[]
}

/** `GET /api/wallet/ledger` */
export interface Statement extends List<StatementLine> {
  caller_id: string
  balances: Balances
}

/** What a key is held to; null is no limit. */
export interface KeyLimits {
  credit_limit_usd: number | null
  budgets: { usd: number; per: 'day' | 'week' | 'month' | 'total' }[]
}

/** The most that a key may spend in a day, in USD; null is no limit. */
export const dailyBudget = ({ budgets }: KeyLimits): number | null =>
  budgets.find(({ per }) => per === 'day')?.usd ?? null

/** A key, as `GET /api/keys` lists it. */
export interface KeyRecord {
  id: string
  name: string
  scopes: string[]
  wallet: string | null
  limits: KeyLimits
  last_used_at: string | null
  revoked_at: string | null
}

/** `GET /api/wallet/metered/pricing` */
export interface Pricing {
  token: string
  network: string
  margin_usd: number
  models: { id: string; use: string; price_per_1k_tokens_usd: number }[]
}
