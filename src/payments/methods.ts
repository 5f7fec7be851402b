import type { Chain } from '../chain/chain.ts'
import type { Config } from '../config/config-schema.ts'
import { PAYMENT_METHODS, type PaymentMethodName } from '../config/sections/mpp-section.ts'
import { GazewayError } from '../errors.ts'
import type { PaymentMethod } from './payment.ts'
import { type PaymentSettings, paymentSettings } from './payment-settings.ts'

/** How long a node may take to answer while a payment is settled, in milliseconds. */
const NODE_MS = 10_000

/**
 * The methods that the configuration names. Each is loaded only where it is used, which takes about half a second.
 *
 * @param chain where the transactions of the wallet's account get their numbers
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

/** Every method by its name; null where it has no settings. */
const LOAD: Readonly<Record<PaymentMethodName, Load>> = {
  async evm(settings, chain) {
    if (settings.evm === null) return null
    const { chainId, rpcUrl, privateKey, confirmations } = settings.evm
    const account = await chain.account({ chainId, rpcUrl, timeoutMs: NODE_MS, confirmations }, privateKey)
    return (await import('./evm.ts')).evmMethod(settings.evm, settings, account)
  },
  async tempo(settings) {
    return settings.tempo && (await import('./tempo.ts')).tempoMethod(settings.tempo, settings)
  },
}

/** Every method that is configured whole, whether payments are taken with it or not: some may have been. */
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
