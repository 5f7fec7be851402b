import type { Config } from '../config/config-schema.ts'

/** A token on a chain. */
export interface Token {
  symbol: string
  address: `0x${string}`
  decimals: number
}

/** A chain as it is configured. */
export interface Network {
  chainId: number
  name: string
  native: { symbol: string; decimals: number }
  tokens: readonly Token[]
  /** A node of the chain; it may hold a key. Null where none is configured. */
  rpcUrl: string | null
  timeoutMs: number
  /** Blocks that hold a transaction, its own included, before it counts. */
  confirmations: number
  explorer: string | null
}

/** The chains that are configured, by id. */
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
