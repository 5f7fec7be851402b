import { sql, type Transaction } from 'kysely'
import type { Statement } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import { dayOf } from './limits.ts'
import type { ReceiptRow } from './receipts.ts'

/** Adds a captured call to the sums of its caller, day and model. */
export function addToUsage(trx: Transaction<Schema>, call: ReceiptRow): Statement {
  const { caller_id, model, at, total_tokens, upstream_cost_micros, margin_micros } = call
  const row = { caller_id, day: dayOf(at), model, calls: 1, total_tokens, upstream_cost_micros, margin_micros }
  return {
    form: 'add usage',
    parameters: Object.values(row),
    build: () =>
      trx
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
        .compile(),
  }
}
