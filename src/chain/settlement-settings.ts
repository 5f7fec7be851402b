import type { Config } from '../config/config-schema.ts'
import { GazewayError } from '../errors.ts'
import { gweiToWei } from './fees.ts'
import { type Network, networksOf, type Token } from './networks.ts'

/** Fewest decimals of a token that can pay single micro-dollars. */
const FEWEST_DECIMALS = 6

/** Complete settings of settlements on a chain. */
export interface SettlementChain {
  network: Network & { rpcUrl: string }
  token: Token
  privateKey: string
  pollMs: number
  stuckMs: number
  /** In wei. */
  feeLimit: number
}

/**
 * Reads the settlement settings; null when settlements are paid in the ledger.
 *
 * @throws GazewayError `config_invalid` with the missing or wrong key
 */
export function settlementChain({ chain, wallet }: Pick<Config, 'chain' | 'wallet'>): SettlementChain | null {
  const { mode, chain_id, token: symbol, poll_ms, stuck_after_seconds, max_fee_gwei } = chain.settlement
  if (mode === 'ledger') return null
  const chainId = needed('chain.settlement.chain_id', chain_id, 'the id of one of chain.networks')
  const found = networksOf(chain).find((network) => network.chainId === chainId)
  const network = needed(`chain.networks.${chainId}`, found ?? null, 'the chain that pays escrows')
  const rpcUrl = needed(`chain.rpc_urls.${chainId}`, network.rpcUrl, 'the URL of a node of that chain')
  needed('chain.settlement.token', symbol, `the symbol of one of the tokens of chain.networks.${chainId}`)
  const tokens = network.tokens.filter((one) => one.symbol === symbol)
  const token = needed(`chain.networks.${chainId}.tokens`, tokens[0] ?? null, `the token ${symbol}`)
  if (token.decimals < FEWEST_DECIMALS || tokens.length > 1)
    throw invalid(`chain.networks.${chainId}.tokens`, `one token ${symbol}, of 6 decimals or more`)
  const privateKey = needed(
    'wallet.private_key',
    wallet.private_key,
    'the key of the paying account (GAZEWAY_WALLET_PRIVATE_KEY)',
  )
  return {
    network: { ...network, rpcUrl },
    token,
    privateKey,
    pollMs: poll_ms,
    stuckMs: stuck_after_seconds * 1000,
    feeLimit: gweiToWei(max_fee_gwei),
  }
}

function needed<T>(key: string, value: T | null, what: string): T {
  if (value !== null) return value
  throw invalid(key, what)
}

function invalid(key: string, what: string): GazewayError {
  return new GazewayError(
    'config_invalid',
    `${key}: missing or invalid; escrows are paid on a chain, so it must be ${what}.`,
    {
      param: key,
    },
  )
}
