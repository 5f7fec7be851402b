/**
 * One payment that a released escrow, or a withdrawal, owes on a chain, under its id: `pending` until a transaction is signed for it, `submitted` while
 * that is on its way, then `confirmed`, or `failed` when the token refused it. `next_at` is when it is looked at next.
 */
export interface SettlementRow {
  id: string
  recipient: string
  micros: number
  chain_id: number
  /** Address of the token, in lower case. */
  token: string
  status: string
  /** Of the account's transaction that pays it. */
  nonce: number | null
  /** Of the transaction that was signed last, or of the one that was mined. */
  tx_hash: string | null
  block_number: number | null
  attempts: number
  error: string | null
  next_at: string
  created_at: string
  updated_at: string
}

/** Nonces of one account on one chain: the next one, and which process tends them until when. */
export interface ChainAccountRow {
  chain_id: number
  /** In lower case. */
  address: string
  next_nonce: number
  tender: string | null
  tended_until: string
}

/**
 * One number of an account and everything that was ever signed with it. `sent` while none of it is final, `final` once
 * one is, `reverted` when that one failed, `lost` when the number went to a transaction that was signed elsewhere.
 */
export interface ChainTransactionRow {
  chain_id: number
  address: string
  nonce: number
  /** Purpose: `settlement:ESCROW` or `payment:NONCE`. */
  purpose: string
  status: string
  to_address: string
  data: string
  gas: number
  /** In wei. A transaction without a priority fee is a legacy one, with `max_fee` as its gas price. */
  max_fee: number
  priority_fee: number | null
  /** The signed bytes that are sent, those of the highest fee. */
  raw: string
  /** JSON list of the hashes of all that was signed, the newest last. */
  hashes: string
  /** The block that one of them is in, as far as is known. */
  block_number: number | null
  signed_at: string
  created_at: string
}

/** Deposited money that a caller is paid back on a chain; `settled_at` is null until the chain has paid it. */
export interface WithdrawalRow {
  id: string
  caller_id: string
  /** An address, in lower case. */
  recipient: string
  amount_micros: number
  /** The token that it is paid in. */
  token: string
  created_at: string
  settled_at: string | null
}

export interface SettlementTables {
  settlements: SettlementRow
  withdrawals: WithdrawalRow
  chain_accounts: ChainAccountRow
  chain_transactions: ChainTransactionRow
}
