/**
 * One payment by a credential, under the id of the challenge that it answers. Statuses:
 *
 * - `claimed`: before it is settled on the chain
 * - `freed`: nothing could be signed for it, so it may be claimed again
 * - `settled`, then `served`: while its request is served, and after
 * - `settled`, then `crediting` and `credited`: while an account is credited, and after
 * - `failed`: the chain did not accept it before it expired, or never can
 *
 * Columns:
 *
 * - `account`: the account that is credited. With `account_named` 0, the terms named none: the account is determined at
 *   the moment of the credit, and `account` is the one at the time of the payment
 * - `lease_until`: a time while the payment is unfinished, null afterwards
 * - `proof`: identifies the settlement on the chain before it has a transaction (an authorization's nonce, a signed
 *   transaction's hash)
 */
export interface PaymentRow {
  id: string
  method: string
  payer: string
  account: string
  amount_micros: number
  scope: string
  proof: string
  reference: string | null
  status: string
  lease_until: string | null
  created_at: string
  expires_at: string
  account_named: number
}

export interface PaymentTables {
  payments: PaymentRow
}
