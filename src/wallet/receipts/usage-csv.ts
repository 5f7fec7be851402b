import type { ReceiptRecord } from './receipt.ts'
import type { ReceiptPage, UsageQuery } from './usage-report.ts'

/** Receipts per page. */
const PAGE = 1_000

const COLUMNS: Record<string, (receipt: ReceiptRecord) => string | number> = {
  call_id: (receipt) => receipt.call_id,
  at: (receipt) => receipt.at,
  caller_id: (receipt) => receipt.caller_id,
  model: (receipt) => receipt.model,
  prompt_tokens: ({ usage }) => usage.prompt_tokens,
  completion_tokens: ({ usage }) => usage.completion_tokens,
  total_tokens: ({ usage }) => usage.total_tokens,
  estimated: ({ usage }) => (usage.estimated ? 'yes' : 'no'),
  upstream_cost_usd: ({ billing }) => billing.upstream_cost_usd,
  margin_usd: ({ billing }) => billing.margin_usd,
  total_usd: ({ billing }) => billing.total_usd,
  token: ({ billing }) => billing.token,
  latency_ms: (receipt) => receipt.latency_ms,
}

/**
 * Writes receipts as CSV (RFC 4180), newest first, with a header line. Reads page by page to bound memory.
 *
 * @param receipts reads a page
 * @param query `offset` skips the newest ones, `cursor` continues an earlier page; all that follow are written
 * @throws GazewayError `invalid_cursor`, before the header
 */
export async function* usageCsv(
  receipts: (query: UsageQuery) => Promise<ReceiptPage>,
  query: Omit<UsageQuery, 'limit'>,
): AsyncGenerator<string, void> {
  const { offset, ...selection } = query
  // Read before the header, so that an invalid query fails before any output.
  let page = await receipts({ ...query, limit: PAGE })
  yield line(Object.keys(COLUMNS))
  for (;;) {
    for (const receipt of page.items) yield line(Object.values(COLUMNS).map((column) => column(receipt)))
    if (page.next_cursor === null) return
    page = await receipts({ ...selection, limit: PAGE, cursor: page.next_cursor })
  }
}

const line = (cells: ReadonlyArray<string | number>): string => `${cells.map(quoted).join(',')}\r\n`

/** Quotes a cell. An apostrophe keeps spreadsheets from running a cell as a formula. */
function quoted(cell: string | number): string {
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
