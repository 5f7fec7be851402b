import { sql } from 'kysely'
import { ENVIRONMENT_IDENTITY } from '../../identity/identity.ts'
import { kindsOf, MEDIA } from '../../providers/preset.ts'
import { utcDate, utcHour } from '../../store/dates.ts'
import type { Store } from '../../store/store.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { MICROS_PER_USD } from '../../text/money.ts'
import { ratesColumn } from './price-rates.ts'
import type { ReceiptPrice } from './receipt.ts'
import { PRICE } from './receipt-prices.ts'

/** Rows per page. */
const PAGE = 2_000
/** Rows of one kind that are read to be reported. */
const MOST = 20

/** Columns of sums, and what each adds up of a receipt. */
const SUMMED = {
  calls: '1',
  total_tokens: 'total_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  upstream_cost_micros: 'upstream_cost_micros',
  margin_micros: 'margin_micros',
  absorbed_micros: 'absorbed_micros',
  debt_micros: 'debt_micros',
} as const

/** Columns of receipts that are summed, and those that name the sum. */
const OF_RECEIPTS = [
  'caller_id',
  'at',
  'model',
  'upstream',
  'charged',
  ...Object.values(SUMMED).filter((part) => part !== '1'),
]

/** Columns of sums that are compared with receipts. */
export const SUMMED_COLUMNS = Object.keys(SUMMED) as Array<keyof typeof SUMMED>

/**
 * Stored sums of a day that differ from the receipts of that day, and those that are missing.
 *
 * @param until end of the archived months, which are omitted; null for none
 */
export async function* usageFaults({ db, engine }: Store, { until }: { until: string | null }): AsyncGenerator<string> {
  const [days, receipts] =
    until === null ? [sql``, sql``] : [sql`where day >= ${until.slice(0, 10)}`, sql`where at >= ${until}`]
  const [names, parts] = [SUMMED_COLUMNS, Object.values(SUMMED)]
  const key = sql`caller_id, day, model, upstream, price, charged`
  const { rows } = await sql<{ caller_id: string; day: string; model: string }>`
    select caller_id, day, model from (
      select ${key}, ${sql.join(names.map((name) => sql.ref(name)))} from metered_usage ${days}
      union all
      select caller_id, ${utcDate(engine, 'at')} as day, model, upstream, ${ratesColumn(engine)} as price, charged,
        ${sql.join(parts.map((part) => sql`-${sql.raw(part)}`))}
      from (select ${sql.join(OF_RECEIPTS.map((column) => sql.ref(column)))}, ${PRICE} as price from metered_calls ${receipts}) as receipts
    ) as both_sides
    group by ${key}
    having ${sql.join(
      names.map((name) => sql`sum(${sql.ref(name)}) <> 0`),
      sql` or `,
    )}
    order by ${key} limit ${MOST}`.execute(db)
  for (const { caller_id, day, model } of rows)
    yield `Usage of ${caller_id} on ${day} with ${model}: the stored sums are not those of its receipts.`
}

type Checked = Pick<
  MeteredCallRow,
  | 'call_id'
  | 'at'
  | 'price'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'total_tokens'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'cache_write_1h_tokens'
  | 'upstream_cost_micros'
  | 'absorbed_micros'
  | 'capped'
  | 'stated'
> & { booked_at: string | null }

/** Receipts whose tokens do not fit their cost, or whose date is not that of their transfer. */
export async function* tokenFaults({ db }: Store): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const { rows } = await sql<Checked>`
      select c.call_id, c.at, c.prompt_tokens, c.completion_tokens, c.total_tokens, c.cached_tokens,
        c.cache_write_tokens, c.cache_write_1h_tokens, c.upstream_cost_micros, c.absorbed_micros, c.capped, c.stated, t.at as booked_at,
        coalesce(named.price, c.price) as price
      from metered_calls as c left join receipt_prices as named on named.number = c.price_number left join ledger_transfers as t on t.key = c.transfer
      where c.call_id > ${after} order by c.call_id limit ${PAGE}`.execute(db)
    for (const receipt of rows) yield* tokenFaultsOf(receipt)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.call_id
  }
}

/** Faults of one receipt, see {@link tokenFaults}. `booked_at` is the time of its transfer; null when it is not known. */
export function* tokenFaultsOf(receipt: Checked): Generator<string> {
  if (receipt.total_tokens !== receipt.prompt_tokens + receipt.completion_tokens)
    yield `Receipt ${receipt.call_id}: its tokens do not sum to their total.`
  // Fees add to the cost; only capped calls of earlier versions, and those of several models, cost less than their
  // tokens.
  else if (
    receipt.price !== '' &&
    !receipt.capped &&
    !receipt.stated &&
    costOfTokens(receipt) > receipt.upstream_cost_micros + receipt.absorbed_micros
  )
    yield `Receipt ${receipt.call_id}: its tokens cost more than it says.`
  // Receipts of earlier versions have a price of ''; their transfers began with other calls.
  if (receipt.booked_at !== null && receipt.price !== '' && receipt.at < receipt.booked_at)
    yield `Receipt ${receipt.call_id}: it is dated before its transfer.`
}

/** Computes the cost of a receipt again, as `costOfCall` does, without fees. 0 where several models used its tokens. */
function costOfTokens(receipt: Checked): number {
  const { input, output, ...of } = JSON.parse(receipt.price) as ReceiptPrice
  if (of.mixed) return 0
  const { prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens: written } = receipt
  const forAnHour = receipt.cache_write_1h_tokens
  const rate = (usd = input) => Math.round(usd * MICROS_PER_USD)
  const write = of.cache_write ?? input
  const beside = MEDIA.reduce((sum, medium) => {
    const [inputKind, cachedKind, outputKind] = kindsOf(medium)
    const { input_tokens = 0, cached_input_tokens = 0, output_tokens = 0 } = of[medium] ?? {}
    return (
      sum +
      input_tokens * (rate(of[inputKind]) - rate()) +
      cached_input_tokens * (rate(of[cachedKind]) - rate(of.cached_input)) +
      output_tokens * (rate(of[outputKind] ?? output) - rate(output))
    )
  }, 0)
  return Math.ceil(
    ((prompt_tokens - cached_tokens - written) * rate() +
      cached_tokens * rate(of.cached_input) +
      (written - forAnHour) * rate(write) +
      forAnHour * rate(of.cache_write_1h ?? write) +
      completion_tokens * rate(output) +
      beside) /
      1_000_000,
  )
}

/** Allowances that are negative, or of nobody. */
export async function* allowanceFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ id: string; micros: number; key_id: string }>`
    select a.id, a.micros, a.key_id from allowances as a
    where a.micros < 0 or (a.micros > 0 and case when a.charged = 1
      then not exists (select 1 from ledger_accounts as l where l.kind = 'held' and l.owner = a.key_id)
      else a.key_id not like '0x%' and a.key_id <> ${ENVIRONMENT_IDENTITY.id}
        and not exists (select 1 from keys as k where k.id = a.key_id) end)
    order by a.id limit ${MOST}`.execute(db)
  for (const { id, micros, key_id } of rows)
    yield micros < 0
      ? `Allowance ${id} of ${key_id}: it reserves ${micros} micro-dollars, less than nothing.`
      : `Allowance ${id}: it is of ${key_id}, which has no account and is no key.`
}

/**
 * Days of keys with recorded calls that cost something, and no spending. Omitted are calls around midnight, whose day
 * the store's clock decides, and keys that may make metered calls, which can fail to be charged.
 */
export async function* recordedFaults({ db, engine }: Store): AsyncGenerator<string> {
  const [day, hour] = [utcDate(engine, 'c.at'), utcHour(engine, 'c.at')]
  const { rows } = await sql<{ owner: string; day: string; micros: number }>`
    select r.owner, r.day, r.micros from (
      select c.caller_id as owner, ${day} as day, cast(sum(c.upstream_cost_micros) as bigint) as micros
      from calls as c join keys as k on k.id = c.caller_id and k.billing = 'recorded'
        and cast(k.scopes as text) not like '%platform%'
      where c.status = 'ok' and c.upstream_cost_micros > 0
        and ${hour} not like '%T00:%' and ${hour} not like '%T23:%'
        and not exists (select 1 from metered_calls as m where m.call_id = c.call_id and m.charged = 1)
      group by 1, 2) as r
    where not exists (select 1 from spending as s
      where s.owner = r.owner and s.day = r.day and s.charged_micros + s.recorded_micros > 0)
    order by 1, 2 limit ${MOST}`.execute(db)
  for (const { owner, day: on, micros } of rows)
    yield `Spending of ${owner} on ${on}: there is none, but its recorded calls cost ${micros} micro-dollars.`
}
