import type { Config } from '../config/config-schema.ts'
import type { SettlementMode } from './settlements.ts'

/** The token that moves, by name, and its network. */
export interface MovingToken {
  token: string
  network: string
}

type Moves = Pick<Config, 'chain' | 'mpp' | 'pricing'>

const TEMPO_TEST = 42_431
const PATH_USD = '0x20c0000000000000000000000000000000000000'

/**
 * The token of what is paid where rewards are settled so: on a chain that of settlements. In the ledger no token moves; an
 * amount is in the token that it was paid in with: that of payments, else that of settlements, else `pricing.token`.
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

/** A chain as it is configured, else by its number (CAIP-2); null where none is named. */
const nameOf = (networks: Networks, chainId: number | null): string | null =>
  chainId === null ? null : (networks[chainId]?.name ?? `eip155:${chainId}`)

function symbolOf(networks: Networks, chainId: number | null, address: string | null): string | undefined {
  const tokens = chainId === null ? [] : (networks[chainId]?.tokens ?? [])
  return tokens.find((token) => token.address.toLowerCase() === address?.toLowerCase())?.symbol
}
