/**
 * One payment that a released escrow or a withdrawal owes on a chain, under its id. Statuses: `pending` until a
 * transaction is signed, `submitted` until that is final, then `confirmed`; `failed` when the token rejected it.
 * `next_at` is the time of the next check.
 */
export interface SettlementRow {
  id: string
  recipient: string
  micros: number
  chain_id: number
  /** Address of the token, in lower case. */
  token: string
  status: string
  /** Nonce of the transaction that pays it. */
  nonce: number | null
  /** Hash of the last signed transaction, or of the mined one. */
  tx_hash: string | null
  block_number: number | null
  attempts: number
  error: string | null
  next_at: string
  created_at: string
  updated_at: string
}

/** Nonces of one account on one chain: the next nonce, and the process that holds the lease on the account. */
export interface ChainAccountRow {
  chain_id: number
  /** In lower case. */
  address: string
  next_nonce: number
  tender: string | null
  tended_until: string
}

/**
 * One nonce of an account and all transactions signed with it. `sent` until one of them is final, then `final`;
 * `reverted` when the final one failed; `lost` when a transaction signed elsewhere used the nonce.
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
  /** Signed bytes that are sent: the transaction with the highest fee. */
  raw: string
  /** JSON list of the hashes of all signed transactions, the newest last. */
  hashes: string
  /** Block that includes one of them; null when unknown. */
  block_number: number | null
  signed_at: string
  created_at: string
}

/** Deposited money that a caller withdraws to a chain. `settled_at` is null until the chain has paid it. */
export interface WithdrawalRow {
  id: string
  caller_id: string
  /** An address, in lower case. */
  recipient: string
  amount_micros: number
  /** Token in which it is paid. */
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
