import { sql, type Transaction } from 'kysely'
import { runBuilt } from '../../store/built.ts'
import type { Schema } from '../../store/schema.ts'
import type { MeteredUsageRow } from '../../store/tables/wallet-tables.ts'
import { dayOf } from '../budget/spending.ts'
import type { ReceiptRow } from './receipts.ts'

/** Adds charged calls to the sums of their callers, days and models, in the order of the sums' keys. */
export async function addUsage(trx: Transaction<Schema>, calls: readonly ReceiptRow[]): Promise<void> {
  const sums = new Map<string, MeteredUsageRow>()
  for (const call of calls) {
    const row = usageOf(call)
    const key = `${row.caller_id} ${row.day} ${row.model}`
    const sum = sums.get(key)
    sums.set(key, sum === undefined ? row : plus(sum, row))
  }
  for (const [, row] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await runBuilt(trx, 'add usage', Object.values(row), () => adding(trx, row))
  }
}

function usageOf({ caller_id, model, at, total_tokens, upstream_cost_micros, margin_micros }: ReceiptRow) {
  return { caller_id, day: dayOf(at), model, calls: 1, total_tokens, upstream_cost_micros, margin_micros }
}

function plus(a: MeteredUsageRow, b: MeteredUsageRow): MeteredUsageRow {
  return {
    ...a,
    calls: a.calls + b.calls,
    total_tokens: a.total_tokens + b.total_tokens,
    upstream_cost_micros: a.upstream_cost_micros + b.upstream_cost_micros,
    margin_micros: a.margin_micros + b.margin_micros,
  }
}

function adding(trx: Transaction<Schema>, row: MeteredUsageRow) {
  return trx
    .insertInto('metered_usage')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['caller_id', 'day', 'model']).doUpdateSet({
        calls: sql`metered_usage.calls + excluded.calls`,
        total_tokens: sql`metered_usage.total_tokens + excluded.total_tokens`,
        upstream_cost_micros: sql`metered_usage.upstream_cost_micros + excluded.upstream_cost_micros`,
        margin_micros: sql`metered_usage.margin_micros + excluded.margin_micros`,
      }),
    )
    .compile()
}
