import * as z from 'zod'
import type { Node } from './chain-node.ts'
import type { Network, Token } from './networks.ts'

/** Lifetime of a cached balance in milliseconds. */
const FRESH_MS = 1000
/** Maximum number of addresses whose balances are cached. */
const MAX_REMEMBERED = 1000

const Amount = z.object({
  symbol: z.string(),
  amount: z.string().describe('In whole coins, exact'),
  raw: z.string().describe('In the smallest unit'),
  decimals: z.int(),
})

/** Balances of an address on one chain. */
export const ChainBalance = z.object({
  chain_id: z.int(),
  chain: z.string(),
  address: z.string(),
  native: Amount.nullable().describe('Null when unreadable'),
  tokens: z.array(Amount.extend({ address: z.string() })).describe('Tokens whose balance could be read'),
  block_number: z.int().nullable(),
  as_of: z.iso.datetime(),
  error: z.string().nullable().describe('The failed reads and their reasons'),
})
export type ChainBalance = z.infer<typeof ChainBalance>

/** Reads balances. Concurrent reads of one address share a request. */
export interface BalanceReader {
  /** Reads the balances of `address` on every chain. Never throws for a chain that fails; its `error` says why. */
  read(address: string): Promise<ChainBalance[]>
}

/** Reads balances from the nodes of `networks`. */
export function createBalanceReader(deps: {
  networks: readonly Network[]
  nodeOf: (network: Network) => Promise<Node>
  now: () => Date
}): BalanceReader {
  const { networks, nodeOf, now } = deps
  const readings = new Map<string, { at: number; balances: Promise<ChainBalance[]> }>()

  async function readOne(network: Network, address: `0x${string}`): Promise<ChainBalance> {
    const { chainId: chain_id, name: chain } = network
    const nothing = { chain_id, chain, address, native: null, tokens: [], block_number: null }
    if (network.rpcUrl === null)
      return { ...nothing, as_of: now().toISOString(), error: `No node is set. Set chain.rpc_urls.${chain_id}.` }
    const node = await nodeOf(network)
    try {
      return { ...nothing, ...(await readBalances(node, network, address)), as_of: now().toISOString() }
    } catch (error) {
      return { ...nothing, as_of: now().toISOString(), error: node.faultOf(error) }
    }
  }

  return {
    read(address) {
      const key = address.toLowerCase()
      const at = performance.now()
      const known = readings.get(key)
      if (known && at - known.at < FRESH_MS) return known.balances
      for (const [old, reading] of readings)
        if (at - reading.at >= FRESH_MS || readings.size >= MAX_REMEMBERED) readings.delete(old)
      const balances = Promise.all(networks.map((network) => readOne(network, key as `0x${string}`)))
      readings.set(key, { at, balances })
      return balances
    },
  }
}

/** Sends all requests at once, so that a slow node costs its delay once. */
async function readBalances(
  { client, verify, faultOf }: Node,
  { native, tokens }: Network,
  address: `0x${string}`,
): Promise<Pick<ChainBalance, 'native' | 'tokens' | 'block_number' | 'error'>> {
  const asked = Promise.allSettled(tokens.map(({ address: token }) => tokenBalance(client, token, address)))
  const [, block, raw, found] = await Promise.all([
    verify(),
    client.getBlockNumber(),
    client.getBalance({ address }),
    asked,
  ])
  const faults: string[] = []
  const read = tokens.flatMap((token, i) => {
    const result = found[i] as PromiseSettledResult<bigint>
    if (result.status === 'fulfilled') return [{ ...amountOf(token, result.value), address: token.address }]
    faults.push(`${token.symbol}: ${faultOf(result.reason)}`)
    return []
  })
  return {
    native: amountOf(native, raw),
    tokens: read,
    block_number: Number(block),
    error: faults.length === 0 ? null : faults.join(' '),
  }
}

function amountOf({ symbol, decimals }: Pick<Token, 'symbol' | 'decimals'>, raw: bigint) {
  return { symbol, amount: inCoins(raw, decimals), raw: String(raw), decimals }
}

/**
 * Formats an amount of smallest units as whole coins, exactly.
 *
 * @example inCoins(1_500_000n, 6) // '1.5'
 */
export function inCoins(raw: bigint, decimals: number): string {
  const digits = String(raw).padStart(decimals + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)]
  const trimmed = fraction.replace(/0+$/, '')
  return trimmed === '' ? whole : `${whole}.${trimmed}`
}

/** Call data of `balanceOf(address)` (ERC-20). */
const balanceOfCall = (owner: string) => `0x70a08231${owner.slice(2).padStart(64, '0')}` as const

/**
 * Reads `owner`'s balance of an ERC-20 token, in its smallest unit.
 *
 * @throws RangeError when the address has no such contract
 */
async function tokenBalance(client: Node['client'], token: `0x${string}`, owner: string): Promise<bigint> {
  const { data } = await client.call({ to: token, data: balanceOfCall(owner) })
  if (data !== undefined && data.length === 66) return BigInt(data)
  throw new RangeError('There is no token at its address. Check the address in chain.networks.')
}
