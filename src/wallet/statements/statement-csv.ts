import { csvLine } from '../../store/csv.ts'
import type { Statement, StatementCharge } from './statement.ts'

/** One line: the balance, a movement, or the calls of a day to a model at a price. */
interface Line {
  day: string
  what: string
  count: number | ''
  /** Changes the balance; the lines sum to the closing balance. */
  amount: number | ''
  charge: StatementCharge | null
}

type Columns = Readonly<Record<string, (line: Line) => string | number>>

const COLUMNS: Columns = {
  day: ({ day }) => day,
  what: ({ what }) => what,
  count: ({ count }) => count,
  amount_usd: ({ amount }) => amount,
  model: ({ charge }) => charge?.model ?? '',
  upstream: ({ charge }) => charge?.upstream ?? '',
  prompt_tokens: ({ charge }) => charge?.prompt_tokens ?? '',
  cached_tokens: ({ charge }) => charge?.cached_tokens ?? '',
  cache_write_tokens: ({ charge }) => charge?.cache_write_tokens ?? '',
  cache_write_1h_tokens: ({ charge }) => charge?.cache_write_1h_tokens ?? '',
  completion_tokens: ({ charge }) => charge?.completion_tokens ?? '',
  tier: ({ charge }) => charge?.price?.tier ?? '',
  input_usd_per_1m: ({ charge }) => charge?.price?.input ?? '',
  cached_input_usd_per_1m: ({ charge }) => charge?.price?.cached_input ?? '',
  cache_write_usd_per_1m: ({ charge }) => charge?.price?.cache_write ?? '',
  cache_write_1h_usd_per_1m: ({ charge }) => charge?.price?.cache_write_1h ?? '',
  output_usd_per_1m: ({ charge }) => charge?.price?.output ?? '',
  price_from: ({ charge }) => charge?.price?.from ?? '',
  price_source: ({ charge }) => charge?.price?.source ?? charge?.price?.id ?? '',
  price_date: ({ charge }) => charge?.price?.date ?? '',
  upstream_cost_usd: ({ charge }) => charge?.upstream_cost_usd ?? '',
  margin_usd: ({ charge }) => charge?.margin_usd ?? '',
  estimated_calls: ({ charge }) => charge?.estimated_calls ?? '',
  capped_calls: ({ charge }) => charge?.capped_calls ?? '',
  stated_calls: ({ charge }) => charge?.stated_calls ?? '',
  absorbed_usd: ({ charge }) => charge?.absorbed_usd ?? '',
  debt_usd: ({ charge }) => charge?.debt_usd ?? '',
}

/** Further columns where charges are grouped. */
const GROUP_COLUMNS: Columns = {
  group: ({ charge }) => charge?.group ?? '',
  caller_id: ({ charge }) => charge?.caller_id ?? '',
}

/**
 * Writes a statement as CSV (RFC 4180). The amounts of the lines sum to that of the last one, the closing balance. A
 * closed period always has the same bytes; grouped, as long as the records of its calls are kept.
 */
export function statementCsv(statement: Statement): string {
  const { starts_at, ends_at, group_by, opening_usd, closing_usd, movements, charges } = statement
  const balance = (day: string, what: string, amount: number): Line => ({ day, what, count: '', amount, charge: null })
  const lines: Line[] = [
    balance(starts_at, 'opening', opening_usd),
    ...movements.map(({ day, kind, count, amount_usd }) => ({
      day,
      what: kind,
      count,
      amount: amount_usd,
      charge: null,
    })),
    ...charges.map((charge) => ({
      day: charge.day ?? '',
      what: charge.charged ? 'charge' : 'recorded',
      count: charge.calls,
      amount: charge.charged && charge.total_usd !== 0 ? -charge.total_usd : ('' as const),
      charge,
    })),
    balance(ends_at, 'closing', closing_usd),
  ]
  const columns = group_by === undefined ? COLUMNS : { ...COLUMNS, ...GROUP_COLUMNS }
  const cells = Object.values(columns)
  return [csvLine(Object.keys(columns)), ...lines.map((line) => csvLine(cells.map((cell) => cell(line))))].join('')
}
