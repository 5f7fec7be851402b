import type { Chain } from '../chain/chain.ts'
import type { Config } from '../config/config-schema.ts'
import { PAYMENT_METHODS, type PaymentMethodName } from '../config/sections/mpp-section.ts'
import { GazewayError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import type { PaymentMethod } from './payment.ts'
import { type PaymentSettings, paymentSettings } from './payment-settings.ts'

const loadEvm = lazily(() => import('./evm.ts'))
const loadTempo = lazily(() => import('./tempo.ts'))

/** Timeout of a node during a settlement, in milliseconds. */
const NODE_MS = 10_000

/**
 * Loads the configured payment methods. Imports are lazy, because the libraries of a method load slowly.
 *
 * @param chain assigns the nonces of the wallet account's transactions
 */
export async function loadMethods(settings: PaymentSettings, chain: Pick<Chain, 'account'>): Promise<PaymentMethod[]> {
  const methods: PaymentMethod[] = []
  for (const name of PAYMENT_METHODS) {
    const method = await LOAD[name](settings, chain)
    if (method !== null) methods.push(method)
  }
  return methods
}

type Load = (settings: PaymentSettings, chain: Pick<Chain, 'account'>) => Promise<PaymentMethod | null>

/** Loaders by method name; null without settings. */
const LOAD: Readonly<Record<PaymentMethodName, Load>> = {
  async evm(settings, chain) {
    if (settings.evm === null) return null
    const { chainId, rpcUrl, privateKey, confirmations } = settings.evm
    const account = await chain.account({ chainId, rpcUrl, timeoutMs: NODE_MS, confirmations }, privateKey)
    return (await loadEvm()).evmMethod(settings.evm, settings, account)
  },
  async tempo(settings) {
    return settings.tempo && (await loadTempo()).tempoMethod(settings.tempo, settings)
  },
}

/** Loads all methods with complete settings, enabled or not: payments made with disabled ones may be unfinished. */
export async function loadConfigured(
  { mpp, wallet }: Pick<Config, 'mpp' | 'wallet'>,
  chain: Pick<Chain, 'account'>,
): Promise<PaymentMethod[]> {
  const all: PaymentMethod[] = []
  for (const name of PAYMENT_METHODS) {
    const settings = wholeSettings({ mpp: { ...mpp, methods: [name] }, wallet })
    if (settings) all.push(...(await loadMethods(settings, chain)))
  }
  return all
}

function wholeSettings(config: Pick<Config, 'mpp' | 'wallet'>): PaymentSettings | null {
  try {
    return paymentSettings(config)
  } catch (error) {
    if (error instanceof GazewayError && error.code === 'config_invalid') return null
    throw error
  }
}
