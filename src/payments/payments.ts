import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments-tables.ts'
import type { Credit } from '../wallet/ledger/deposits.ts'
import { createClaims } from './claims.ts'
import { readCredential, signerOf } from './credential.ts'
import { createCrediting } from './crediting.ts'
import { createLeases } from './leases.ts'
import { createOwnCredit } from './own-credit.ts'
import type { Payment, PaymentMethod, Taken, Terms } from './payment.ts'
import { createResume } from './resume-payment.ts'
import { createTake } from './take-payment.ts'

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

/** Dependencies of {@link createPayments}. */
export interface PaymentsDeps {
  store: Store
  now: () => Date
  methods: readonly PaymentMethod[]
  /** Loads methods that are no longer offered, for their unfinished payments; none by default. */
  retired?: () => Promise<readonly PaymentMethod[]>
  /** Gives back unused reservations of a caller, so that it can spend its whole balance; does nothing by default. */
  giveBackIdle?: (callerId: string) => Promise<void>
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
  const { store, now, methods, onError, onFailed, onSpent, leaseMs, giveBackIdle = async () => {} } = deps
  const claims = createClaims({ store, now, ...(leaseMs !== undefined && { leaseMs }) })
  const leases = createLeases({ claims, leaseMs, onError })
  const creditOnce = createCrediting({ store, now, claims, credit: deps.credit })
  const resume = createResume({ claims, methods, retired: deps.retired, creditOnce, onSpent })
  const take = createTake({ store, claims, leases, onError })
  const read = (header: string | null) => readCredential(header, methods)

  return {
    challenges: (terms) => Promise.all(methods.map((method) => method.challenge(terms))),
    signer: async (header, terms) => signerOf(read(header), terms),

    async take(header, terms) {
      const asked = read(header)
      return take(asked, terms).catch((error: unknown) => {
        onFailed({ id: asked.challenge.id.slice(0, MAX_ID), method: asked.method.name, error })
        throw error
      })
    },

    ...createOwnCredit({ store, now, claims, leases, read, giveBackIdle }),
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
