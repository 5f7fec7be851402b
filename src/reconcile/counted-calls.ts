import { sql } from 'kysely'
import type { Store } from '../store/store.ts'
import { type BillPeriod, DAY_MS, daysOf } from './provider-bill.ts'

/** Calls of one day, upstream, key of the provider, model and caller, as they were recorded. */
export interface CountedCalls {
  day: string
  upstream: string
  /** The provider's id of its key. Empty where none was known. */
  provider_key: string
  model: string
  /** Empty for the tools of this machine. */
  caller_id: string
  calls: number
  prompt_tokens: number
  completion_tokens: number
  micros: number
  /** Calls to models without a price, and their cost. */
  unpriced_calls: number
  unpriced_micros: number
  /** Calls whose tokens Gazeway counted, and their cost. */
  estimated_calls: number
  estimated_micros: number
  /** Calls whose cost the provider stated, and that cost. */
  stated_calls: number
  stated_micros: number
  /** Calls that an upstream may have billed, and that count as free because nobody reported their tokens. */
  unknown_calls: number
}

/**
 * Adds up the recorded calls of a period that an upstream was asked for, day by day on the connection for long reads.
 *
 * @param onProgress called before each day
 */
export async function countedCalls(
  store: Store,
  period: BillPeriod,
  onProgress: (what: string) => void,
): Promise<CountedCalls[]> {
  const counted: CountedCalls[] = []
  for (const day of daysOf(period)) {
    onProgress(`adding up the calls of ${day}`)
    const from = `${day}T00:00:00.000Z`
    const to = new Date(Date.parse(from) + DAY_MS).toISOString()
    const isUnpriced = sql`price_from in ('flat', 'dearest')`
    const isStated = sql`price_from = 'stated'`
    const isOurs = sql`(price_from is null or price_from not in ('own_key', 'own_plan'))`
    const isUnknown = sql`prompt_tokens is null and (http_status is null or http_status < 400)`
    const { rows } = await sql<Omit<CountedCalls, 'day'>>`
      select upstream, coalesce(provider_key, '') as provider_key, coalesce(model, '') as model, coalesce(caller_id, '') as caller_id, count(*) as calls,
        coalesce(sum(prompt_tokens), 0) as prompt_tokens, coalesce(sum(completion_tokens), 0) as completion_tokens,
        sum(upstream_cost_micros) as micros,
        sum(case when ${isUnpriced} then 1 else 0 end) as unpriced_calls,
        sum(case when ${isUnpriced} then upstream_cost_micros else 0 end) as unpriced_micros,
        sum(usage_estimated) as estimated_calls,
        sum(case when usage_estimated = 1 then upstream_cost_micros else 0 end) as estimated_micros,
        sum(case when ${isStated} then 1 else 0 end) as stated_calls,
        sum(case when ${isStated} then upstream_cost_micros else 0 end) as stated_micros,
        sum(case when ${isUnknown} then 1 else 0 end) as unknown_calls
      from calls where at >= ${from} and at < ${to} and status <> 'refused' and ${isOurs}
      group by 1, 2, 3, 4`.execute(store.reads)
    counted.push(...rows.map((row) => inNumbers({ day, ...row })))
  }
  return counted
}

/** PostgreSQL sums integers to text. */
function inNumbers(row: CountedCalls): CountedCalls {
  const texts = new Set(['day', 'upstream', 'provider_key', 'model', 'caller_id'])
  const pairs = Object.entries(row).map(([name, value]) => [name, texts.has(name) ? value : Number(value)])
  return Object.fromEntries(pairs) as CountedCalls
}

/** Receipts that cost more than their callers paid, by day, upstream and model. */
export async function cappedCalls(
  { db }: Store,
  period: BillPeriod,
): Promise<{ day: string; upstream: string; model: string; calls: number }[]> {
  const days = daysOf(period)
  const rows = await db
    .selectFrom('metered_usage')
    .select(({ fn }) => ['day', 'upstream', 'model', fn.sum<number>('capped_calls').as('calls')])
    .where('day', '>=', days[0] ?? '')
    .where('day', '<=', days.at(-1) ?? '')
    .where('capped_calls', '>', 0)
    .groupBy(['day', 'upstream', 'model'])
    .execute()
  return rows.map((row) => ({ ...row, calls: Number(row.calls) }))
}
