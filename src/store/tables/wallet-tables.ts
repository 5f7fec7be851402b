import type { Generated } from 'kysely'

/**
 * One account of the ledger. Its hash chain holds `transfers` transfers; `head` is the hash of the last one.
 * `deposited_micros` is the part of the balance that comes from deposits. It is higher than the balance when credit has
 * lowered that.
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

/** One transfer: immutable, in the chain of its first account. `entries` is the JSON that was hashed. */
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
 * The receipt of one call.
 *
 * - `counted_on`: UTC day of spending on which it counts, for its caller and the group
 * - `transfer`: the ledger transfer that took its money
 * - `price`: rates and their source as JSON; empty for receipts of earlier versions, and where `receipt_prices` has it
 * - `charged`: 0 when the cost is only recorded
 * - `capped`: 1 when the call cost more than was taken for it
 * - `stated`: 1 when the vendor stated the cost
 * - `absorbed_micros`: part of the provider's bill that the operator bears
 * - `debt_micros`: part of what was taken that the credit of the caller did not hold
 */
export interface MeteredCallRow {
  call_id: string
  caller_id: string
  model: string
  at: string
  margin_micros: number
  upstream_cost_micros: number
  token: string
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  usage_estimated: number
  latency_ms: number
  upstream_call_id: string | null
  path: string
  counted_on: string
  group_id: string | null
  transfer: string | null
  upstream: string
  price: string
  cached_tokens: number
  cache_write_tokens: number
  cache_write_1h_tokens: number
  charged: number
  capped: number
  stated: number
  absorbed_micros: number
  debt_micros: number
}

/**
 * Sums of a caller's calls to one model of one upstream at one price on one UTC day. `day` is a date: `2026-11-21`.
 * Receipts of earlier versions name no upstream and no price.
 */
export interface MeteredUsageRow {
  caller_id: string
  day: string
  model: string
  upstream: string
  price: string
  charged: number
  calls: number
  total_tokens: number
  upstream_cost_micros: number
  margin_micros: number
  prompt_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  cache_write_1h_tokens: number
  completion_tokens: number
  estimated_calls: number
  capped_calls: number
  stated_calls: number
  absorbed_micros: number
  debt_micros: number
}

/** A period that is closed. `ledger_head` is that of the ledger once nothing could be booked into it any more. */
export interface ClosedPeriodRow {
  period: string
  starts_at: string
  ends_at: string
  closed_at: string
  closed_by: string
  ledger_head: string | null
}

/**
 * Spending of a key, wallet or group on one UTC day; in total when `day` is `total`. `beyond_micros` is the part that was
 * not reserved, `forgiven_micros` what an admin forgave of that: it counts in no budget.
 */
export interface SpendingRow {
  owner: string
  day: string
  charged_micros: number
  recorded_micros: number
  beyond_micros: number
  forgiven_micros: number
}

/**
 * Allowance: a part of a key's budgets and money that one process may spend. `charged` is 1 while money is held for it.
 * `turn` numbers the changes by its holder, so that none is applied twice; the last change added `granted`.
 * `presumed_at` is set while its holder does not renew it: its budgets count it as spent, and its money is given back.
 * `session` names the spending of a session, whose budget holds it too.
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
  presumed_at: string | null
  session: string | null
}

/** A price that receipts share, as JSON. */
export interface ReceiptPriceRow {
  number: Generated<number>
  price: string
}

/**
 * A month whose transfers and receipts are sealed in a file, `MONTH.jsonl.gz` in `folder`. Everything of before `ends_at` is
 * read there.
 *
 * - `sha256`: of the file
 * - `seal_at`, `seal_sha256`: where the last part of the file begins, its seal, and its digest
 * - `pruned_at`: null while rows of the month may still be in the store
 */
export interface ArchiveRow {
  month: string
  starts_at: string
  ends_at: string
  folder: string
  sha256: string
  bytes: number
  seal_at: number
  seal_sha256: string
  transfers: number
  receipts: number
  sealed_at: string
  pruned_at: string | null
}

export interface WalletTables {
  archives: ArchiveRow
  ledger_accounts: LedgerAccountRow
  ledger_transfers: LedgerTransferRow
  /** `price_number` names its price; null where the row has it. */
  metered_calls: MeteredCallRow & { price_number: number | null }
  receipt_prices: ReceiptPriceRow
  metered_usage: MeteredUsageRow
  closed_periods: ClosedPeriodRow
  spending: SpendingRow
  allowances: AllowanceRow
}
