import type { Config } from '../config/config-schema.ts'
import { GazewayError } from '../errors.ts'
import { type Micros, toMicros } from '../text/money.ts'

/** Public node of Tempo's test network. */
const TEMPO_NODE = 'https://rpc.moderato.tempo.xyz'

/** Complete settings of payments on an EVM chain. */
export interface EvmSettings {
  chainId: number
  rpcUrl: string
  token: `0x${string}`
  /** EIP-712 domain of the token. */
  domain: { name: string; version: string }
  decimals: number
  /** Confirmations that a payment needs, its own block included. */
  confirmations: number
  /** Price of the chain's coin in USD; null when unknown. */
  coinUsd: number | null
  /** Gas limit of payments per hour, in coins. */
  gasPerHour: number
  /** Key of the account that pays gas. */
  privateKey: `0x${string}`
}

/** Complete settings of payments on Tempo. */
export interface TempoSettings {
  chainId: number
  rpcUrl: string
  token: `0x${string}`
}

/** Complete settings of payments. */
export interface PaymentSettings {
  secretKey: string
  realm: string
  recipient: `0x${string}`
  /** Price of one request to `/v1`. */
  amount: Micros
  /** Smallest deposit. */
  leastDeposit: Micros
  evm: EvmSettings | null
  tempo: TempoSettings | null
}

/**
 * Reads the payment settings from a configuration.
 *
 * @throws GazewayError `config_invalid` with the first missing key
 */
export function paymentSettings({ mpp, wallet }: Pick<Config, 'mpp' | 'wallet'>): PaymentSettings {
  const { secret_key, realm, recipient, amount_usd, min_deposit_usd, methods } = mpp
  return {
    secretKey: needed('mpp.secret_key', secret_key, 'GAZEWAY_MPP_SECRET_KEY, at least 32 characters'),
    realm,
    recipient: address('mpp.recipient', recipient, 'the address that receives payments'),
    amount: toMicros(amount_usd) as Micros,
    leastDeposit: toMicros(min_deposit_usd) as Micros,
    evm: methods.includes('evm') ? evmSettings(mpp.evm, wallet.private_key) : null,
    tempo: methods.includes('tempo') ? tempoSettings(mpp.tempo) : null,
  }
}

function evmSettings(evm: Config['mpp']['evm'], privateKey: string | null): EvmSettings {
  return {
    chainId: needed('mpp.evm.chain_id', evm.chain_id, 'the id of the chain that settles payments'),
    rpcUrl: needed('mpp.evm.rpc_url', evm.rpc_url, 'the URL of a node of that chain'),
    token: address('mpp.evm.token', evm.token, 'the address of an EIP-3009 token'),
    domain: {
      name: needed('mpp.evm.token_name', evm.token_name, "the name in the token's EIP-712 domain"),
      version: needed('mpp.evm.token_version', evm.token_version, "the version in the token's EIP-712 domain"),
    },
    decimals: evm.decimals,
    confirmations: evm.confirmations,
    coinUsd: evm.coin_usd,
    gasPerHour: evm.max_gas_per_hour,
    privateKey: needed(
      'wallet.private_key',
      privateKey,
      'the private key of an account that can pay gas (GAZEWAY_WALLET_PRIVATE_KEY)',
    ) as `0x${string}`,
  }
}

const tempoSettings = ({ chain_id, rpc_url, token }: Config['mpp']['tempo']): TempoSettings => ({
  chainId: chain_id,
  rpcUrl: rpc_url ?? TEMPO_NODE,
  token: token as `0x${string}`,
})

const address = (key: string, value: string | null, what: string) => needed(key, value, what) as `0x${string}`

function needed<T>(key: string, value: T | null, what: string): T {
  if (value !== null) return value
  throw new GazewayError('config_invalid', `${key}: missing; payments are enabled, so it must be ${what}.`, {
    param: key,
  })
}
