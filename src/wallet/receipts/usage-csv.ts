import type { Medium } from '../../providers/preset.ts'
import { type CsvColumns, csvOf, yesNo } from '../../store/csv.ts'
import type { ReceiptRecord } from './receipt.ts'
import type { ReceiptPage, UsageQuery } from './usage-report.ts'

/** Tokens of a medium and their rates. */
const columnsOf = (medium: Medium): CsvColumns<ReceiptRecord> => ({
  [`${medium}_input_tokens`]: ({ price }) => price?.[medium]?.input_tokens ?? 0,
  [`cached_${medium}_input_tokens`]: ({ price }) => price?.[medium]?.cached_input_tokens ?? 0,
  [`${medium}_output_tokens`]: ({ price }) => price?.[medium]?.output_tokens ?? 0,
  [`${medium}_input_usd_per_1m`]: ({ price }) => price?.[`${medium}_input`] ?? '',
  [`cached_${medium}_input_usd_per_1m`]: ({ price }) => price?.[`cached_${medium}_input`] ?? '',
  [`${medium}_output_usd_per_1m`]: ({ price }) => price?.[`${medium}_output`] ?? '',
})

const COLUMNS: CsvColumns<ReceiptRecord> = {
  call_id: (receipt) => receipt.call_id,
  at: (receipt) => receipt.at,
  caller_id: (receipt) => receipt.caller_id,
  model: (receipt) => receipt.model,
  prompt_tokens: ({ usage }) => usage.prompt_tokens,
  completion_tokens: ({ usage }) => usage.completion_tokens,
  total_tokens: ({ usage }) => usage.total_tokens,
  estimated: ({ usage }) => yesNo(usage.estimated),
  upstream_cost_usd: ({ billing }) => billing.upstream_cost_usd,
  margin_usd: ({ billing }) => billing.margin_usd,
  total_usd: ({ billing }) => billing.total_usd,
  token: ({ billing }) => billing.token,
  latency_ms: (receipt) => receipt.latency_ms,
  caller_name: ({ caller_name }) => caller_name ?? '',
  group_id: ({ group_id }) => group_id ?? '',
  upstream: ({ upstream }) => upstream,
  path: ({ path }) => path,
  cached_tokens: ({ usage }) => usage.cached_tokens ?? 0,
  cache_write_tokens: ({ usage }) => usage.cache_write_tokens ?? 0,
  cache_write_1h_tokens: ({ usage }) => usage.cache_write_1h_tokens ?? 0,
  tier: ({ price }) => price?.tier ?? '',
  input_usd_per_1m: ({ price }) => price?.input ?? '',
  cached_input_usd_per_1m: ({ price }) => price?.cached_input ?? '',
  cache_write_usd_per_1m: ({ price }) => price?.cache_write ?? '',
  cache_write_1h_usd_per_1m: ({ price }) => price?.cache_write_1h ?? '',
  output_usd_per_1m: ({ price }) => price?.output ?? '',
  price_from: ({ price }) => price?.from ?? '',
  price_source: ({ price }) => price?.source ?? price?.id ?? '',
  price_date: ({ price }) => price?.date ?? '',
  charged: ({ charged }) => yesNo(charged),
  capped: ({ capped }) => yesNo(capped),
  stated: ({ stated }) => yesNo(stated),
  transfer: ({ transfer }) => transfer ?? '',
  absorbed_usd: ({ absorbed_usd }) => absorbed_usd,
  debt_usd: ({ debt_usd }) => debt_usd,
  ...columnsOf('audio'),
  session: ({ session }) => session ?? '',
  ...columnsOf('image'),
  ...columnsOf('video'),
}

/**
 * Writes receipts as CSV, newest first.
 *
 * @param receipts reads a page
 * @param query `offset` skips the newest ones, `cursor` continues an earlier page; all that follow are written
 * @throws GazewayError `invalid_cursor`, before the header
 */
export const usageCsv = (
  receipts: (query: UsageQuery) => Promise<ReceiptPage>,
  query: Omit<UsageQuery, 'limit'>,
): AsyncGenerator<string, void> => csvOf(COLUMNS, receipts, query)
