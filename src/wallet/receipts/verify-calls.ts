import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import { TOTAL } from '../../text/period.ts'
import { type ArchivedCalls, NOTHING_ARCHIVED } from './archived-calls.ts'
import { createChargeCheck } from './charge-check.ts'
import { receiptsByCaller } from './receipts-by-caller.ts'
import { createSpendingCheck } from './spending-check.ts'
import { allowanceFaults, recordedFaults, tokenFaults, usageFaults } from './verify-usage.ts'

/** Reported faults per kind. */
const MAX_REPORTED = 20

/**
 * Compares charged calls with the ledger and with spending:
 * - receipts match the transfers that took their money
 * - held money matches allowances
 * - sums of usage match receipts, and the tokens of a receipt its cost
 * - spending of a day matches the calls and escrows of that day
 * - allowances reserve something, and for somebody
 *
 * Each comparison is one statement or reads one snapshot, so calls may run meanwhile.
 *
 * @param archived what archives say about calls that the store may not have any more
 * @returns one line per fault, at most 20 of a kind; empty when all is well
 */
export async function callFaults(store: Store, archived: ArchivedCalls = NOTHING_ARCHIVED): Promise<string[]> {
  const { charges, spending } = await moneyFaults(store, archived, MAX_REPORTED)
  const kinds = [
    receiptFaults(store),
    tokenFaults(store),
    charges,
    usageFaults(store, archived),
    heldFaults(store),
    allowanceFaults(store),
    spending,
    totalFaults(store),
    recordedFaults(store),
  ]
  const faults: string[] = []
  for (const found of kinds) faults.push(...(await firstOf(found, MAX_REPORTED)))
  return faults
}

async function firstOf(faults: AsyncIterable<string> | Iterable<string>, limit: number): Promise<string[]> {
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

/**
 * Compares receipts with the transfers that took their money, and with the spending of their days. Reads the receipts
 * once, from one snapshot, so calls may run meanwhile.
 *
 * @param archived what archives say about calls that the store may not have any more
 * @param limit most faults of a kind
 * @returns faults of transfers, and of spending
 */
function moneyFaults(
  store: Store,
  archived: ArchivedCalls,
  limit: number,
): Promise<{ charges: string[]; spending: string[] }> {
  return store.snapshot(async (db) => {
    const charges = createChargeCheck(db, store.engine, archived.until)
    const spending = createSpendingCheck(db, archived, limit)
    for await (const receipts of receiptsByCaller(db, archived.until)) {
      await charges.add(receipts)
      await spending.add(receipts)
    }
    return { charges: await charges.faults(limit), spending: await spending.faults() }
  })
}
