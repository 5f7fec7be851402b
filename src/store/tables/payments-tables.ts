/**
 * One payment that a credential made, kept under the id of the challenge that it answers: `claimed` before it is settled
 * on the chain, `freed` when nothing could be signed for it, so that it may be claimed again; `settled` while its request is
 * served, then `served`, or by way of `crediting` `credited`; `failed` when the chain did not take it before it expired, or
 * never can. `account` is the one that it is credited to; where its terms named none (`account_named` is 0), that is found at
 * the moment of the credit, and `account` is what it was as the payment was taken. While there is something left to do with it, `lease_until` is a time; afterwards it is null. `proof` is what the
 * chain knows the settlement by before it has a transaction (an authorization's nonce, a signed transaction's hash).
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
