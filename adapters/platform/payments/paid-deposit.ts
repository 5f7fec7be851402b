import { createHash } from 'node:crypto'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { type Identity, identityWithoutKey, requireScope } from '../../../src/identity/keys.ts'
import { referenceOf } from '../../../src/payments/crediting.ts'
import { type Micros, toMicros, toUsd } from '../../../src/text/money.ts'
import type { Deposit, DepositReceipt } from '../../../src/wallet/wallet.ts'
import { keyOf } from '../../web/frame.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import type { KeylessPayments } from './open-payments.ts'
import { takePayment } from './payment-gate.ts'

/** Dependencies of paid deposits. */
export interface PaidDepositDeps {
  gateway: Gateway
  payments: KeylessPayments
}

/** Identity of an unknown payer, until the payment names it. */
const PAYER = identityWithoutKey({ id: 'payer', name: 'payer', scopes: new Set<never>(), wallet: null })

/**
 * Identifies the sender of a deposit: an admin by API key, or a payer. A payer's request is checked before anything is
 * paid or stored.
 *
 * @throws GazewayError for a key: `invalid_api_key`; `insufficient_scope` without the scope `admin`
 * @throws GazewayError for a payer: `rate_limited`, `validation_failed` below the smallest deposit, `not_found` for an
 *   unknown or revoked caller
 */
export async function depositor(
  c: FrameContext,
  { gateway: { keys, wallet }, payments }: PaidDepositDeps,
  { caller_id, amount_usd }: Pick<Deposit, 'caller_id' | 'amount_usd'>,
): Promise<Identity> {
  const token = keyOf(c.env.incoming.headers, c.req.path)
  if (token === null) {
    payments.countKeyless(c)
    requireEnough(amount_usd, payments.leastDeposit)
    await wallet.knownCaller(caller_id)
    return PAYER
  }
  const identity = await keys.authenticate(token)
  requireScope(identity, 'admin')
  return identity
}

function requireEnough(amountUsd: number, least: Micros): void {
  if ((toMicros(amountUsd) as Micros) >= least) return
  throw new GazewayError(
    'validation_failed',
    `amount_usd: too small; must be at least ${toUsd(least)} USD (mpp.min_deposit_usd).`,
    { param: 'amount_usd' },
  )
}

/** Tells whether a deposit comes without a key and must be paid. */
export const isPaid = (c: FrameContext): boolean => c.get('identity') === PAYER

/**
 * Owner of a paid deposit's `Idempotency-Key`: its credential, which only the payer can create. Without a credential it
 * has no owner; anyone could otherwise use up the keys of payers. Admins have their own.
 */
export function depositScope(c: FrameContext): string | null | undefined {
  if (!isPaid(c)) return undefined
  const { authorization } = c.env.incoming.headers
  return authorization === undefined ? null : credentialId(authorization)
}

/** Identifies the sender of a credential. */
export const credentialId = (authorization: string): string =>
  `payment ${createHash('sha256').update(authorization).digest('hex')}`

/**
 * Credits a caller with the payment of the request. The payment is the reference of the deposit, whatever the body
 * says.
 *
 * @throws GazewayError as `knownCaller`, before any payment, and as `takePayment`
 */
export async function paidDeposit(
  c: FrameContext,
  { gateway, payments }: PaidDepositDeps,
  { caller_id, amount_usd }: Pick<Deposit, 'caller_id' | 'amount_usd'>,
): Promise<DepositReceipt> {
  const account = await gateway.wallet.knownCaller(caller_id)
  const micros = toMicros(amount_usd) as Micros
  const payment = await takePayment(c, payments, {
    amount: micros,
    scope: `deposit ${account}`,
    description: `A deposit of ${amount_usd} USD for ${account}`,
    account,
  })
  await payments.credit(payment)
  // Usually booked already, so this only reads the receipt. It books the payment if the credit above could not.
  return gateway.wallet.credit({ account, micros, reference: referenceOf(payment.id) })
}
