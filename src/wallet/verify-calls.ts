import { sql } from 'kysely'
import type { Store } from '../store/store.ts'
import type { DailySpendingRow, MeteredCallRow } from '../store/tables/wallet-tables.ts'
import { type CapturedMoney, captureEntries } from './capture-entries.ts'
import type { Entry } from './transfer.ts'

/** Rows that are read at a time. */
const PAGE = 1_000
/** Faults that are told. */
const TOLD = 20

/**
 * Differences between metered calls, the ledger and daily spending: a receipt and its capture say the same, and what is
 * counted on a caller's day is what its calls and escrows of that day add up to. Each comparison is one statement, so that
 * calls may be made meanwhile.
 *
 * @returns what is wrong, a line each, at most 20 of a kind; empty when all is well
 */
export async function callFaults(store: Store): Promise<string[]> {
  const faults: string[] = []
  for (const found of [receiptFaults, captureFaults, dayFaults, missingDays])
    faults.push(...(await firstOf(found(store), TOLD)))
  return faults
}

async function firstOf(faults: AsyncIterable<string>, limit: number): Promise<string[]> {
  const told: string[] = []
  for await (const fault of faults) if (told.push(fault) === limit) return [...told, 'There may be more of this kind.']
  return told
}

type Receipt = CapturedMoney & Pick<MeteredCallRow, 'call_id'> & { entries: string | null }

/** Receipts whose capture the ledger lacks, or has with other amounts. */
async function* receiptFaults({ db }: Store): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const rows: Receipt[] = await db
      .selectFrom('metered_calls as c')
      .leftJoin('ledger_transfers as t', (join) => join.on('t.key', '=', sql<string>`'capture:' || c.call_id`))
      .select(['c.call_id', 'c.caller_id', 'c.held_micros', 'c.margin_micros', 'c.upstream_cost_micros', 't.entries'])
      .where('c.status', '=', 'captured')
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

/** Days on which other amounts are counted than the calls and escrows of the day add up to. */
async function* dayFaults({ db }: Store): AsyncGenerator<string> {
  for (let [caller, day] = ['', '']; ; ) {
    const { rows } = await sql<DailySpendingRow & { due: number }>`
      select d.caller_id, d.day, d.spent_micros, cast(
        coalesce((select sum(case c.status when 'held' then c.held_micros
            when 'captured' then c.margin_micros + c.upstream_cost_micros else 0 end)
          from metered_calls as c where c.caller_id = d.caller_id and c.counted_on = d.day), 0)
        + coalesce((select sum(e.amount_micros) from escrows as e
          where e.payer = d.caller_id and e.counted_on = d.day and e.status <> 'refunded'), 0) as bigint) as due
      from (select * from daily_spending where (caller_id, day) > (${caller}, ${day})
        order by caller_id, day limit ${PAGE}) as d
      order by d.caller_id, d.day`.execute(db)
    for (const { caller_id, day: on, spent_micros, due } of rows)
      if (spent_micros !== due)
        yield `Daily spending of ${caller_id} on ${on}: it is ${spent_micros}, its calls and escrows sum to ${due} micro-dollars.`
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    ;({ caller_id: caller, day } = last)
  }
}

/** Days on which calls or escrows are counted, and that daily spending does not know. */
async function* missingDays({ db }: Store): AsyncGenerator<string> {
  const { rows } = await sql<Pick<DailySpendingRow, 'caller_id' | 'day'>>`
    select c.caller_id, c.counted_on as day from metered_calls as c
    where c.counted_on is not null and c.status <> 'voided' and not exists
      (select 1 from daily_spending as d where d.caller_id = c.caller_id and d.day = c.counted_on)
    group by c.caller_id, c.counted_on
    union
    select e.payer, e.counted_on from escrows as e
    where e.counted_on is not null and e.status <> 'refunded' and not exists
      (select 1 from daily_spending as d where d.caller_id = e.payer and d.day = e.counted_on)
    limit ${TOLD}`.execute(db)
  for (const { caller_id, day } of rows)
    yield `Daily spending of ${caller_id} on ${day}: it is missing, and calls or escrows are counted on that day.`
}
