import { type Identity, WalletAddress } from '../../src/identity/keys.ts'
import type { Terms } from '../../src/payments/payment.ts'
import { bearerToken, type FrameContext } from '../web/frame.ts'
import type { PlatformPayments } from './open-payments.ts'
import { credentialId } from './paid-deposit.ts'
import { signerOf, takePayment } from './payment-gate.ts'

/** A metered call that is paid for as it is made. */
export interface PaidCall {
  /** Whose own account the payment is deposited to, and the call then charged to; what the call leaves stays there. */
  wallet: string
  /**
   * Who asks, before anything is paid: a wallet that has asked this before is answered without another payment. Where only the
   * chain can tell who has signed, it is whoever sends this credential.
   *
   * @throws GazewayError as `signerOf`
   */
  identify(): Promise<Identity>
  /** @throws GazewayError as `takePayment` */
  pay(): Promise<void>
}

/**
 * A metered call that names a wallet and sends no key: it proves the wallet by paying from it.
 *
 * @returns null where the caller is to be identified by a key
 */
export function paidCall(callerId: string, c: FrameContext, payments: PlatformPayments | null): PaidCall | null {
  const { data: wallet } = WalletAddress.safeParse(callerId)
  if (!payments || wallet === undefined || bearerToken(c.env.incoming.headers.authorization) !== null) return null
  const terms: Terms = {
    amount: payments.amount,
    scope: `metered call ${wallet}`,
    description: 'A deposit for one metered call',
    payer: wallet,
    account: wallet,
  }
  return {
    wallet,
    async identify() {
      const { authorization = '' } = c.env.incoming.headers
      const id = (await signerOf(c, payments, terms)) ?? credentialId(authorization)
      return { id, name: `wallet ${wallet}`, scopes: new Set(['platform']), wallet }
    },
    pay: async () => payments.credit(await takePayment(c, payments, terms)),
  }
}
