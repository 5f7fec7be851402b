import type { Gateway } from '../../../src/gateway.ts'
import { type Identity, identityWithoutKey, WalletAddress } from '../../../src/identity/keys.ts'
import type { Terms } from '../../../src/payments/payment.ts'
import { keyOf } from '../../web/frame.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import type { KeylessPayments } from './open-payments.ts'
import { credentialId } from './paid-deposit.ts'
import { offering, putReceipt, signerOf, takePayment } from './payment-gate.ts'

/** Metered call that is paid with its request. */
export interface PaidCall {
  /** Wallet whose own account receives the payment and is charged for the call; the rest stays there. */
  wallet: string
  /**
   * Identifies the caller before any payment, so that a repeated request of a wallet is answered without another
   * payment. When only the chain can tell the signer, the credential itself identifies the caller.
   *
   * @throws GazewayError `rate_limited`, as `Metering.check` for an impossible call, and as `signerOf`
   */
  identify(): Promise<Identity>
  /**
   * Pays the highest possible cost of the call into the wallet's account, unless the account already has as much.
   *
   * @throws GazewayError as `takePayment`
   */
  pay(): Promise<void>
}

/**
 * Creates the payment of a metered call that names a wallet and sends no key. The payment proves the wallet.
 *
 * @returns null when a key identifies the caller
 */
export function paidCall(
  { caller_id, call }: { caller_id: string; call: unknown },
  c: FrameContext,
  { gateway, payments }: { gateway: Gateway; payments: KeylessPayments | null },
): PaidCall | null {
  const { data: wallet } = WalletAddress.safeParse(caller_id)
  const { headers } = c.env.incoming
  const { authorization } = headers
  if (!payments || wallet === undefined || keyOf(headers, c.req.path) !== null) return null

  /**
   * Terms of the challenge: the highest possible cost of the call. The balance of the wallet is ignored, because it is
   * private.
   */
  async function terms(of: string): Promise<Terms> {
    return {
      amount: Math.max(payments?.amount ?? 0, await gateway.metering.maxCostOf(call)),
      scope: `metered call ${of}`,
      description: 'A deposit for one metered call',
      payer: of,
      account: of,
    }
  }
  return {
    wallet,
    async identify() {
      payments.countKeyless(c)
      gateway.metering.check(call)
      const id = (await signerOf(c, payments, await terms(wallet))) ?? credentialId(authorization ?? '')
      return identityWithoutKey({ id, name: `wallet ${wallet}`, scopes: new Set(['platform']), wallet })
    },
    async pay() {
      const asked = await terms(wallet)
      const permitted = await payments.permit(authorization ?? null, asked).catch(offering(c, payments, asked))
      if (permitted !== null) return putReceipt(c, permitted)
      await payments.credit(await takePayment(c, payments, asked))
    },
  }
}
