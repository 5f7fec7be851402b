import { GazewayError } from '../errors.ts'
import { type Micros, toUsd } from '../text/money.ts'
import type { PaymentMethod } from './payment.ts'
import type { PaymentSettings } from './payment-settings.ts'

/**
 * Checks that each payment method works and that no price is below the cost of a payment.
 *
 * @returns a description of the result
 * @throws GazewayError as `PaymentMethod.verify`, and `config_invalid` for a price below the cost of a payment
 */
export async function checkPayments(
  { amount, leastDeposit }: Pick<PaymentSettings, 'amount' | 'leastDeposit'>,
  methods: readonly PaymentMethod[],
): Promise<string> {
  const found: string[] = []
  for (const method of methods) {
    found.push(await method.verify())
    requirePrice('mpp.amount_usd', amount, method.least())
    requirePrice('mpp.min_deposit_usd', leastDeposit, method.least())
  }
  return `taken with ${found.join(' and ')}`
}

function requirePrice(param: string, price: Micros, least: Micros): void {
  if (price >= least) return
  throw new GazewayError(
    'config_invalid',
    `${param} is ${toUsd(price)} USD, but a payment costs up to ${toUsd(least)} USD of gas. Set it to ${toUsd(least)} or more.`,
    { param },
  )
}
