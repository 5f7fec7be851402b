/**
 * One escrow. `recipient` is whom the money goes, or went, to; `counted_on` the UTC day of
 * spending on which it is counted, for its payer and the group `counted_group`; `settlement_mode` says where it is paid: in the ledger, or on a chain (`evm`). An escrow that is locked beyond `expires_at` is expired, whether or not its row says so yet.
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
