/**
 * One account of the ledger. `head` is the hash of the last transfer in its chain, which holds `transfers` of them.
 * `deposited_micros` is the part of the balance that comes from deposits; it is above a balance that credit has lowered.
 */
export interface LedgerAccountRow {
  id: string
  kind: string
  owner: string
  balance_micros: number
  deposited_micros: number
  transfers: number
  head: string
}

/** One transfer: immutable, in the chain of its first account. `entries` is JSON and kept as it was hashed. */
export interface LedgerTransferRow {
  key: string
  chain: string
  position: number
  kind: string
  entries: string
  memo: string | null
  at: string
  hash: string
}

/**
 * One metered call: `held` while the upstream is asked, then `captured` (its receipt) or `voided`. `content` is the answer
 * as JSON, and is kept only while `idempotency_key` is, for the caller who repeats the request. `counted_on` is the UTC day
 * of spending on which it is counted, for its caller and the group. `transfer` names the ledger transfer that took its money.
 */
export interface MeteredCallRow {
  call_id: string
  caller_id: string
  model: string
  status: string
  at: string
  deadline: string
  held_micros: number
  margin_micros: number
  upstream_cost_micros: number
  token: string
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  usage_estimated: number
  latency_ms: number
  upstream_call_id: string | null
  idempotency_key: string | null
  fingerprint: string | null
  content: string | null
  path: string
  counted_on: string
  group_id: string | null
  transfer: string | null
}

/** Sums of a caller's captured calls to one model on one UTC day. `day` is a date: `2026-11-21`. */
export interface MeteredUsageRow {
  caller_id: string
  day: string
  model: string
  calls: number
  total_tokens: number
  upstream_cost_micros: number
  margin_micros: number
}

/** Spending of a key, wallet or group on one UTC day; in total when `day` is `total`. */
export interface SpendingRow {
  owner: string
  day: string
  charged_micros: number
  recorded_micros: number
}

/**
 * Allowance: the part of a key's budgets and money that one process may spend. `charged` is 0 or 1. `turn` numbers the
 * changes by its holder, so that none is applied twice; the last one added `granted`.
 */
export interface AllowanceRow {
  id: string
  holder: string
  key_id: string
  group_id: string | null
  day: string
  charged: number
  micros: number
  turn: number
  granted: number
  renewed_at: string
}

export interface WalletTables {
  ledger_accounts: LedgerAccountRow
  ledger_transfers: LedgerTransferRow
  metered_calls: MeteredCallRow
  metered_usage: MeteredUsageRow
  spending: SpendingRow
  allowances: AllowanceRow
}
