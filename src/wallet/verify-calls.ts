import { sql } from 'kysely'
import type { Store } from '../store/store.ts'
import type { MeteredCallRow, SpendingRow } from '../store/tables/wallet-tables.ts'
import { type CapturedMoney, captureEntries } from './capture-entries.ts'
import { TOTAL } from './spending.ts'
import type { Entry } from './transfer.ts'

/** Rows that are read at a time. */
const PAGE = 1_000
/** Faults that are told. */
const TOLD = 20

/**
 * Differences between charged calls, the ledger and spending: receipts and the transfer that took their money say the same,
 * what is held is for calls and allowances, and what is counted on an owner's day is what its calls and escrows of that day
 * add up to. Each comparison is one statement, so that calls may be made meanwhile.
 *
 * @returns what is wrong, a line each, at most 20 of a kind; empty when all is well
 */
export async function callFaults(store: Store): Promise<string[]> {
  const faults: string[] = []
  for (const found of [receiptFaults, captureFaults, chargeFaults, heldFaults, dayFaults, totalFaults, missingDays])
    faults.push(...(await firstOf(found(store), TOLD)))
  return faults
}

async function firstOf(faults: AsyncIterable<string>, limit: number): Promise<string[]> {
  const told: string[] = []
  for await (const fault of faults) if (told.push(fault) === limit) return [...told, 'There may be more of this kind.']
  return told
}

type Receipt = CapturedMoney & Pick<MeteredCallRow, 'call_id'> & { entries: string | null }

/** Receipts of the metered endpoint whose capture the ledger lacks, or has with other amounts. */
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
      const said = entries === null ? 'the ledger has no capture of it' : 'its capture in the ledger took other amounts'
      yield `Receipt ${call_id}: ${said}.`
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

/** Transfers that took the money of several calls at once, and receipts of such calls, that do not say the same. */
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
      if (entries === null) yield `Transfer ${key}: receipts name it, and the ledger does not have it.`
      else if (!sameMoney({ ...receipt, held_micros: Number(margin) + Number(cost) }, entries))
        yield `Transfer ${key}: it took other amounts than its receipts sum to.`
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.key
  }
}

/** Accounts of held money that do not have what calls and allowances hold. */
async function* heldFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ owner: string; balance_micros: number; due: number }>`
    select owner, balance_micros, due from (
      select a.owner, a.balance_micros, cast(
        coalesce((select sum(c.held_micros) from metered_calls as c where c.status = 'held' and c.caller_id = a.owner), 0)
        + coalesce((select sum(w.micros) from allowances as w where w.key_id = a.owner and w.charged = 1), 0) as bigint) as due
      from ledger_accounts as a where a.kind = 'held') as held
    where balance_micros <> due order by owner limit ${TOLD}`.execute(db)
  for (const { owner, balance_micros, due } of rows)
    yield `held:${owner}: it has ${balance_micros}, its calls and allowances hold ${due} micro-dollars.`
}

/** Whether a capture moved what its receipt says. @param entries as the ledger keeps them; null where nothing was moved */
function sameMoney(receipt: CapturedMoney, entries: string | null): boolean {
  const due = new Map(captureEntries(receipt).map(({ account, micros }) => [account.id, micros]))
  const moved: Entry[] = entries === null ? [] : JSON.parse(entries)
  return moved.length === due.size && moved.every(({ account, micros }) => due.get(account) === micros)
}

/** Captures in the ledger without a receipt. */
async function* captureFaults({ db }: Store): AsyncGenerator<string> {
  for (let after = 'capture:'; ; ) {
    const rows = await db
      .selectFrom('ledger_transfers as t')
      .leftJoin('metered_calls as c', (join) => join.on('c.call_id', '=', sql<string>`substr(t.key, 9)`))
      .select(['t.key', 'c.status'])
      .where('t.key', '>', after)
      // The character after the colon.
      .where('t.key', '<', 'capture;')
      .orderBy('t.key')
      .limit(PAGE)
      .execute()
    for (const { key, status } of rows)
      if (status !== 'captured') yield `Transfer ${key}: there is no receipt of the call that it was taken for.`
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.key
  }
}

/** Days on which other amounts are counted than the calls and escrows of the day add up to, of keys, wallets and groups. */
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

/** Totals that are not the sum of their days. */
async function* totalFaults({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<{ owner: string }>`
    select owner from spending group by owner
    having sum(case day when ${TOTAL} then charged_micros else -charged_micros end) <> 0
      or sum(case day when ${TOTAL} then recorded_micros else -recorded_micros end) <> 0
    order by owner limit ${TOLD}`.execute(db)
  for (const { owner } of rows) yield `Spending of ${owner}: the total is not the sum of its days.`
}

/** Days on which calls or escrows are counted, and that spending does not know. */
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
    limit ${TOLD}`.execute(db)
  for (const { owner, day } of rows)
    yield `Spending of ${owner} on ${day}: it is missing, and calls or escrows are counted on that day.`
}
