import type { Store } from '../../src/store/store.ts'
import { addSpending } from '../../src/wallet/budget/spending.ts'
import { accountOf } from '../../src/wallet/ledger/accounts.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import { storeReceipts } from '../../src/wallet/receipts/store-receipts.ts'
import { addUsage } from '../../src/wallet/receipts/usage-sums.ts'
import { receiptOf } from './setup.ts'

/** Margin and cost of each call, in micro-dollars. */
const [MARGIN, COST] = [80_000, 45]
/** Days of a month on which calls are made. */
const DAYS = 20
/** Calls that a transfer charges. */
const A_CHARGE = 50

/** Names of months in order, as many as asked, from January of a year on. */
export const monthsFrom = (year: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => new Date(Date.UTC(year, i, 1)).toISOString().slice(0, 7))

/**
 * Books a month of charged calls as gateways do, in one transaction: a deposit, and for each day a reservation, charges of up to 50
 * calls, receipts, sums and spending.
 */
export async function bookMonth(
  store: Store,
  month: string,
  { caller, calls }: { caller: string; calls: number },
): Promise<void> {
  const account = (kind: 'caller' | 'held' | 'revenue' | 'upstream_cost' | 'deposits') => accountOf(kind, caller)
  await store.write(async (trx) => {
    const due = calls * (MARGIN + COST)
    const deposit = [
      { account: account('deposits'), micros: -due, floor: null, deposited: -due },
      { account: account('caller'), micros: due },
    ]
    await post(trx, { key: `deposit:${month}`, kind: 'deposit', entries: deposit, at: `${month}-01T00:00:00.000Z` })
    for (let made = 0, part = 0; made < calls; part++) {
      const number = Math.min(A_CHARGE, calls - made)
      const day = `${month}-${String((part % DAYS) + 1).padStart(2, '0')}`
      const at = `${day}T12:00:00.000Z`
      const micros = number * (MARGIN + COST)
      const reserved = [
        { account: account('caller'), micros: -micros },
        { account: account('held'), micros },
      ]
      await post(trx, { key: `allowance:${month}:${part}`, kind: 'reserve', entries: reserved, at })
      const key = `charge:${month}:${part}`
      const taken = [
        { account: account('held'), micros: -micros },
        { account: account('revenue'), micros: number * MARGIN },
        { account: account('upstream_cost'), micros: number * COST },
      ]
      await post(trx, { key, kind: 'charge', entries: taken, at })
      const receipts = Array.from({ length: number }, (_, i) =>
        receiptOf({
          ...{ call_id: `call_${month}_${made + i}`, caller_id: caller, at, counted_on: day },
          ...{ margin_micros: MARGIN, upstream_cost_micros: COST, upstream_call_id: `up_${month}_${made + i}` },
        }),
      )
      await storeReceipts(trx, receipts, key)
      await addUsage(trx, receipts)
      await addSpending(trx, 'charged', [{ spender: { id: caller, groupId: null }, day, micros }])
      made += number
    }
  })
}
