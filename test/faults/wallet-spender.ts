import { GazewayError } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import { newId } from '../../src/text/ids.ts'
import type { Reservation } from '../../src/wallet/budget/reservation.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { createCharges } from '../../src/wallet/receipts/charges.ts'
import { receiptOf } from '../wallet/setup.ts'

/** One thing that a spender does. Calls are named by number, and are those of one process. */
export type Step =
  | { do: 'deposit'; caller: string; micros: number; reference: string }
  | { do: 'reserve'; caller: string; micros: number; call: number }
  | { do: 'capture'; caller: string; micros: number; call: number; cost: number }
  | { do: 'void'; call: number }

/** Credit limit of callers in these tests. */
const CREDIT = 5_000
const AT = '2026-11-21T07:17:52.000Z'

/** Takes the steps one after the other: `wallet-spender STORE-URL STEPS`; refusals are part of the game. */
const [url = '', steps = '[]'] = process.argv.slice(2)
const store = await openStore(url)
const fail = (error: unknown) => {
  throw error
}
const reservations = createReservations({ store, now: () => new Date(AT), onError: fail })
const charge = createCharges(store)
const running = new Map<number, Reservation>()

for (const step of JSON.parse(steps) as Step[]) {
  await take(step).catch((error: unknown) => {
    const expected = ['insufficient_credit', 'budget_reached']
    if (!(error instanceof GazewayError && expected.includes(error.code))) throw error
  })
  const passed = await store.db
    .selectFrom('ledger_accounts')
    .select(['id', 'balance_micros'])
    .where('kind', 'in', ['caller', 'held'])
    .execute()
  for (const { id, balance_micros } of passed)
    if (balance_micros < (id.startsWith('caller') ? -CREDIT : 0)) throw new Error(`${id} is at ${balance_micros}.`)
}
await reservations.close()
await store.close()

async function take(step: Step): Promise<void> {
  if (step.do === 'deposit') {
    const { caller, micros, reference } = step
    await makeDeposit(store, { caller_id: caller, amount_usd: micros / 1_000_000, reference }, new Date(AT))
  }
  if (step.do === 'reserve' && !running.has(step.call)) running.set(step.call, await reserve(step))
  if (step.do === 'void') end(step.call)
  if (step.do === 'capture') {
    const { caller, call, cost } = step
    const taken = running.get(call)?.take(cost)
    if (taken) {
      const receipt = receiptOf({ call_id: newId('call'), caller_id: caller, at: AT, counted_on: taken.day })
      const allowanceId = taken.allowanceId as string
      await charge({ allowanceId, receipt: { ...receipt, upstream_cost_micros: taken.micros - 1 } })
      taken.written()
    }
    end(call)
  }
}

async function reserve({ caller, micros }: { caller: string; micros: number }): Promise<Reservation> {
  const payer = { spender: { id: caller, groupId: null }, creditMicros: CREDIT, budgets: null }
  return reservations.reserve(payer, micros)
}

function end(call: number): void {
  running.get(call)?.end()
  running.delete(call)
}
