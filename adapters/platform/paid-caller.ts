import type { Identity } from '../../src/identity/keys.ts'
import { WalletAddress } from '../../src/identity/keys.ts'
import { bearerToken, type FrameContext } from '../web/frame.ts'
import type { PlatformPayments } from './open-payments.ts'
import { takePayment } from './payment-gate.ts'

/**
 * The caller of a metered call that names a wallet and sends no key: it proves the wallet by paying from it. What it pays
 * is deposited to the wallet's own account, from which the call is then charged; what the call leaves stays there.
 *
 * @returns null where the caller is to be identified by a key
 * @throws GazewayError `payment_required` with the challenges that answer it, and as `takePayment`
 */
export async function paidCaller(
  callerId: string,
  c: FrameContext,
  payments: PlatformPayments | null,
): Promise<Identity | null> {
  const wallet = WalletAddress.safeParse(callerId)
  if (!payments || !wallet.success || bearerToken(c.env.incoming.headers.authorization) !== null) return null
  const payment = await takePayment(c, payments, {
    amount: payments.amount,
    scope: `metered call ${wallet.data}`,
    description: 'A deposit for one metered call',
    payer: wallet.data,
    account: wallet.data,
  })
  await payments.credit(payment)
  return { id: wallet.data, name: `wallet ${wallet.data}`, scopes: new Set(['platform']), wallet: wallet.data }
}
