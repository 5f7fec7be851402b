import type { MiddlewareHandler } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Identity } from '../../src/identity/keys.ts'
import { type Micros, toUsd } from '../../src/money.ts'
import type { Payment, Terms } from '../../src/payments/payment.ts'
import type { Payments } from '../../src/payments/payments.ts'
import type { Frame, FrameContext } from '../web/frame.ts'

/**
 * Lets a request through once it is paid for (MPP: HTTP 402 and the `Payment` scheme); the payment is its credential, so
 * it needs no key. A request that then fails, for whatever reason but its client leaving, is credited to the payer.
 *
 * @param price what one request costs now
 */
export function paymentGate(payments: Payments, price: () => Micros): MiddlewareHandler<Frame> {
  return async (c, next) => {
    const amount = price()
    const scope = `${c.req.method} ${c.req.path}`
    const description = `One request to ${c.req.path} (${toUsd(amount)} USD)`
    const payment = await takePayment(c, payments, { amount, scope, description })
    c.set('identity', payerIdentity(payment))
    c.set('paid', true)
    await next()
    await (failed(c) ? payments.credit(payment) : payments.served(payment))
  }
}

/**
 * Takes the payment that came with a request, and puts its receipt on the reply.
 *
 * @throws GazewayError `payment_required`, with the challenges that answer it in `WWW-Authenticate`, and as
 *   `Payments.take`; `cancelled` when the client left meanwhile, who is then credited
 */
export async function takePayment(c: FrameContext, payments: Payments, terms: Terms): Promise<Payment> {
  const { incoming, outgoing } = c.env
  const { payment, receipt } = await payments
    .take(incoming.headers.authorization ?? null, terms)
    .catch(offering(c, payments, terms))
  if (outgoing.destroyed) {
    await payments.credit(payment)
    throw new GazewayError('cancelled', 'The client went away.')
  }
  // Straight on the connection, where replies that are passed through are written, too.
  outgoing.setHeader('payment-receipt', receipt)
  outgoing.setHeader('cache-control', 'private')
  return payment
}

/**
 * Who has signed the payment that came with a request, which is neither used up nor settled by it, and may have been before;
 * null where only the chain can tell.
 *
 * @throws GazewayError `payment_required`, with the challenges that answer it in `WWW-Authenticate`
 */
export function signerOf(c: FrameContext, payments: Payments, terms: Terms): Promise<string | null> {
  const { authorization = null } = c.env.incoming.headers
  return payments.signer(authorization, terms).catch(offering(c, payments, terms))
}

/** Adds to a refusal how to pay. */
function offering(c: FrameContext, payments: Payments, terms: Terms): (error: unknown) => Promise<never> {
  return async (error) => {
    if (error instanceof GazewayError && error.code === 'payment_required') {
      for (const challenge of await payments.challenges(terms))
        c.header('www-authenticate', challenge, { append: true })
      c.header('cache-control', 'no-store')
    }
    throw error
  }
}

/** Who makes a request that came with a payment instead of a key. */
function payerIdentity({ caller, payer }: Payment): Identity {
  return { id: caller, name: `wallet ${payer}`, scopes: new Set(['platform']), wallet: payer }
}

/** Whether a request did not get what it paid for. */
function failed(c: FrameContext): boolean {
  const { outgoing } = c.env
  const status = outgoing.headersSent ? outgoing.statusCode : c.res.status
  return c.error !== undefined || status >= 400 || outgoing.errored !== null
}
