import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { SpendingRow } from '../../store/tables/wallet-tables.ts'
import { TOTAL } from '../../text/period.ts'
import { accountOf } from '../ledger/accounts.ts'
import type { Entry } from '../ledger/transfer.ts'
import { allowanceFaults, recordedFaults, tokenFaults, usageFaults } from './verify-usage.ts'

/** Rows per page. */
const PAGE = 1_000
/** Reported faults per kind. */
const MAX_REPORTED = 20

/** Checks, each of one kind of fault. */
const CHECKS: ReadonlyArray<(store: Store) => AsyncIterable<string>> = [
  receiptFaults,
  tokenFaults,
  chargeFaults,
  usageFaults,
  heldFaults,
  allowanceFaults,
  dayFaults,
  totalFaults,
  missingDays,
  recordedFaults,
]

/**
 * Compares charged calls with the ledger and with spending:
 * - receipts match the transfers that took their money
 * - held money matches allowances
 * - sums of usage match receipts, and the tokens of a receipt its cost
 * - spending of a day matches the calls and escrows of that day
 * - allowances reserve something, and for somebody
 *
 * Each comparison is one statement, so calls may run meanwhile.
 *
 * @returns one line per fault, at most 20 of a kind; empty when all is well
 */
export async function callFaults(store: Store): Promise<string[]> {
  const faults: string[] = []
  for (const found of CHECKS) faults.push(...(await firstOf(found(store), MAX_REPORTED)))
  return faults
}

async function firstOf(faults: AsyncIterable<string>, limit: number): Promise<string[]> {
  const reported: string[] = []
  for await (const fault of faults)
    if (reported.push(fault) === limit) return [...reported, 'There may be more of this kind.']
  return reported
}

/** Receipts of calls that cost something, and that no transfer is known for. */
async function* receiptFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ call_id: string }>`
    select call_id from metered_calls
    where charged = 1 and transfer is null and margin_micros + upstream_cost_micros > 0
    order by call_id limit ${MAX_REPORTED}`.execute(db)
  for (const { call_id } of rows) yield `Receipt ${call_id}: no transfer in the ledger took its money.`
}

interface ChargeSums {
  key: string
  entries: string | null
  caller_id: string | null
  margin: number
  cost: number
}

/**
 * Transfers that took the money of calls, and whose amounts differ from those of their receipts. Earlier versions took it
 * by a capture for each metered call.
 */
async function* chargeFaults(store: Store): AsyncGenerator<string> {
  // The character after the colon in ASCII.
  for (const kind of ['capture', 'charge'])
    for await (const { key, entries, ...receipts } of chargeSums(store, { after: `${kind}:`, before: `${kind};` })) {
      if (sameMoney(receipts, entries)) continue
      const problem =
        entries === null
          ? 'receipts refer to it, but the ledger does not have it'
          : 'its amounts differ from the sum of its receipts'
      yield `Transfer ${key}: ${problem}.`
    }
}

async function* chargeSums({ db }: Store, { after, before }: { after: string; before: string }) {
  for (let from = after; ; ) {
    const { rows } = await sql<ChargeSums>`
      select k.key, cast(t.entries as text) as entries, min(c.caller_id) as caller_id,
        cast(coalesce(sum(c.margin_micros), 0) as bigint) as margin,
        cast(coalesce(sum(c.upstream_cost_micros), 0) as bigint) as cost
      from (select key from ledger_transfers where key > ${from} and key < ${before}
          union select transfer from metered_calls where transfer > ${from} and transfer < ${before}
          order by 1 limit ${PAGE}) as k
        left join ledger_transfers as t on t.key = k.key
        left join metered_calls as c on c.transfer = k.key
      group by k.key, cast(t.entries as text) order by k.key`.execute(db)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    from = last.key
  }
}

/** Tells whether a transfer took the sums of its receipts. @param entries as stored; null when nothing was moved */
function sameMoney({ caller_id, margin, cost }: Omit<ChargeSums, 'key' | 'entries'>, entries: string | null): boolean {
  const due = new Map([
    [accountOf('revenue', caller_id ?? '').id, Number(margin)],
    [accountOf('upstream_cost', caller_id ?? '').id, Number(cost)],
  ])
  const moved: Entry[] = entries === null ? [] : JSON.parse(entries)
  const taken = moved.filter(({ account }) => /^(revenue|upstream_cost):/.test(account))
  return (
    taken.length === [...due.values()].filter(Boolean).length &&
    taken.every(({ account, micros }) => due.get(account) === micros)
  )
}

/** Held accounts whose balance differs from what allowances hold. */
async function* heldFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ owner: string; balance_micros: number; due: number }>`
    select owner, balance_micros, due from (
      select a.owner, a.balance_micros, cast(
        coalesce((select sum(w.micros) from allowances as w where w.key_id = a.owner and w.charged = 1), 0) as bigint) as due
      from ledger_accounts as a where a.kind = 'held') as held
    where balance_micros <> due order by owner limit ${MAX_REPORTED}`.execute(db)
  for (const { owner, balance_micros, due } of rows)
    yield `held:${owner}: the balance is ${balance_micros}, its allowances hold ${due} micro-dollars.`
}

/** Days whose spending differs from the sum of the day's calls and escrows, by key, wallet and group. */
async function* dayFaults({ db }: Store): AsyncGenerator<string> {
  for (let [owner, day] = ['', '']; ; ) {
    const { rows } = await sql<Pick<SpendingRow, 'owner' | 'day' | 'charged_micros'> & { due: number }>`
      select d.owner, d.day, d.charged_micros, cast(
        coalesce((select sum(${CALL_MICROS}) from metered_calls as c
          where c.charged = 1 and c.caller_id = d.owner and c.counted_on = d.day), 0)
        + coalesce((select sum(${CALL_MICROS}) from metered_calls as c
          where c.charged = 1 and c.group_id = d.owner and c.counted_on = d.day), 0)
        + coalesce((select sum(e.amount_micros) from escrows as e
          where e.payer = d.owner and e.counted_on = d.day and e.status <> 'refunded'), 0)
        + coalesce((select sum(e.amount_micros) from escrows as e
          where e.counted_group = d.owner and e.counted_on = d.day and e.status <> 'refunded'), 0) as bigint) as due
      from (select * from spending where (owner, day) > (${owner}, ${day}) and day <> ${TOTAL}
        order by owner, day limit ${PAGE}) as d
      order by d.owner, d.day`.execute(db)
    for (const { owner: of, day: on, charged_micros, due } of rows)
      if (Number(charged_micros) !== Number(due))
        yield `Spending of ${of} on ${on}: it is ${charged_micros}, its calls and escrows sum to ${due} micro-dollars.`
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    ;({ owner, day } = last)
  }
}

const CALL_MICROS = sql`c.margin_micros + c.upstream_cost_micros`

/** Totals that differ from the sum of their days. Those of sessions have no days. */
async function* totalFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ owner: string }>`
    select owner from spending where owner < 'session:' or owner >= 'session;' group by owner
    having sum(case day when ${TOTAL} then charged_micros else -charged_micros end) <> 0
      or sum(case day when ${TOTAL} then recorded_micros else -recorded_micros end) <> 0
      or sum(case day when ${TOTAL} then beyond_micros else -beyond_micros end) <> 0
    order by owner limit ${MAX_REPORTED}`.execute(db)
  for (const { owner } of rows) yield `Spending of ${owner}: the total is not the sum of its days.`
}

/** Days with calls or escrows and no row of spending. */
async function* missingDays({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<Pick<SpendingRow, 'owner' | 'day'>>`
    select c.caller_id as owner, c.counted_on as day from metered_calls as c
    where c.charged = 1 and ${CALL_MICROS} > 0 and not exists
      (select 1 from spending as d where d.owner = c.caller_id and d.day = c.counted_on)
    group by c.caller_id, c.counted_on
    union
    select e.payer, e.counted_on from escrows as e
    where e.status <> 'refunded' and not exists
      (select 1 from spending as d where d.owner = e.payer and d.day = e.counted_on)
    limit ${MAX_REPORTED}`.execute(db)
  for (const { owner, day } of rows)
    yield `Spending of ${owner} on ${day}: it is missing, but calls or escrows count on that day.`
}
