import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { checkPayments } from '../../../src/payments/check-payments.ts'
import { loadConfigured, loadMethods } from '../../../src/payments/methods.ts'
import type { PaymentMethod } from '../../../src/payments/payment.ts'
import { paymentSettings } from '../../../src/payments/payment-settings.ts'
import { createPayments, type FailedPayment, type Payments } from '../../../src/payments/payments.ts'
import { UNFINISHED_MS } from '../../../src/payments/unfinished.ts'
import type { Sweep } from '../../../src/store/sweeps.ts'
import { type Micros, toMicros } from '../../../src/text/money.ts'
import type { FrameContext } from '../../web/frame-context.ts'

/** Payments with the prices and sweeps of the platform. */
export interface PlatformPayments extends Payments {
  /** Price of one request to `/v1`. */
  amount: Micros
  /** Smallest deposit that is accepted. */
  leastDeposit: Micros
  /** Sweeps for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Payments with the limits for requests without a key. */
export interface KeylessPayments extends PlatformPayments {
  /** @throws GazewayError `rate_limited` */
  countKeyless(c: FrameContext): void
}

/**
 * Opens the configured payments. A payment whose request was not served is credited in the wallet's ledger.
 *
 * @throws GazewayError `config_invalid` that names the missing setting, or the fault that the chain reports
 */
export async function openPayments(gateway: Gateway): Promise<PlatformPayments> {
  const settings = paymentSettings(gateway.loaded.config)
  const methods = await loadMethods(settings, gateway.chain)
  await checkPayments(settings, methods).catch((error: unknown) => warnUnlessWrong(error, gateway))
  const payments = connect(gateway, methods)
  /** Never below the cost of a payment, which may have become known or have risen since the check. */
  const atLeast = (usd: number) => Math.max(toMicros(usd) as Micros, ...methods.map((method) => method.least()))
  return {
    ...payments,
    sweeps: [{ name: 'payments.unfinished', everyMs: UNFINISHED_MS, batch: payments.sweep }],
    get amount() {
      return atLeast(gateway.loaded.config.mpp.amount_usd)
    },
    get leastDeposit() {
      return atLeast(gateway.loaded.config.mpp.min_deposit_usd)
    },
  }
}

/** Opens payments that began before payments were disabled. Accepts none, and credits the unfinished ones. */
export const openUnfinished = (gateway: Gateway): Pick<Payments, 'sweep'> => connect(gateway, [])

function connect(gateway: Gateway, methods: readonly PaymentMethod[]): Payments {
  const { store, wallet, chain, log } = gateway
  let configured: Promise<PaymentMethod[]> | undefined
  return createPayments({
    store,
    now: () => new Date(),
    methods,
    retired() {
      configured ??= loadConfigured(gateway.loaded.config, chain)
      return configured
    },
    giveBackIdle: wallet.giveBackIdle,
    credit: wallet.credit,
    onError: (err) => log.error('Failed to record the outcome of a payment; will retry.', { err }),
    onFailed: (failure) => logFailure(gateway, failure),
    onSpent: ({ id, method, payer, proof }) =>
      log.warn('Ended a payment without credit: its authorization was used for another transfer.', {
        payment: id,
        method,
        payer,
        proof,
      }),
  })
}

/** Logs a failed payment. Anyone can cause a refusal; any other error needs the operator's attention. */
function logFailure({ log }: Gateway, { id, method, error: err }: FailedPayment): void {
  const isRefusal = err instanceof GazewayError && err.code === 'payment_required'
  log[isRefusal ? 'info' : 'warn']('A payment was not accepted.', { payment: id, method, err })
}

/** Logs an unreachable chain or missing gas, because neither prevents a start. Each payment checks both. */
function warnUnlessWrong(err: unknown, { log }: Gateway): void {
  if (!(err instanceof GazewayError) || err.code === 'config_invalid') throw err
  log.warn('Payments are unavailable; each payment will check again.', { err })
}
