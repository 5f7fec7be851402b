/**
 * One escrow. `recipient` is whom the money goes, or went, to; `counted_on` the UTC day on whose daily limit it counts,
 * null where the payer has none; `settlement_mode` says where it is paid: in the ledger, or on a chain (`evm`). An escrow that is locked beyond `expires_at` is expired, whether or not its row says so yet.
 */
export interface EscrowRow {
  id: string
  task_id: string
  amount_micros: number
  token: string
  payer: string
  recipient: string | null
  status: string
  counted_on: string | null
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
