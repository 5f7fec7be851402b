import type { Gateway } from '../../src/gateway.ts'
import { type Micros, toMicros } from '../../src/money.ts'
import { createPayments, loadMethods, type Payments } from '../../src/payments/payments.ts'
import { paymentSettings } from '../../src/payments/settings.ts'
import type { Sweep } from '../../src/store/sweeps.ts'

/** How often payments of processes that died are looked for, in milliseconds. */
const UNFINISHED_MS = 60_000

/** Payments as the platform takes them. */
export interface PlatformPayments extends Payments {
  /** What one request to `/v1` costs. */
  amount: Micros
  /** For `startSweeps`. */
  sweeps: readonly Sweep[]
}

/**
 * Payments as they are configured; what could not be delivered is credited in the wallet's ledger.
 *
 * @throws GazewayError `config_invalid` naming what is missing
 */
export async function openPayments(gateway: Gateway): Promise<PlatformPayments> {
  const { store, wallet, log } = gateway
  const settings = paymentSettings(gateway.loaded.config)
  const payments = createPayments({
    store,
    now: () => new Date(),
    methods: await loadMethods(settings, gateway.chain),
    credit: wallet.credit,
    onError: (err) => log.error('What became of a payment could not be noted; it is looked at again.', { err }),
    onSpent: ({ id, method, payer, proof }) =>
      log.warn(
        'A payment was ended and not credited: its authorization was used for something else, so that it can never be made.',
        { payment: id, method, payer, proof },
      ),
  })
  const sweeps = [{ name: 'payments.unfinished', everyMs: UNFINISHED_MS, batch: payments.sweep }]
  return {
    ...payments,
    sweeps,
    get amount() {
      return toMicros(gateway.loaded.config.mpp.amount_usd) as Micros
    },
  }
}
