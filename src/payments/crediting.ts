import type { Store } from '../store/store.ts'
import { returnCredit } from '../wallet/budget/spend-credit.ts'
import type { Credit } from '../wallet/ledger/deposits.ts'
import type { Claims } from './claims.ts'
import type { Payment, PaymentStatus } from './payment.ts'

/** Method name of payments from the payer's ledger balance. */
export const CREDIT = 'credit'

/** Ledger reference of a payment's deposit, which makes it idempotent. */
export const referenceOf = (paymentId: string): string => `mpp:${paymentId}`

/**
 * Credits a payment in the ledger, once.
 *
 * @param from its status: `settled`, or `crediting` after an interrupted attempt
 */
export type CreditOnce = (
  payment: Pick<Payment, 'id' | 'method' | 'account' | 'payer' | 'amount'>,
  from: PaymentStatus,
) => Promise<void>

/** Creates the crediting of payments whose request failed, or that are deposits. */
export function createCrediting(deps: {
  store: Store
  now: () => Date
  claims: Claims
  /** Credits a ledger account, once per reference. */
  credit(credit: Credit): Promise<unknown>
}): CreditOnce {
  const { store, now, claims, credit } = deps

  /** Returns a payment to the ledger balance that it came from. It is not a deposit. */
  async function giveBack({ id, payer, amount }: Pick<Payment, 'id' | 'payer' | 'amount'>, from: PaymentStatus) {
    await store.write(async (trx) => {
      if (await claims.advance(id, from, 'credited', undefined, trx))
        await returnCredit(trx, { wallet: payer, micros: amount, reference: referenceOf(id), at: now() })
    })
  }

  return async (payment, from) => {
    const { id, method, account, payer, amount } = payment
    if (method === CREDIT) return giveBack(payment, from)
    if (from !== 'crediting' && !(await claims.advance(id, from, 'crediting'))) return
    const to = account === null ? { wallet: payer } : { account }
    await credit({ ...to, micros: amount, reference: referenceOf(id) })
    await claims.advance(id, 'crediting', 'credited')
  }
}
