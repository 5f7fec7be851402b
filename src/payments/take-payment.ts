import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { payerAccount } from '../wallet/ledger/payer-account.ts'
import type { Claim, Claims } from './claims.ts'
import { checkCredential, type ReadCredential } from './credential.ts'
import { type Leases, moment } from './leases.ts'
import type { PaymentMethod, Taken, Terms } from './payment.ts'
import { isUntouched, paymentRequired, refusalOf, unconfirmed } from './refusal.ts'

/** Dependencies of {@link createTake}. */
interface TakeDeps {
  store: Store
  claims: Claims
  leases: Leases
  onError: (error: unknown) => void
}

/** Creates the function that checks a credential, claims it, and settles it on the chain. @throws see `Payments.take` */
export function createTake(deps: TakeDeps): (asked: ReadCredential, terms: Terms) => Promise<Taken> {
  const { store, claims, leases } = deps
  return async (asked, terms) => {
    const { challenge, method } = asked
    if (await claims.isUsed(challenge.id)) throw usedBefore()
    const { payer, proof, validUntil = 0 } = await checkCredential(asked, terms)
    const { account = null, amount } = terms
    const caller = account ?? (await payerAccount(store, payer))
    const payment = { id: challenge.id, method: method.name, payer, caller, account, amount }
    // Checked credentials always expire.
    const expiresAt = new Date(Math.max(Date.parse(challenge.expires ?? ''), validUntil)).toISOString()
    const claim = { ...payment, scope: terms.scope, proof, expiresAt }
    const begun = moment()
    const lease = await claims.claim(claim)
    if (lease === null) throw usedBefore()
    leases.begin(payment.id, lease, begun)
    return { payment, receipt: await settle(deps, asked, terms, claim) }
  }
}

async function settle(
  { claims, leases, onError }: TakeDeps,
  { method, credential }: ReadCredential,
  terms: Terms,
  claim: Claim,
): Promise<string> {
  const { id } = claim
  try {
    const { reference, receipt } = await method.settle(credential, terms)
    if (!(await claims.advance(id, 'claimed', 'settled', reference))) throw unconfirmed()
    return receipt
  } catch (error) {
    leases.end(id)
    if (isUntouched(error)) {
      await claims.advance(id, 'claimed', 'freed')
      throw error
    }
    // Anyone may submit the signature until it expires. A sweep then credits the payment or marks it as failed.
    await claims.abandon(id)
    const refusal = refusalOf(error)
    if (refusal === null) throw error instanceof GazewayError ? error : unconfirmed(error)
    if (await mayHaveMoved(method, claim, onError)) throw unconfirmed(error)
    throw paymentRequired(`${refusal} No money was moved.`, error)
  }
}

/** An unknown outcome counts as possible. */
async function mayHaveMoved(method: PaymentMethod, claim: Claim, onError: (error: unknown) => void): Promise<boolean> {
  try {
    return await method.isOpen(claim)
  } catch (error) {
    onError(error)
    return true
  }
}

const usedBefore = () => paymentRequired('This payment was used before. Pay for each request separately.')
