import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { MeteredCallRow, SpendingRow } from '../../store/tables/wallet-tables.ts'
import { TOTAL } from '../../text/period.ts'
import { type CapturedMoney, captureEntries } from '../ledger/capture-entries.ts'
import type { Entry } from '../ledger/transfer.ts'

/** Rows per page. */
const PAGE = 1_000
/** Reported faults per kind. */
const MAX_REPORTED = 20

/**
 * Compares charged calls with the ledger and with spending:
 * - receipts match the transfers that took their money
 * - held money matches calls and allowances
 * - spending of a day matches the calls and escrows of that day
 *
 * Each comparison is one statement, so calls may run meanwhile.
 *
 * @returns one line per fault, at most 20 of a kind; empty when all is well
 */
export async function callFaults(store: Store): Promise<string[]> {
  const faults: string[] = []
  for (const found of [receiptFaults, captureFaults, chargeFaults, heldFaults, dayFaults, totalFaults, missingDays])
    faults.push(...(await firstOf(found(store), MAX_REPORTED)))
  return faults
}

async function firstOf(faults: AsyncIterable<string>, limit: number): Promise<string[]> {
  const reported: string[] = []
  for await (const fault of faults)
    if (reported.push(fault) === limit) return [...reported, 'There may be more of this kind.']
  return reported
}

type Receipt = CapturedMoney & Pick<MeteredCallRow, 'call_id'> & { entries: string | null }

/** Receipts of metered calls whose capture is missing in the ledger or has other amounts. */
async function* receiptFaults({ db }: Store): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const rows: Receipt[] = await db
      .selectFrom('metered_calls as c')
      .leftJoin('ledger_transfers as t', (join) => join.on('t.key', '=', sql<string>`'capture:' || c.call_id`))
      .select(['c.call_id', 'c.caller_id', 'c.held_micros', 'c.margin_micros', 'c.upstream_cost_micros', 't.entries'])
      .where('c.status', '=', 'captured')
      .where((eb) => eb.or([eb('c.transfer', 'is', null), eb('c.transfer', '=', sql<string>`'capture:' || c.call_id`)]))
      .where('c.call_id', '>', after)
      .orderBy('c.call_id')
      .limit(PAGE)
      .execute()
    for (const { call_id, entries, ...call } of rows) {
      if (sameMoney(call, entries)) continue
      const problem =
        entries === null ? 'the ledger has no capture for it' : 'its capture in the ledger has other amounts'
      yield `Receipt ${call_id}: ${problem}.`
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.call_id
  }
}

interface ChargeSums {
  key: string
  entries: string | null
  caller_id: string | null
  margin: number
  cost: number
}

/** Transfers for several calls whose amounts differ from those of their receipts. */
async function* chargeFaults({ db }: Store): AsyncGenerator<string> {
  for (let after = 'charge:'; ; ) {
    const { rows } = await sql<ChargeSums>`
      select k.key, cast(t.entries as text) as entries, min(c.caller_id) as caller_id,
        cast(coalesce(sum(c.margin_micros), 0) as bigint) as margin,
        cast(coalesce(sum(c.upstream_cost_micros), 0) as bigint) as cost
      from (select key from ledger_transfers where key > ${after} and key < 'charge;'
          union select transfer from metered_calls where transfer > ${after} and transfer < 'charge;'
          order by 1 limit ${PAGE}) as k
        left join ledger_transfers as t on t.key = k.key
        left join metered_calls as c on c.transfer = k.key and c.status = 'captured'
      group by k.key, cast(t.entries as text) order by k.key`.execute(db)
    for (const { key, entries, caller_id, margin, cost } of rows) {
      const receipt = { caller_id: caller_id ?? '', margin_micros: Number(margin), upstream_cost_micros: Number(cost) }
      if (sameMoney({ ...receipt, held_micros: Number(margin) + Number(cost) }, entries)) continue
      const problem =
        entries === null
          ? 'receipts refer to it, but the ledger does not have it'
          : 'its amounts differ from the sum of its receipts'
      yield `Transfer ${key}: ${problem}.`
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.key
  }
}

/** Held accounts whose balance differs from what calls and allowances hold. */
async function* heldFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ owner: string; balance_micros: number; due: number }>`
    select owner, balance_micros, due from (
      select a.owner, a.balance_micros, cast(
        coalesce((select sum(c.held_micros) from metered_calls as c where c.status = 'held' and c.caller_id = a.owner), 0)
        + coalesce((select sum(w.micros) from allowances as w where w.key_id = a.owner and w.charged = 1), 0) as bigint) as due
      from ledger_accounts as a where a.kind = 'held') as held
    where balance_micros <> due order by owner limit ${MAX_REPORTED}`.execute(db)
  for (const { owner, balance_micros, due } of rows)
    yield `held:${owner}: the balance is ${balance_micros}, its calls and allowances hold ${due} micro-dollars.`
}

/** Tells whether a capture moved the amounts of its receipt. @param entries as stored; null when nothing was moved */
function sameMoney(receipt: CapturedMoney, entries: string | null): boolean {
  const due = new Map(captureEntries(receipt).map(({ account, micros }) => [account.id, micros]))
  const moved: Entry[] = entries === null ? [] : JSON.parse(entries)
  return moved.length === due.size && moved.every(({ account, micros }) => due.get(account) === micros)
}

/** Captures without a receipt. */
async function* captureFaults({ db }: Store): AsyncGenerator<string> {
  for (let after = 'capture:'; ; ) {
    const rows = await db
      .selectFrom('ledger_transfers as t')
      .leftJoin('metered_calls as c', (join) => join.on('c.call_id', '=', sql<string>`substr(t.key, 9)`))
      .select(['t.key', 'c.status'])
      .where('t.key', '>', after)
      // The character after the colon in ASCII.
      .where('t.key', '<', 'capture;')
      .orderBy('t.key')
      .limit(PAGE)
      .execute()
    for (const { key, status } of rows)
      if (status !== 'captured') yield `Transfer ${key}: the receipt of its call is missing.`
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.key
  }
}

/** Days whose spending differs from the sum of the day's calls and escrows, by key, wallet and group. */
async function* dayFaults({ db }: Store): AsyncGenerator<string> {
  for (let [owner, day] = ['', '']; ; ) {
    const { rows } = await sql<Pick<SpendingRow, 'owner' | 'day' | 'charged_micros'> & { due: number }>`
      select d.owner, d.day, d.charged_micros, cast(
        coalesce((select sum(${CALL_MICROS}) from metered_calls as c where c.caller_id = d.owner and c.counted_on = d.day), 0)
        + coalesce((select sum(${CALL_MICROS}) from metered_calls as c where c.group_id = d.owner and c.counted_on = d.day), 0)
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

const CALL_MICROS = sql`case c.status when 'held' then c.held_micros
  when 'captured' then c.margin_micros + c.upstream_cost_micros else 0 end`

/** Totals that differ from the sum of their days. */
async function* totalFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ owner: string }>`
    select owner from spending group by owner
    having sum(case day when ${TOTAL} then charged_micros else -charged_micros end) <> 0
      or sum(case day when ${TOTAL} then recorded_micros else -recorded_micros end) <> 0
    order by owner limit ${MAX_REPORTED}`.execute(db)
  for (const { owner } of rows) yield `Spending of ${owner}: the total is not the sum of its days.`
}

/** Days with calls or escrows and no row of spending. */
async function* missingDays({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<Pick<SpendingRow, 'owner' | 'day'>>`
    select c.caller_id as owner, c.counted_on as day from metered_calls as c
    where c.status <> 'voided' and c.held_micros > 0 and not exists
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
