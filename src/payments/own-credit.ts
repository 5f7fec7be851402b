import { Receipt } from 'mppx'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { creditOf, spendCredit } from '../wallet/budget/spend-credit.ts'
import type { Claim, Claims } from './claims.ts'
import type { ReadCredential } from './credential.ts'
import { CREDIT, referenceOf } from './crediting.ts'
import { type Leases, moment } from './leases.ts'
import type { Taken, Terms } from './payment.ts'

/** Payment from the payer's own ledger account, without a settlement on the chain. */
interface OwnCredit {
  /** Takes a payment; null when it must be settled. */
  charge(header: string | null, terms: Terms): Promise<Taken | null>
  /** Claims a credential and moves no money. @returns its receipt; null when the payment must be settled */
  permit(header: string | null, terms: Terms): Promise<string | null>
}

/** Creates payments from credit. @param deps.read parses a credential and finds its method */
export function createOwnCredit(deps: {
  store: Store
  now: () => Date
  claims: Claims
  leases: Leases
  read: (header: string | null) => ReadCredential
  giveBackIdle: (callerId: string) => Promise<void>
}): OwnCredit {
  const { store, now, claims, leases, read, giveBackIdle } = deps

  /**
   * Builds the claim of a credential whose payer has the amount in the ledger; null otherwise. Errors of a credential
   * are reported by `take`.
   */
  async function creditClaim(header: string | null, terms: Terms): Promise<Claim | null> {
    const { credential, challenge, method } = read(header)
    const payer = await method.signer?.(credential, terms).catch(() => null)
    if (payer === undefined || payer === null || (terms.payer ?? payer) !== payer) return null
    await giveBackIdle(payer)
    if ((await creditOf(store, payer)) < terms.amount) return null
    const { id, expires: expiresAt = '' } = challenge
    const paid = { id, method: CREDIT, payer, caller: payer, account: null, amount: terms.amount }
    return { ...paid, scope: terms.scope, proof: id, expiresAt: new Date(expiresAt).toISOString() }
  }

  return {
    async charge(header, terms) {
      const claim = await creditClaim(header, terms)
      if (claim === null) return null
      const { id, payer: wallet, amount: micros } = claim
      const reference = referenceOf(id)
      const begun = moment()
      const lease = await store
        .write(async (trx) => {
          const claimed = await claims.claim(claim, { status: 'settled', reference }, trx)
          if (claimed !== null) await spendCredit(trx, { wallet, micros, reference, at: now() })
          return claimed
        })
        .catch(nullIfShort)
      if (lease === null) return null
      leases.begin(id, lease, begun)
      return { payment: claim, receipt: creditReceipt(reference, now()) }
    },

    async permit(header, terms) {
      const claim = await creditClaim(header, terms)
      if (claim === null) return null
      const reference = referenceOf(claim.id)
      const used = await claims.claim(claim, { status: 'served', reference })
      return used === null ? null : creditReceipt(reference, now())
    },
  }
}

const creditReceipt = (reference: string, at: Date): string =>
  Receipt.serialize({ method: CREDIT, reference, status: 'success', timestamp: at.toISOString() })

/** The balance went to another payment, or to a key that the wallet was bound to meanwhile. */
function nullIfShort(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'insufficient_credit') return null
  throw error
}
