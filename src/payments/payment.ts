import type { PaymentMethodName } from '../config/sections/mpp-section.ts'
import type { Micros } from '../text/money.ts'

/** What a request costs, and what a payment for it is good for. */
export interface Terms {
  amount: Micros
  /** What is paid for (`POST /v1/responses`); a payment for one thing buys no other. */
  scope: string
  /** For the person who is asked to pay. */
  description: string
  /** The only address that may pay, in lower case; anyone when absent. */
  payer?: string | undefined
  /** The caller whose ledger account the amount is credited to; when absent, whose the payer's money is at that moment. */
  account?: string | undefined
}

/** A payment that has been taken. */
export interface Payment {
  /** The id of the challenge that it answers. */
  id: string
  /** `credit` where it was made with what its payer has in the ledger. */
  method: string
  /** The address that paid, in lower case. */
  payer: string
  /** The caller that the request is made by: whose the payer's money is as it is made, unless the terms name one. */
  caller: string
  /** The caller whose ledger account it is credited to; null: whose the payer's money is at that moment. */
  account: string | null
  amount: Micros
}

/**
 * Where a payment stands, from the claim on its credential to the end of what it paid for. One that is `freed` was claimed in
 * vain, before anything was signed for it.
 */
export type PaymentStatus = 'claimed' | 'freed' | 'settled' | 'served' | 'crediting' | 'credited' | 'failed'

/** What a valid credential says. */
export interface Checked {
  payer: string
  /** What the chain knows the settlement by before it has a transaction. */
  proof: string
  /** Until when the chain may take what was signed, in milliseconds since 1970; absent where that is as the challenge says. */
  validUntil?: number
}

/** A payment that the chain is asked about. */
export type SoughtPayment = Pick<Checked, 'payer' | 'proof'> & Pick<Payment, 'amount'>

/** One way to pay. Credentials are passed as they were sent: `Payment …`. */
export interface PaymentMethod {
  name: PaymentMethodName
  /**
   * Checks that payments can be made as they are configured.
   *
   * @returns what was found, in words
   * @throws GazewayError `config_invalid` naming the setting that is wrong, `upstream_unreachable` naming the node that cannot
   *   be asked, `payments_paused` when nothing is there to pay gas with
   */
  verify(): Promise<string>
  /** The least that a payment may be: what it costs this gateway, as far as is known. */
  least(): Micros
  /** A new challenge, as a `WWW-Authenticate` value. */
  challenge(terms: Terms): Promise<string>
  /**
   * Checks that a credential answers a challenge of this gateway, in time, for these terms, and that it is signed.
   * Moves no money.
   *
   * @throws an error that {@link refusalOf} explains; GazewayError `upstream_unreachable` when the chain cannot be asked
   */
  check(credential: string, terms: Terms): Promise<Checked>
  /**
   * Who has signed a credential that answers a challenge of this gateway for these terms, in time, whether it was used or not.
   * Absent where that cannot be told without the chain.
   *
   * @throws as `check`
   */
  signer?(credential: string, terms: Terms): Promise<string>
  /**
   * Settles it on the chain and waits until that is certain.
   *
   * @throws as `check`, with `upstream_unreachable` only where nothing was signed yet; other errors leave it open
   */
  settle(credential: string, terms: Terms): Promise<{ reference: string; receipt: string }>
  /** What the chain says of a payment whose settlement was interrupted: its reference, or null while there is none. */
  find(payment: SoughtPayment): Promise<string | null>
  /** Whether money has moved for a payment, or may yet, even after its credential has expired, though it is not certain. */
  isOpen(payment: SoughtPayment): Promise<boolean>
  /**
   * Whether a payment can never be made, because what its payer signed for it has been used for something else, and that is
   * certain.
   */
  isSpent?(payment: SoughtPayment): Promise<boolean>
  /** Looks after transactions of this gateway's own that the chain has yet to take. */
  tend?(): Promise<void>
}
