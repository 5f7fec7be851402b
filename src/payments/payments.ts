import { Credential } from 'mppx'
import type { Chain } from '../chain/chain.ts'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments.ts'
import type { Credit } from '../wallet/deposits.ts'
import { payerAccount } from '../wallet/payer-account.ts'
import { type Claim, createClaims } from './claims.ts'
import type { Checked, Payment, PaymentMethod, PaymentStatus, Terms } from './payment.ts'
import { chainUnreachable, isUnreachable, paymentRequired, refusalOf, unconfirmed } from './refusal.ts'
import type { PaymentSettings } from './settings.ts'

/** Signs of life of a payment's process, in milliseconds: three within a lease. */
const RENEWED_EVERY_MS = 20_000
/** How long after its credential expired a payment may still turn up on the chain, in milliseconds. */
const LATE_MS = 600_000

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
  take(header: string | null, terms: Terms): Promise<{ payment: Payment; receipt: string }>
  /** What was paid for has been delivered. */
  served(payment: Payment): Promise<void>
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

/** What payments are taken with. */
export interface PaymentsDeps {
  store: Store
  now: () => Date
  methods: readonly PaymentMethod[]
  /** Adds to a caller's ledger account, once for each reference. */
  credit(credit: Credit): Promise<unknown>
  /** Told when a payment's state could not be noted; a sweep does it later. */
  onError: (error: unknown) => void
  /** Told when a payment was ended uncredited because it can never be made: what its payer signed went to something else. */
  onSpent: (payment: PaymentRow) => void
  /** How long a dead process counts as at work; 60 s when absent. */
  leaseMs?: number
}

/** How long a node may take to answer while a payment is settled, in milliseconds. */
const NODE_MS = 10_000

/**
 * The methods that the configuration names. Each is loaded only where it is used, which takes about half a second.
 *
 * @param chain where the transactions of the wallet's account get their numbers
 */
export async function loadMethods(settings: PaymentSettings, chain: Pick<Chain, 'account'>): Promise<PaymentMethod[]> {
  const methods: PaymentMethod[] = []
  if (settings.evm) {
    const { chainId, rpcUrl, privateKey, confirmations } = settings.evm
    const account = await chain.account({ chainId, rpcUrl, timeoutMs: NODE_MS, confirmations }, privateKey)
    methods.push((await import('./evm.ts')).evmMethod(settings.evm, settings, account))
  }
  if (settings.tempo) methods.push((await import('./tempo.ts')).tempoMethod(settings.tempo, settings))
  return methods
}

/** Takes payments by the given methods, and keeps what becomes of each in the store. */
export function createPayments(deps: PaymentsDeps): Payments {
  const { store, now, methods, onError, onSpent, leaseMs } = deps
  const claims = createClaims({ store, now, ...(leaseMs !== undefined && { leaseMs }) })
  const alive = new Map<string, NodeJS.Timeout>()

  function keepAlive(id: string): void {
    alive.set(id, setInterval(() => claims.renew(id).catch(onError), RENEWED_EVERY_MS).unref())
  }
  function end(id: string): void {
    clearInterval(alive.get(id))
    alive.delete(id)
  }

  async function settle(method: PaymentMethod, credential: string, terms: Terms, claim: Claim): Promise<string> {
    const { id } = claim
    try {
      const { reference, receipt } = await method.settle(credential, terms)
      if (!(await claims.advance(id, 'claimed', 'settled', reference))) throw unconfirmed()
      return receipt
    } catch (error) {
      end(id)
      if (error instanceof GazewayError && error.code === 'upstream_unreachable') {
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
  async function creditOnce(payment: Pick<Payment, 'id' | 'account' | 'payer' | 'amount'>, from: PaymentStatus) {
    const { id, account, payer, amount } = payment
    if (from !== 'crediting' && !(await claims.advance(id, from, 'crediting'))) return
    const to = account === null ? { wallet: payer } : { account }
    await deps.credit({ ...to, micros: amount, reference: referenceOf(id) })
    await claims.advance(id, 'crediting', 'credited')
  }

  async function resume(row: PaymentRow): Promise<void> {
    const { id, payer, amount_micros: amount } = row
    const payment = { id, payer, account: row.account_named === 0 ? null : row.account, amount }
    const status = row.status as PaymentStatus
    if (status !== 'claimed' && status !== 'freed') return creditOnce(payment, status)
    const method = methods.find(({ name }) => name === row.method)
    const sought = { ...row, amount }
    const reference = method ? await method.find(sought) : null
    if (reference !== null && (await claims.advance(id, status, 'settled', reference)))
      return creditOnce(payment, 'settled')
    if (await method?.isSpent?.(sought)) {
      if (await claims.advance(id, status, 'failed')) onSpent(row)
      return
    }
    if (!method || now().getTime() <= Date.parse(row.expires_at) + LATE_MS) return
    if (!(await method.isOpen(sought))) await claims.advance(id, status, 'failed')
  }

  /** A credential as it was sent, and how it is paid. */
  function read(header: string | null) {
    const { credential, challenge } = parse(header)
    const method = methods.find(({ name }) => name === challenge.method)
    if (!method) throw paymentRequired('The credential is for a payment method that is not offered here.')
    return { credential, challenge, method }
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
      const { credential, challenge, method } = read(header)
      if (await claims.isUsed(challenge.id)) throw usedBefore()
      const { payer, proof, validUntil = 0 } = await check(method, credential, terms)
      const { account = null, amount } = terms
      const caller = account ?? (await payerAccount(store, payer))
      const payment = { id: challenge.id, method: method.name, payer, caller, account, amount }
      // A checked credential has a time of expiry.
      const expiresAt = new Date(Math.max(Date.parse(challenge.expires ?? ''), validUntil)).toISOString()
      const claim = { ...payment, scope: terms.scope, proof, expiresAt }
      if (!(await claims.claim(claim))) throw usedBefore()
      keepAlive(payment.id)
      return { payment, receipt: await settle(method, credential, terms, claim) }
    },

    async served({ id }) {
      end(id)
      // Not noted, it is credited by a sweep: the payer has the better of it.
      await claims.advance(id, 'settled', 'served').catch(onError)
    },

    async credit(payment) {
      end(payment.id)
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
