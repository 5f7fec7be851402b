import type { MiddlewareHandler } from 'hono'
import { GazewayError } from '../../../src/errors.ts'
import { type Identity, identityWithoutKey } from '../../../src/identity/keys.ts'
import type { Payment, Taken, Terms } from '../../../src/payments/payment.ts'
import type { Payments } from '../../../src/payments/payments.ts'
import { type Micros, toUsd } from '../../../src/text/money.ts'
import type { SilenceWatch } from '../../../src/wire/idle-watch.ts'
import type { Frame, FrameContext } from '../../web/frame-context.ts'
import { ALREADY_SENT } from '../../web/http-receiver.ts'
import { earlyStream } from './early-stream.ts'

/** Dependencies of a payment gate. */
export interface PaymentGateDeps {
  payments: Payments
  /** Current price of one request. */
  price: () => Micros
  /** Finds the valid key of a request, which then needs no payment; null without one. */
  keyed: (c: FrameContext) => Promise<Identity | null>
  /** Refuses a request that could not be served, before it is paid. @throws GazewayError the refusal */
  check: (c: FrameContext) => Promise<void>
  /** Schedules what the clients of streams hear while a payment settles. */
  heartbeat: SilenceWatch
}

/**
 * Admits a request with a key or a payment (MPP: HTTP 402 and the `Payment` scheme). The payment is then its
 * credential. A paid request that fails is credited to the payer, unless it failed because its client disconnected.
 */
export function paymentGate({ payments, price, keyed, check, heartbeat }: PaymentGateDeps): MiddlewareHandler<Frame> {
  return async (c, next) => {
    const identity = await keyed(c)
    if (identity) {
      c.set('identity', identity)
      return next()
    }
    await check(c)
    const amount = price()
    const scope = `${c.req.method} ${c.req.path}`
    const description = `One request to ${c.req.path} (${toUsd(amount)} USD)`
    const terms = { amount, scope, description }
    const early = earlyStream(c, heartbeat)
    let payment: Payment
    try {
      payment = await takePayment(c, payments, terms, fromCreditFirst(payments)).finally(early.release)
    } catch (error) {
      if (!early.fail(error)) throw error
      c.error = error as Error
      return ALREADY_SENT
    }
    c.set('identity', payerIdentity(payment))
    c.set('paid', {
      confirm: () => payments.confirm(payment),
      isHeld: () => payments.isHeld(payment),
      served: () => payments.served(payment),
    })
    await next()
    if (c.error !== undefined) early.fail(c.error)
    if (failed(c)) return payments.credit(payment)
    const { headersSent } = c.env.outgoing
    if ((await payments.served(payment)) || headersSent) return
    await payments.credit(payment)
    throw paymentReturned()
  }
}

/** Takes a payment from the payer's ledger balance first. Without a key, this balance cannot be spent otherwise. */
const fromCreditFirst =
  (payments: Payments): Payments['take'] =>
  async (header, terms) =>
    (await payments.charge(header, terms)) ?? payments.take(header, terms)

/**
 * Takes the payment of a request, and adds its receipt to the reply.
 *
 * @param take takes the payment; from the payer's wallet by default
 * @throws GazewayError `payment_required` with challenges in `WWW-Authenticate`, and as `Payments.take`; `cancelled`
 *   when the client has disconnected, whose payment is then credited
 */
export async function takePayment(
  c: FrameContext,
  payments: Payments,
  terms: Terms,
  take: Payments['take'] = payments.take,
): Promise<Payment> {
  const { incoming, outgoing } = c.env
  const { payment, receipt }: Taken = await take(incoming.headers.authorization ?? null, terms).catch(
    offering(c, payments, terms),
  )
  if (outgoing.destroyed) {
    await payments.credit(payment)
    throw new GazewayError('cancelled', 'The client disconnected.')
  }
  putReceipt(c, receipt)
  return payment
}

/**
 * Sets headers on the Node reply, because forwarded replies are written there as well. A stream that has begun gets the
 * receipt in a comment.
 */
export function putReceipt({ env: { outgoing } }: FrameContext, receipt: string): void {
  if (outgoing.headersSent) return void outgoing.write(`: payment-receipt=${receipt}\n\n`)
  outgoing.setHeader('payment-receipt', receipt)
  outgoing.setHeader('cache-control', 'private')
}

/**
 * Finds the signer of a request's payment without using or settling it; null when only the chain can tell.
 *
 * @throws GazewayError `payment_required`, with challenges in `WWW-Authenticate`
 */
export function signerOf(c: FrameContext, payments: Payments, terms: Terms): Promise<string | null> {
  const { authorization = null } = c.env.incoming.headers
  return payments.signer(authorization, terms).catch(offering(c, payments, terms))
}

/** Error for an answer whose payment was returned, because the process or its machine had been suspended. */
export const paymentReturned = (): GazewayError =>
  new GazewayError(
    'upstream_timeout',
    'The answer came too late. The payment for it was returned: it is credited to your account. Retry.',
  )

/** Adds payment challenges to a refusal. */
export function offering(c: FrameContext, payments: Payments, terms: Terms): (error: unknown) => Promise<never> {
  return async (error) => {
    if (error instanceof GazewayError && error.code === 'payment_required') {
      for (const challenge of await payments.challenges(terms))
        c.header('www-authenticate', challenge, { append: true })
      c.header('cache-control', 'no-store')
    }
    throw error
  }
}

/** Identity of a request with a payment instead of a key. */
function payerIdentity({ caller, payer }: Payment): Identity {
  const identity = identityWithoutKey({
    id: caller,
    name: `wallet ${payer}`,
    scopes: new Set(['platform']),
    wallet: payer,
  })
  return { ...identity, isPaid: true }
}

/** Tells whether a paid request failed. */
function failed(c: FrameContext): boolean {
  const { outgoing } = c.env
  const status = outgoing.headersSent ? outgoing.statusCode : c.res.status
  return c.error !== undefined || status >= 400 || outgoing.errored !== null
}
