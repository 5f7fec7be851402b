import type { PaymentMethodName } from '../config/sections/mpp-section.ts'
import type { Micros } from '../text/money.ts'

/** Price and scope of a payment. */
export interface Terms {
  amount: Micros
  /** Request that is paid for (`POST /v1/responses`). A payment is valid for this request only. */
  scope: string
  /** Text for the person who pays. */
  description: string
  /** The only address that may pay, in lower case; anyone when absent. */
  payer?: string | undefined
  /** Caller whose ledger account is credited; the owner of the payer's money at that moment when absent. */
  account?: string | undefined
}

/** A payment that was taken. */
export interface Payment {
  /** Id of the answered challenge. */
  id: string
  /** Payment method; `credit` when paid from the payer's ledger balance. */
  method: string
  /** Paying address in lower case. */
  payer: string
  /** Caller of the request: the one in the terms, or the owner of the payer's money. */
  caller: string
  /** Caller whose ledger account is credited; null for the owner of the payer's money at that moment. */
  account: string | null
  amount: Micros
}

/**
 * Status of a payment, from the claim on its credential to the end of the paid request. `freed`: nothing was signed,
 * and the credential can be used again.
 */
export type PaymentStatus = 'claimed' | 'freed' | 'settled' | 'served' | 'crediting' | 'credited' | 'failed'

/** Content of a valid credential. */
export interface Checked {
  payer: string
  /** Id of the settlement on the chain before it has a transaction. */
  proof: string
  /** Time until which the chain may accept the signature, in Unix milliseconds; the challenge's expiry when absent. */
  validUntil?: number
}

/** A payment to look up on the chain. */
export type SoughtPayment = Pick<Checked, 'payer' | 'proof'> & Pick<Payment, 'amount'>

/** One way to pay. Credentials are passed as sent: `Payment …`. */
export interface PaymentMethod {
  name: PaymentMethodName
  /**
   * Checks that the configured method works.
   *
   * @returns a description of the result
   * @throws GazewayError
   * - `config_invalid` with the wrong setting
   * - `upstream_unreachable` with the node that does not answer
   * - `payments_paused` without gas
   */
  verify(): Promise<string>
  /** Smallest payment: this gateway's cost of a payment, if known. */
  least(): Micros
  /** Creates a challenge, as a `WWW-Authenticate` value. */
  challenge(terms: Terms): Promise<string>
  /**
   * Checks that a credential answers a challenge of this gateway for these terms, is signed, and has not expired. Moves
   * no money.
   *
   * @throws an error that {@link refusalOf} explains; GazewayError `upstream_unreachable` when the node does not answer
   */
  check(credential: string, terms: Terms): Promise<Checked>
  /**
   * Finds the signer of an unexpired credential for these terms, used or not. Absent when only the chain can tell.
   *
   * @throws as `check`
   */
  signer?(credential: string, terms: Terms): Promise<string>
  /**
   * Settles a payment on the chain and waits for its confirmations.
   *
   * @throws as `check`, with `upstream_unreachable` only before anything was signed; after other errors the outcome is
   *   unknown
   */
  settle(credential: string, terms: Terms): Promise<{ reference: string; receipt: string }>
  /** Finds an interrupted settlement on the chain. @returns its reference, or null */
  find(payment: SoughtPayment): Promise<string | null>
  /** Tells whether money has moved for a payment or still may, even after its credential has expired. */
  isOpen(payment: SoughtPayment): Promise<boolean>
  /** Tells whether a payment can never settle: a confirmed transaction used its signature for something else. */
  isSpent?(payment: SoughtPayment): Promise<boolean>
  /** Watches this gateway's own pending transactions. */
  tend?(): Promise<void>
}

/** A payment and its receipt as a `Payment-Receipt` value. */
export interface Taken {
  payment: Payment
  receipt: string
}
