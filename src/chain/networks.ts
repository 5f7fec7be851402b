import type { Config } from '../config/config-schema.ts'

/** A token on a chain. */
export interface Token {
  symbol: string
  address: `0x${string}`
  decimals: number
}

/** A configured chain. */
export interface Network {
  chainId: number
  name: string
  native: { symbol: string; decimals: number }
  tokens: readonly Token[]
  /** URL of a node, which may contain a secret; null when not configured. */
  rpcUrl: string | null
  timeoutMs: number
  /** Confirmations that a transaction needs, its own block included. */
  confirmations: number
  explorer: string | null
}

/** Lists the configured chains. */
export function networksOf({ networks, rpc_urls }: Config['chain']): Network[] {
  return Object.entries(networks).map(([id, network]) => ({
    chainId: Number(id),
    name: network.name,
    native: network.native,
    tokens: network.tokens.map((token) => ({ ...token, address: token.address.toLowerCase() as `0x${string}` })),
    rpcUrl: rpc_urls[id] ?? null,
    timeoutMs: network.timeout_ms,
    confirmations: network.confirmations,
    explorer: network.explorer,
  }))
}
