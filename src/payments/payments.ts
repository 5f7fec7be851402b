import { Credential, Receipt } from 'mppx'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments-tables.ts'
import type { Credit } from '../wallet/deposits.ts'
import { payerAccount } from '../wallet/payer-account.ts'
import { creditOf, returnCredit, spendCredit } from '../wallet/spend.ts'
import { type Claim, createClaims, type TakenOver } from './claims.ts'
import { createLeases, moment } from './leases.ts'
import type { Checked, Payment, PaymentMethod, PaymentStatus, Terms } from './payment.ts'
import { chainUnreachable, isUnreachable, isUntouched, paymentRequired, refusalOf, unconfirmed } from './refusal.ts'

/** How long after its credential expired a payment may still turn up on the chain, in milliseconds. */
const LATE_MS = 600_000

/** The longest id that is told to the log: it is not checked yet. */
const MAX_ID = 128

/** Payments over HTTP 402 (MPP, the `Payment` authentication scheme). */
export interface Payments {
  /** How to pay: one `WWW-Authenticate` value for each method. */
  challenges(terms: Terms): Promise<string[]>
  /**
   * Who has signed a payment. It is not used up by that, and may have been before.
   *
   * @returns the address in lower case; null where only the chain can tell
   * @throws GazewayError `payment_required` for a credential that is missing, forged, expired, or not good for these terms
   */
  signer(header: string | null, terms: Terms): Promise<string | null>
  /**
   * Takes a payment: checks the credential, uses it up, and settles it on the chain. Whoever calls this says afterwards
   * how it went, with `served` or `credit`; until then a sign of life is given, so that the payment of a process that
   * dies is credited by another one.
   *
   * @param header the `Authorization` header; null is no credential
   * @returns the payment, and its receipt as a `Payment-Receipt` value
   * @throws GazewayError `payment_required` for a credential that is missing, forged, expired, used before, or not good
   *   for these terms; `upstream_unreachable`; `upstream_timeout` when the chain has yet to confirm
   */
  take(header: string | null, terms: Terms): Promise<Taken>
  /**
   * Takes a payment out of what its payer has in the ledger, where that is enough: the credential is used up, and nothing is
   * settled on the chain; its receipt says `credit`. Of the wallet's own account alone, and only where a signature tells
   * whose it is. Afterwards as `take`.
   *
   * @returns null where it is to be settled
   */
  charge(header: string | null, terms: Terms): Promise<Taken | null>
  /**
   * Uses a credential up for a call that is charged to its payer's own account, where that has the amount: nothing is moved.
   *
   * @returns its receipt; null where it is to be settled
   */
  permit(header: string | null, terms: Terms): Promise<string | null>
  /**
   * Whether a payment is known to be this process's own at this very moment. Where it is not, it may have been given back,
   * and nothing more of what it paid for may be delivered.
   */
  isHeld(payment: Payment): boolean
  /** Has the store say so, before anything is delivered. @throws what the store fails with */
  confirm(payment: Payment): Promise<boolean>
  /** What was paid for has been delivered. @returns false where the payment was given back meanwhile, or nothing could be noted */
  served(payment: Payment): Promise<boolean>
  /**
   * Credits the amount in the ledger, once: what was paid for could not be delivered, or was a deposit. What cannot be
   * done now is done by a sweep.
   */
  credit(payment: Payment): Promise<void>
  /**
   * Settles accounts for processes that died on at most `limit` payments: credits what the chain has taken.
   *
   * @returns how many were looked at
   */
  sweep(limit: number): Promise<number>
}

/** A payment that was taken, and its receipt as a `Payment-Receipt` value. */
export interface Taken {
  payment: Payment
  receipt: string
}

/** What payments are taken with. */
export interface PaymentsDeps {
  store: Store
  now: () => Date
  methods: readonly PaymentMethod[]
  /** Finds methods that are not offered any more, for payments that were begun with them; none when absent. */
  retired?: () => Promise<readonly PaymentMethod[]>
  /** Adds to a caller's ledger account, once for each reference. */
  credit(credit: Credit): Promise<unknown>
  /** Told when a payment's state could not be noted; a sweep does it later. */
  onError: (error: unknown) => void
  /** Told why a payment was not taken. */
  onFailed: (failure: FailedPayment) => void
  /** Told when a payment was ended uncredited because it can never be made: what its payer signed went to something else. */
  onSpent: (payment: PaymentRow) => void
  /** How long a dead process counts as at work; 60 s when absent. */
  leaseMs?: number
}

/** A payment that was not taken. */
export interface FailedPayment {
  /** The challenge that its credential answers, as that says itself, and how it was to be paid. */
  id: string
  method: string
  error: unknown
}

/** Takes payments by the given methods, and keeps what becomes of each in the store. */
export function createPayments(deps: PaymentsDeps): Payments {
  const { store, now, methods, onError, onFailed, onSpent, leaseMs } = deps
  const claims = createClaims({ store, now, ...(leaseMs !== undefined && { leaseMs }) })
  const leases = createLeases({ claims, leaseMs, onError })

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
      // Anyone may carry out what was signed, until it expires: a sweep credits it then, and else writes it off.
      await claims.abandon(id)
      const refusal = refusalOf(error)
      if (refusal === null) throw error instanceof GazewayError ? error : unconfirmed(error)
      if (await mayHaveMoved(method, claim)) throw unconfirmed(error)
      throw paymentRequired(`${refusal} No money was moved.`, error)
    }
  }

  /** What cannot be told is not denied. */
  async function mayHaveMoved(method: PaymentMethod, claim: Claim): Promise<boolean> {
    try {
      return await method.isOpen(claim)
    } catch (error) {
      onError(error)
      return true
    }
  }

  /** @param from `settled`, or `crediting` where an earlier attempt was interrupted */
  async function creditOnce(
    payment: Pick<Payment, 'id' | 'method' | 'account' | 'payer' | 'amount'>,
    from: PaymentStatus,
  ): Promise<void> {
    const { id, method, account, payer, amount } = payment
    if (method === CREDIT) return giveBack(payment, from)
    if (from !== 'crediting' && !(await claims.advance(id, from, 'crediting'))) return
    const to = account === null ? { wallet: payer } : { account }
    await deps.credit({ ...to, micros: amount, reference: referenceOf(id) })
    await claims.advance(id, 'crediting', 'credited')
  }

  /** What came out of the ledger goes back there, and is no deposit. */
  async function giveBack({ id, payer, amount }: Pick<Payment, 'id' | 'payer' | 'amount'>, from: PaymentStatus) {
    await store.write(async (trx) => {
      if (await claims.advance(id, from, 'credited', undefined, trx))
        await returnCredit(trx, { wallet: payer, micros: amount, reference: referenceOf(id), at: now() })
    })
  }

  async function methodOf(row: PaymentRow): Promise<PaymentMethod | undefined> {
    const ofRow = ({ name }: PaymentMethod) => name === row.method
    return methods.find(ofRow) ?? (await deps.retired?.())?.find(ofRow)
  }

  async function resume(row: TakenOver): Promise<void> {
    const { id, payer, amount_micros: amount } = row
    const payment = { id, method: row.method, payer, account: row.account_named === 0 ? null : row.account, amount }
    const status = row.status as PaymentStatus
    if (status !== 'claimed' && status !== 'freed') return creditOnce(payment, status)
    const method = await methodOf(row)
    const sought = { ...row, amount }
    const reference = method ? await method.find(sought) : null
    if (reference !== null && (await claims.advance(id, status, 'settled', reference)))
      return creditOnce(payment, 'settled')
    if (await method?.isSpent?.(sought)) {
      if (await claims.advance(id, status, 'failed')) onSpent(row)
      return
    }
    if (!method || Date.parse(row.seen_at) <= Date.parse(row.expires_at) + LATE_MS) return
    if (!(await method.isOpen(sought))) await claims.advance(id, status, 'failed')
  }

  /** A credential as it was sent, and how it is paid. */
  function read(header: string | null) {
    const { credential, challenge } = parse(header)
    const method = methods.find(({ name }) => name === challenge.method)
    if (!method) throw paymentRequired('The credential is for a payment method that is not offered here.')
    return { credential, challenge, method }
  }

  async function takeWith({ credential, challenge, method }: ReturnType<typeof read>, terms: Terms): Promise<Taken> {
    if (await claims.isUsed(challenge.id)) throw usedBefore()
    const { payer, proof, validUntil = 0 } = await check(method, credential, terms)
    const { account = null, amount } = terms
    const caller = account ?? (await payerAccount(store, payer))
    const payment = { id: challenge.id, method: method.name, payer, caller, account, amount }
    // A checked credential has a time of expiry.
    const expiresAt = new Date(Math.max(Date.parse(challenge.expires ?? ''), validUntil)).toISOString()
    const claim = { ...payment, scope: terms.scope, proof, expiresAt }
    const begun = moment()
    const lease = await claims.claim(claim)
    if (lease === null) throw usedBefore()
    leases.begin(payment.id, lease, begun)
    return { payment, receipt: await settle(method, credential, terms, claim) }
  }

  /**
   * The claim of a credential whose payer has what it is for in the ledger; null where that is not so, or not known.
   * What is wrong with a credential is for `take` to say.
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

/** What a payment is called in the ledger: a deposit of it happens once. */
export const referenceOf = (paymentId: string): string => `mpp:${paymentId}`

/** The method of payments that are made with what their payer has in the ledger. */
const CREDIT = 'credit'

const creditReceipt = (reference: string, at: Date): string =>
  Receipt.serialize({ method: CREDIT, reference, status: 'success', timestamp: at.toISOString() })

/** Another payment was faster, or the money went to a key that the wallet was bound to meanwhile. */
function nullIfShort(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'insufficient_credit') return null
  throw error
}

const usedBefore = () => paymentRequired('This payment was used before; pay for each request anew.')

function parse(header: string | null) {
  const credential = header === null ? null : Credential.extractPaymentScheme(header)
  if (credential === null) throw paymentRequired('This request is paid for: answer the challenge in WWW-Authenticate.')
  try {
    refusePadding(credential)
    return { credential, challenge: Credential.deserialize(credential).challenge }
  } catch (error) {
    throw paymentRequired('The credential cannot be read; make one from the challenge in WWW-Authenticate.', error)
  }
}

/** Base64 ends in two `=` at most; mppx takes time by the square of them, in a credential and in what it holds. */
const PADDING = '='.repeat(32)

function refusePadding(credential: string): void {
  const held = Buffer.from(credential.slice('Payment '.length), 'base64').toString('latin1')
  if (credential.includes(PADDING) || held.includes(PADDING)) throw new Error('More padding than base64 has.')
}

async function check(method: PaymentMethod, credential: string, terms: Terms): Promise<Checked> {
  const checked = await method.check(credential, terms).catch(refuse)
  requirePayer(checked.payer, terms)
  return checked
}

function refuse(error: unknown): never {
  if (error instanceof GazewayError) throw error
  if (isUnreachable(error)) throw chainUnreachable(error)
  throw paymentRequired(refusalOf(error) ?? 'The credential is not valid.', error)
}

function requirePayer(payer: string, terms: Terms): void {
  if (terms.payer === undefined || payer === terms.payer) return
  throw paymentRequired(`The payment must come from ${terms.payer}, the wallet that makes the request.`)
}
