/**
 * One escrow.
 *
 * - `recipient`: who gets, or got, the money
 * - `counted_on`: UTC day of spending on which it counts, for its payer and the group `counted_group`
 * - `settlement_mode`: where it is paid, in the ledger or on a chain (`evm`)
 *
 * A locked escrow past its `expires_at` counts as expired, even before its row says so.
 */
export interface EscrowRow {
  id: string
  task_id: string
  amount_micros: number
  token: string
  payer: string
  recipient: string | null
  status: string
  counted_on: string
  counted_group: string | null
  settlement_mode: string
  attestation_id: string | null
  reason: string | null
  created_at: string
  expires_at: string
  released_at: string | null
  settled_at: string | null
  refunded_at: string | null
}

export interface EscrowTables {
  escrows: EscrowRow
}
