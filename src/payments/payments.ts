import { Credential, Receipt } from 'mppx'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments-tables.ts'
import { creditOf, spendCredit } from '../wallet/budget/spend.ts'
import type { Credit } from '../wallet/ledger/deposits.ts'
import { payerAccount } from '../wallet/ledger/payer-account.ts'
import { type Claim, createClaims } from './claims.ts'
import { CREDIT, createCrediting, referenceOf } from './crediting.ts'
import { createLeases, moment } from './leases.ts'
import type { Checked, Payment, PaymentMethod, Terms } from './payment.ts'
import { chainUnreachable, isUnreachable, isUntouched, paymentRequired, refusalOf, unconfirmed } from './refusal.ts'
import { createResume } from './resume.ts'

/** Longest id in the log, where ids are not verified yet. */
const MAX_ID = 128

/** Payments over HTTP 402 (MPP, the `Payment` authentication scheme). */
export interface Payments {
  /** Creates the challenges: one `WWW-Authenticate` value per method. */
  challenges(terms: Terms): Promise<string[]>
  /**
   * Finds the signer of a payment without using its credential, which may have been used before.
   *
   * @returns the address in lower case; null when only the chain can tell
   * @throws GazewayError `payment_required` for a credential that is missing, forged, expired, or not valid for these
   *   terms
   */
  signer(header: string | null, terms: Terms): Promise<string | null>
  /**
   * Takes a payment: checks the credential, claims it, and settles it on the chain. The caller reports the outcome with
   * `served` or `credit`. Until then the lease is renewed; when the process dies, another one credits the payment.
   *
   * @param header the `Authorization` header; null without a credential
   * @returns the payment and its receipt as a `Payment-Receipt` value
   * @throws GazewayError
   * - `payment_required` for a credential that is missing, forged, expired, used before, or not valid for these terms
   * - `upstream_unreachable` when the node does not answer
   * - `upstream_timeout` when the chain has not confirmed in time
   *
   * @example
   * import type { Terms } from './payment.ts'
   *
   * async function deposit(payments: ReturnType<typeof createPayments>, request: Request, terms: Terms) {
   *   const { payment, receipt } = await payments.take(request.headers.get('authorization'), terms)
   *   await payments.credit(payment)
   *   return new Response(null, { status: 204, headers: { 'payment-receipt': receipt } })
   * }
   */
  take(header: string | null, terms: Terms): Promise<Taken>
  /**
   * Takes a payment from the payer's own ledger account when its balance is enough, without a settlement on the chain.
   * Its receipt says `credit`. Requires a signature that identifies the payer. Continue as after `take`.
   *
   * @returns null when the payment must be settled
   */
  charge(header: string | null, terms: Terms): Promise<Taken | null>
  /**
   * Claims a credential for a call charged to its payer's own account, when its balance is enough. Moves no money.
   *
   * @returns its receipt; null when the payment must be settled
   */
  permit(header: string | null, terms: Terms): Promise<string | null>
  /**
   * Tells whether this process currently holds the lease of the payment. When it does not, the payment may have been
   * credited back: stop delivery.
   */
  isHeld(payment: Payment): boolean
  /** Confirms the lease in the store before delivery. @throws the store's error */
  confirm(payment: Payment): Promise<boolean>
  /** Marks a payment as delivered. @returns false when it was credited back, or the store failed */
  served(payment: Payment): Promise<boolean>
  /** Credits the amount in the ledger, once, for a deposit or a failed request. A sweep retries failures. */
  credit(payment: Payment): Promise<void>
  /**
   * Finishes at most `limit` payments of processes that died: credits those that the chain has confirmed.
   *
   * @returns the number of checked payments
   */
  sweep(limit: number): Promise<number>
}

/** A payment and its receipt as a `Payment-Receipt` value. */
export interface Taken {
  payment: Payment
  receipt: string
}

/** Dependencies of {@link createPayments}. */
export interface PaymentsDeps {
  store: Store
  now: () => Date
  methods: readonly PaymentMethod[]
  /** Loads methods that are no longer offered, for their unfinished payments; none by default. */
  retired?: () => Promise<readonly PaymentMethod[]>
  /** Credits a ledger account, once per reference. */
  credit(credit: Credit): Promise<unknown>
  /** Called when the state of a payment could not be written; a sweep retries. */
  onError: (error: unknown) => void
  /** Called when a payment was not taken. */
  onFailed: (failure: FailedPayment) => void
  /** Called when a payment ends uncredited because its signature was used for something else. */
  onSpent: (payment: PaymentRow) => void
  /** Lease in milliseconds; 60 s by default. */
  leaseMs?: number
}

/** A payment that was not taken. */
export interface FailedPayment {
  /** Challenge id and method as the unverified credential states them. */
  id: string
  method: string
  error: unknown
}

/** Creates payments with the given methods. The store keeps the status of each payment. */
export function createPayments(deps: PaymentsDeps): Payments {
  const { store, now, methods, onError, onFailed, onSpent, leaseMs } = deps
  const claims = createClaims({ store, now, ...(leaseMs !== undefined && { leaseMs }) })
  const leases = createLeases({ claims, leaseMs, onError })
  const creditOnce = createCrediting({ store, now, claims, credit: deps.credit })
  const resume = createResume({ claims, methods, retired: deps.retired, creditOnce, onSpent })

  async function settle(method: PaymentMethod, credential: string, terms: Terms, claim: Claim): Promise<string> {
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
      if (await mayHaveMoved(method, claim)) throw unconfirmed(error)
      throw paymentRequired(`${refusal} No money was moved.`, error)
    }
  }

  /** An unknown outcome counts as possible. */
  async function mayHaveMoved(method: PaymentMethod, claim: Claim): Promise<boolean> {
    try {
      return await method.isOpen(claim)
    } catch (error) {
      onError(error)
      return true
    }
  }

  /** Parses a credential and finds its method. */
  function read(header: string | null) {
    const { credential, challenge } = parse(header)
    const method = methods.find(({ name }) => name === challenge.method)
    if (!method) throw paymentRequired('This payment method is not offered. Answer a challenge in WWW-Authenticate.')
    return { credential, challenge, method }
  }

  async function takeWith({ credential, challenge, method }: ReturnType<typeof read>, terms: Terms): Promise<Taken> {
    if (await claims.isUsed(challenge.id)) throw usedBefore()
    const { payer, proof, validUntil = 0 } = await check(method, credential, terms)
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
    return { payment, receipt: await settle(method, credential, terms, claim) }
  }

  /**
   * Builds the claim of a credential whose payer has the amount in the ledger; null otherwise. Errors of a credential
   * are reported by `take`.
   */
  async function creditClaim(header: string | null, terms: Terms): Promise<Claim | null> {
    const { credential, challenge, method } = read(header)
    const payer = await method.signer?.(credential, terms).catch(() => null)
    if (payer === undefined || payer === null || (terms.payer ?? payer) !== payer) return null
    if ((await creditOf(store, payer)) < terms.amount) return null
    const { id, expires: expiresAt = '' } = challenge
    const paid = { id, method: CREDIT, payer, caller: payer, account: null, amount: terms.amount }
    return { ...paid, scope: terms.scope, proof: id, expiresAt: new Date(expiresAt).toISOString() }
  }

  return {
    challenges: (terms) => Promise.all(methods.map((method) => method.challenge(terms))),

    async signer(header, terms) {
      const { credential, method } = read(header)
      if (!method.signer) return null
      const payer = await method.signer(credential, terms).catch(refuse)
      requirePayer(payer, terms)
      return payer
    },

    async take(header, terms) {
      const asked = read(header)
      return takeWith(asked, terms).catch((error: unknown) => {
        onFailed({ id: asked.challenge.id.slice(0, MAX_ID), method: asked.method.name, error })
        throw error
      })
    },

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

    isHeld: ({ id }) => leases.isHeld(id),
    confirm: ({ id }) => leases.confirm(id),

    async served({ id }) {
      leases.end(id)
      try {
        return await claims.advance(id, 'settled', 'served')
      } catch (error) {
        // A sweep credits it.
        onError(error)
        return false
      }
    },

    async credit(payment) {
      leases.end(payment.id)
      try {
        await creditOnce(payment, 'settled')
      } catch (error) {
        onError(error)
        await claims.abandon(payment.id).catch(onError)
      }
    },

    async sweep(limit) {
      for (const method of methods) await method.tend?.().catch(onError)
      const idle = await claims.takeOver(limit)
      for (const row of idle) await resume(row).catch(onError)
      return idle.length
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

const usedBefore = () => paymentRequired('This payment was used before. Pay for each request separately.')

function parse(header: string | null) {
  const credential = header === null ? null : Credential.extractPaymentScheme(header)
  if (credential === null) throw paymentRequired('This request costs money: answer the challenge in WWW-Authenticate.')
  try {
    refusePadding(credential)
    return { credential, challenge: Credential.deserialize(credential).challenge }
  } catch (error) {
    throw paymentRequired('The credential cannot be read. Create one from the challenge in WWW-Authenticate.', error)
  }
}

/**
 * Padding that no valid base64 has, as that ends in two `=` at most. mppx takes quadratic time in the number of `=`, in
 * a credential and in its content.
 */
const PADDING = '='.repeat(32)

function refusePadding(credential: string): void {
  const held = Buffer.from(credential.slice('Payment '.length), 'base64').toString('latin1')
  if (credential.includes(PADDING) || held.includes(PADDING)) throw new Error('More padding than base64 allows.')
}

async function check(method: PaymentMethod, credential: string, terms: Terms): Promise<Checked> {
  const checked = await method.check(credential, terms).catch(refuse)
  requirePayer(checked.payer, terms)
  return checked
}

function refuse(error: unknown): never {
  if (error instanceof GazewayError) throw error
  if (isUnreachable(error)) throw chainUnreachable(error)
  throw paymentRequired(
    refusalOf(error) ?? 'The credential is not valid. Create one from the challenge in WWW-Authenticate.',
    error,
  )
}

function requirePayer(payer: string, terms: Terms): void {
  if (terms.payer === undefined || payer === terms.payer) return
  throw paymentRequired(`The payment must come from ${terms.payer}, the wallet that makes the request.`)
}
