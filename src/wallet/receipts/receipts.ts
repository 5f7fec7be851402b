import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import type { Receipt, ReceiptRecord } from './receipt.ts'
import { PRICE } from './receipt-prices.ts'

/** Columns of `metered_calls` in a receipt. */
export const RECEIPT_COLUMNS = [
  'call_id',
  'caller_id',
  'model',
  'path',
  'at',
  'margin_micros',
  'upstream_cost_micros',
  'token',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'usage_estimated',
  'latency_ms',
  'upstream_call_id',
  'group_id',
  'upstream',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'charged',
  'capped',
  'stated',
  'absorbed_micros',
  'debt_micros',
  PRICE.as('price'),
] as const

/** Row of a receipt. */
export type ReceiptRow = Omit<MeteredCallRow, 'counted_on' | 'transfer'>

/** Amount that a call was charged: its cost and the margin. */
export const costOf = (row: Pick<ReceiptRow, 'margin_micros' | 'upstream_cost_micros'>): Micros =>
  row.margin_micros + row.upstream_cost_micros

/** Builds the receipt of a captured call, with its answer. */
export function billedReceipt(row: ReceiptRow, content: string): Receipt {
  const { call_id, usage, billing, latency_ms } = toReceiptRecord({
    ...row,
    transfer: null,
    caller_name: null,
    session: null,
  })
  return { call_id, result: { role: 'assistant', content }, usage, billing, latency_ms }
}

/** Builds the history entry of a captured call. */
export function toReceiptRecord(
  row: ReceiptRow & { transfer: string | null; caller_name: string | null; session: string | null },
): ReceiptRecord {
  return {
    call_id: row.call_id,
    caller_id: row.caller_id,
    model: row.model,
    path: row.path,
    at: row.at,
    usage: {
      prompt_tokens: row.prompt_tokens,
      completion_tokens: row.completion_tokens,
      total_tokens: row.total_tokens,
      ...(row.cached_tokens > 0 && { cached_tokens: row.cached_tokens }),
      ...(row.cache_write_tokens > 0 && { cache_write_tokens: row.cache_write_tokens }),
      ...(row.cache_write_1h_tokens > 0 && { cache_write_1h_tokens: row.cache_write_1h_tokens }),
      ...(row.usage_estimated && { estimated: true }),
    },
    billing: {
      upstream_cost_usd: toUsd(row.upstream_cost_micros),
      margin_usd: toUsd(row.margin_micros),
      total_usd: toUsd(costOf(row)),
      token: row.token,
    },
    latency_ms: row.latency_ms,
    upstream_call_id: row.upstream_call_id,
    caller_name: row.caller_name,
    group_id: row.group_id,
    session: row.session,
    upstream: row.upstream,
    price: row.price === '' ? null : JSON.parse(row.price),
    charged: row.charged === 1,
    capped: row.capped === 1,
    stated: row.stated === 1,
    absorbed_usd: toUsd(row.absorbed_micros),
    debt_usd: toUsd(row.debt_micros),
    transfer: row.transfer,
  }
}
