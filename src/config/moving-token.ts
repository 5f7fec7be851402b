import type { Config } from './config-schema.ts'

/** Name and network of the payment token. */
export interface MovingToken {
  token: string
  network: string
}

type Moves = Pick<Config, 'chain' | 'mpp' | 'pricing'>
type SettlementMode = Config['chain']['settlement']['mode']

const TEMPO_TEST = 42_431
const PATH_USD = '0x20c0000000000000000000000000000000000000'

/**
 * Finds the payment token. On a chain it is the settlement token. The ledger moves no token, so an amount has the token
 * of payments, else that of settlements, else `pricing.token`.
 */
export function movingToken(config: Moves, mode: SettlementMode = 'ledger'): MovingToken {
  const { chain, mpp, pricing } = config
  if (mode === 'evm' || (chain.settlement.mode === 'evm' && !mpp.enabled)) return settlementToken(config)
  if (!mpp.enabled) return { token: pricing.token, network: pricing.network }
  return { evm: evmToken, tempo: tempoToken }[mpp.methods[0] ?? 'evm'](config)
}

function settlementToken({ chain: { settlement, networks }, pricing }: Moves): MovingToken {
  const { chain_id, token } = settlement
  return { token: token ?? pricing.token, network: nameOf(networks, chain_id) ?? pricing.network }
}

function evmToken({ chain: { networks }, mpp: { evm }, pricing }: Moves): MovingToken {
  const { chain_id, token, token_name } = evm
  const network = nameOf(networks, chain_id) ?? pricing.network
  return { token: symbolOf(networks, chain_id, token) ?? token_name ?? pricing.token, network }
}

function tempoToken({ chain: { networks }, mpp: { tempo }, pricing }: Moves): MovingToken {
  const { chain_id, token } = tempo
  const known = token.toLowerCase() === PATH_USD ? 'pathUSD' : token
  const network = chain_id === TEMPO_TEST ? 'test' : (nameOf(networks, chain_id) ?? pricing.network)
  return { token: symbolOf(networks, chain_id, token) ?? known, network }
}

type Networks = Config['chain']['networks']

/** Configured name of a chain, or its CAIP-2 id; null without a chain. */
const nameOf = (networks: Networks, chainId: number | null): string | null =>
  chainId === null ? null : (networks[chainId]?.name ?? `eip155:${chainId}`)

function symbolOf(networks: Networks, chainId: number | null, address: string | null): string | undefined {
  const tokens = chainId === null ? [] : (networks[chainId]?.tokens ?? [])
  return tokens.find((token) => token.address.toLowerCase() === address?.toLowerCase())?.symbol
}
