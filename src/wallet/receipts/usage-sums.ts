import { sql, type Transaction } from 'kysely'
import { runBuilt } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import type { MeteredCallRow, MeteredUsageRow } from '../../store/tables/wallet-tables.ts'
import { dayOf } from '../budget/spending.ts'
import { ratesIn } from './price-rates.ts'

/** Columns that name a row of sums. */
const USAGE_KEY = ['caller_id', 'day', 'model', 'upstream', 'price', 'charged'] as const

/** Columns that are summed. */
export const SUMS = [
  'calls',
  'total_tokens',
  'upstream_cost_micros',
  'margin_micros',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'completion_tokens',
  'estimated_calls',
  'capped_calls',
  'stated_calls',
  'absorbed_micros',
  'debt_micros',
] as const satisfies ReadonlyArray<Exclude<keyof MeteredUsageRow, (typeof USAGE_KEY)[number]>>

/** A receipt as it is stored, without what sums do not need. */
type BookedCall = Omit<MeteredCallRow, 'transfer'>

/** Adds calls to the sums of their callers, days and models, in the order of the sums' keys. */
export async function addUsage(trx: Transaction<Schema>, calls: readonly BookedCall[]): Promise<void> {
  const sums: UsageSumsByKey = new Map()
  for (const call of calls) addToUsage(sums, call)
  for (const [, row] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await runBuilt(trx, 'add usage', Object.values(row), () => adding(trx, row))
  }
}

/** Sums by the columns that name them. */
export type UsageSumsByKey = Map<string, MeteredUsageRow>

/** Name of a row of sums. */
export const usageKey = (row: MeteredUsageRow): string => USAGE_KEY.map((column) => row[column]).join(' ')

/** Adds a call to the sums of its caller, day, model and price. */
export function addToUsage(sums: UsageSumsByKey, call: BookedCall): void {
  const row = usageOf(call)
  const key = usageKey(row)
  const sum = sums.get(key)
  sums.set(key, sum === undefined ? row : plus(sum, row))
}

function usageOf(call: BookedCall): MeteredUsageRow {
  return {
    caller_id: call.caller_id,
    day: dayOf(call.at),
    model: call.model,
    upstream: call.upstream,
    price: ratesIn(call.price),
    charged: call.charged,
    calls: 1,
    total_tokens: call.total_tokens,
    upstream_cost_micros: call.upstream_cost_micros,
    margin_micros: call.margin_micros,
    prompt_tokens: call.prompt_tokens,
    cached_tokens: call.cached_tokens,
    cache_write_tokens: call.cache_write_tokens,
    cache_write_1h_tokens: call.cache_write_1h_tokens,
    completion_tokens: call.completion_tokens,
    estimated_calls: call.usage_estimated,
    capped_calls: call.capped,
    stated_calls: call.stated,
    absorbed_micros: call.absorbed_micros,
    debt_micros: call.debt_micros,
  }
}

function plus(a: MeteredUsageRow, b: MeteredUsageRow): MeteredUsageRow {
  return { ...a, ...Object.fromEntries(SUMS.map((column) => [column, a[column] + b[column]])) }
}

function adding(trx: Transaction<Schema>, row: MeteredUsageRow) {
  return trx
    .insertInto('metered_usage')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(USAGE_KEY)
        .doUpdateSet(
          Object.fromEntries(
            SUMS.map((column) => [
              column,
              sql`${sql.ref(`metered_usage.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
            ]),
          ),
        ),
    )
    .compile()
}
