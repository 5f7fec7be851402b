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
 * on whose daily limit it counts, null where the caller had none as it began.
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
  counted_on: string | null
}

/** What a caller's captured calls of one UTC day to one model add up to. `day` is a date: `2026-11-21`. */
export interface MeteredUsageRow {
  caller_id: string
  day: string
  model: string
  calls: number
  total_tokens: number
  upstream_cost_micros: number
  margin_micros: number
}

/** What a caller with a daily limit has spent or reserved on one UTC day. */
export interface DailySpendingRow {
  caller_id: string
  day: string
  spent_micros: number
}

export interface WalletTables {
  ledger_accounts: LedgerAccountRow
  ledger_transfers: LedgerTransferRow
  metered_calls: MeteredCallRow
  metered_usage: MeteredUsageRow
  daily_spending: DailySpendingRow
}
