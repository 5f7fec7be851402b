import { createHash } from 'node:crypto'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { type Identity, identityWithoutKey, requireScope } from '../../../src/identity/keys.ts'
import { referenceOf } from '../../../src/payments/payments.ts'
import { type Micros, toMicros, toUsd } from '../../../src/text/money.ts'
import type { Deposit, DepositReceipt } from '../../../src/wallet/wallet.ts'
import { bearerToken, type FrameContext } from '../../web/frame.ts'
import type { KeylessPayments } from './open-payments.ts'
import { takePayment } from './payment-gate.ts'

/** What a deposit can be paid with. */
export interface PaidDepositDeps {
  gateway: Gateway
  payments: KeylessPayments
}

/** Whoever pays; what is paid shows later who that is. */
const PAYER = identityWithoutKey({ id: 'payer', name: 'payer', scopes: new Set<never>(), wallet: null })

/**
 * Who asks for a deposit: an admin, by an API key, or someone who pays it.
 *
 * @throws GazewayError `invalid_api_key`; `insufficient_scope` for a key that is no admin's; where it is to be paid, before
 *   anything is paid or kept: `rate_limited`, `validation_failed` for less than the smallest deposit, `not_found` for a caller
 *   that does not exist or was revoked
 */
export async function depositor(
  c: FrameContext,
  { gateway: { keys, wallet }, payments }: PaidDepositDeps,
  { caller_id, amount_usd }: Pick<Deposit, 'caller_id' | 'amount_usd'>,
): Promise<Identity> {
  const token = bearerToken(c.env.incoming.headers.authorization)
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
    `amount_usd: too small; accepted: ${toUsd(least)} USD or more (mpp.min_deposit_usd).`,
    { param: 'amount_usd' },
  )
}

/** Whether a deposit comes without a key, and is to be paid. */
export const isPaid = (c: FrameContext): boolean => c.get('identity') === PAYER

/**
 * Whose the `Idempotency-Key` of a paid deposit is: that of whoever sends this credential, which only its payer can make.
 * Without one it is nobody's, or anyone could use up the keys of those who pay. An admin has its own.
 */
export function depositScope(c: FrameContext): string | null | undefined {
  if (!isPaid(c)) return undefined
  const { authorization } = c.env.incoming.headers
  return authorization === undefined ? null : credentialId(authorization)
}

/** What tells whoever sends a credential from everyone else. */
export const credentialId = (authorization: string): string =>
  `payment ${createHash('sha256').update(authorization).digest('hex')}`

/**
 * Credits a caller with what is paid together with the request. The payment is its reference, whatever the body says.
 *
 * @throws GazewayError as `knownCaller`, before anything is paid, and as `takePayment`
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
  // Booked already; this reads the receipt, or books what the credit could not.
  return gateway.wallet.credit({ account, micros, reference: referenceOf(payment.id) })
}
