import type { List } from '../../paging.ts'

/** What metered calls add up to. */
export interface Sums {
  calls: number
  total_tokens: number
  upstream_cost_usd: number
  margin_usd: number
  total_usd: number
}

/** What one call cost. */
export interface Receipt {
  call_id: string
  caller_id: string
  model: string
  at: string
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number; estimated?: boolean }
  billing: { upstream_cost_usd: number; margin_usd: number; total_usd: number; token: string }
  latency_ms: number
}

/** `GET /api/wallet/metered/usage` */
export interface Usage extends List<Receipt> {
  totals: Sums
  by_caller: (Sums & { caller_id: string })[]
  groups: (Sums & { key: string })[]
}
