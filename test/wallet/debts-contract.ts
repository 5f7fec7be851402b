import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'
import type { Period } from '../../src/text/period.ts'
import { createAbsorbed } from '../../src/wallet/budget/absorbed-costs.ts'
import { writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import { forgiveDebts } from '../../src/wallet/budget/forgive-debts.ts'
import { spentAndOwed } from '../../src/wallet/budget/open-debts.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { createCharges } from '../../src/wallet/receipts/charges.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { statementCsv } from '../../src/wallet/statements/statement-csv.ts'
import { balanceOf, usedBy } from '../faults/budget-books.ts'
import { type OpenStore, receiptOf } from './setup.ts'

const [KEY, OTHER, GROUP] = ['key_thief', 'key_other', 'grp_team']
const SUNDAY = '2026-11-22'

/** Tests of usage beyond reservations, on every engine. `open` opens an empty store. */
export function debtsContract(open: OpenStore): void {
  const budgets = (store: Store, limits: Array<[owner: string, per: Period, micros: Micros]>) =>
    store.db
      .insertInto('budgets')
      .values(limits.map(([owner, per, micros]) => ({ owner, per, micros })))
      .execute()
  /** A call of a key in the group whose provider bills more than was reserved. */
  const overrun = (store: Store, id: string, of: { day: string; micros: Micros; beyondMicros: Micros }) =>
    store.write((trx) =>
      writeCallSpending(trx, [{ spender: { id, groupId: GROUP }, allowanceId: null, written() {}, ...of }]),
    )
  /** The code of the refusal in a process that starts on a day, or the amount itself. */
  async function asks(store: Store, id: string, { day, micros }: { day: string; micros: Micros }) {
    const now = () => new Date(`${day}T12:00:00.000Z`)
    const reservations = createReservations({ store, now, onError: (error) => assert.fail(String(error)) })
    try {
      const payer = { spender: { id, groupId: GROUP }, creditMicros: null, budgets: 'some' }
      const call = await reservations.reserve(payer, micros)
      call.end()
      return micros
    } catch (error) {
      return (error as { code: string }).code
    } finally {
      await reservations.close()
    }
  }
  const owed = async (store: Store, id: string, day: string) => {
    const spends = await spentAndOwed(store, () => 0)([id], new Date(`${day}T12:00:00.000Z`))
    return spends.get(id)?.debt
  }

  it('counts what a day did not hold against the next one, to the micro-dollar', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 100]])
    await overrun(store, KEY, { day: '2026-11-21', micros: 150, beyondMicros: 60 })
    assert.equal(await asks(store, KEY, { day: '2026-11-21', micros: 1 }), 'budget_reached')
    assert.equal(await owed(store, KEY, '2026-11-21'), 50)
    assert.equal(await asks(store, KEY, { day: SUNDAY, micros: 51 }), 'budget_reached')
    assert.equal(await asks(store, KEY, { day: SUNDAY, micros: 50 }), 50)
    assert.equal(await asks(store, KEY, { day: '2026-11-23', micros: 100 }), 100)
  })

  it('blocks no other key of the group in this period, and all of them in the next', async (t) => {
    const store = await open(t)
    await budgets(store, [[GROUP, 'week', 100]])
    await overrun(store, KEY, { day: SUNDAY, micros: 170, beyondMicros: 160 })
    assert.equal(await asks(store, KEY, { day: SUNDAY, micros: 1 }), 'budget_reached')
    assert.equal(await asks(store, OTHER, { day: SUNDAY, micros: 91 }), 'budget_reached')
    assert.equal(await asks(store, OTHER, { day: SUNDAY, micros: 90 }), 90)
    assert.equal(await asks(store, OTHER, { day: '2026-11-23', micros: 31 }), 'budget_reached')
    assert.equal(await asks(store, OTHER, { day: '2026-11-23', micros: 30 }), 30)
    assert.equal(await owed(store, GROUP, SUNDAY), 70)
  })

  it('counts at once in the process that saw it, before it is written', async (t) => {
    const store = await open(t)
    await budgets(store, [[GROUP, 'day', 100]])
    const now = () => new Date(`${SUNDAY}T12:00:00.000Z`)
    const reservations = createReservations({ store, now, onError: (error) => assert.fail(String(error)) })
    const payer = (id: string) => ({ spender: { id, groupId: GROUP }, creditMicros: null, budgets: 'some' })
    const call = await reservations.reserve(payer(KEY), 10)
    const taken = call.take(10)
    const written = call.renew(500)
    call.end()
    await assert.rejects(async () => reservations.reserve(payer(KEY), 1), { code: 'budget_reached' })
    const other = await reservations.reserve(payer(OTHER), 90)
    other.end()
    await store.write((trx) => writeCallSpending(trx, [{ ...taken, micros: 510, beyondMicros: 500 }]))
    taken.written()
    written()
    await assert.rejects(async () => reservations.reserve(payer(KEY), 1), { code: 'budget_reached' })
    await reservations.close()
  })

  it('is all counted or owed, however many processes a thief uses, day after day', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 200]])
    const payer = { spender: { id: KEY, groupId: GROUP }, creditMicros: null, budgets: 'some' }
    let billed = 0
    let refused = 0

    function refusal(error: unknown): null {
      assert.equal((error as { code: string }).code, 'budget_reached')
      return null
    }

    /** Makes calls in a process of its own until one is refused. Each reserves 10 and costs 50. */
    async function steal(day: string): Promise<void> {
      const now = () => new Date(`${day}T12:00:00.000Z`)
      const reservations = createReservations({ store, now, onError: (error) => assert.fail(String(error)) })
      for (;;) {
        const call = await Promise.resolve(reservations.reserve(payer, 10)).catch(refusal)
        if (call === null) {
          refused += 1
          return reservations.close()
        }
        const taken = call.take(10)
        const written = call.renew(40)
        billed += 50
        call.end()
        await store.write((trx) => writeCallSpending(trx, [{ ...taken, micros: 50, beyondMicros: 40 }]))
        taken.written()
        written()
      }
    }
    const days = ['2026-11-21', SUNDAY, '2026-11-23']
    for (const day of days) await Promise.all([1, 2, 3, 4].map(() => steal(day)))
    const last = days.at(-1) as string
    const spends = await spentAndOwed(store, () => 0)([KEY], new Date(`${last}T12:00:00.000Z`))
    assert.equal(refused, 12)
    assert.equal(spends.get(KEY)?.total, billed)
    assert.ok(billed >= 3 * 200, `${billed}`)
    assert.equal(spends.get(KEY)?.debt, billed - 3 * 200)
    assert.deepEqual(await callFaults(store), [])
  })

  it('counts in total until the budget is raised or an admin forgives exactly the debt', async (t) => {
    const store = await open(t)
    await budgets(store, [
      [KEY, 'total', 100],
      [KEY, 'day', 1_000],
    ])
    await overrun(store, KEY, { day: '2025-01-01', micros: 130, beyondMicros: 60 })
    assert.equal(await asks(store, KEY, { day: SUNDAY, micros: 1 }), 'budget_reached')
    await store.db.updateTable('budgets').set({ micros: 131 }).where('per', '=', 'total').execute()
    assert.equal(await asks(store, KEY, { day: SUNDAY, micros: 1 }), 1)
    await store.db.updateTable('budgets').set({ micros: 100 }).where('per', '=', 'total').execute()
    const now = new Date(`${SUNDAY}T12:00:00.000Z`)
    const forgiven = await Promise.all([forgiveDebts(store, KEY, now), forgiveDebts(store, KEY, now)])
    assert.deepEqual(forgiven.toSorted(), [0, 30])
    assert.equal(await owed(store, KEY, SUNDAY), 0)
    assert.equal(await asks(store, KEY, { day: SUNDAY, micros: 1 }), 'budget_reached')
    assert.deepEqual(await callFaults(store), [])
  })

  it('states what the operator bore and what became debt, and refuses the model to the key in all processes', async (t) => {
    const store = await open(t)
    const at = `${SUNDAY}T12:00:00.000Z`
    const now = () => new Date(at)
    const reservations = createReservations({ store, now, onError: (error) => assert.fail(String(error)) })
    const charge = createCharges(store)
    const payer = { spender: { id: KEY, groupId: GROUP }, creditMicros: 1_000, budgets: null }
    async function call(
      call_id: string,
      { cost, beyond, absorbed }: { cost: number; beyond: number; absorbed: number },
    ) {
      const reservation = await reservations.reserve(payer, 100)
      const { allowanceId, written, day } = reservation.take(cost + 1 - beyond)
      const of = { call_id, caller_id: KEY, at, counted_on: day, group_id: GROUP, model: 'wild' }
      const amounts = { upstream_cost_micros: cost, absorbed_micros: absorbed, capped: Number(absorbed > 0) }
      await charge({
        ...{ allowanceId: allowanceId as string, receipt: receiptOf({ ...of, ...amounts }) },
        ...{ beyondMicros: beyond, absorbedBeyondMicros: absorbed, creditMicros: 1_000 },
      })
      written()
      reservation.end()
      await reservations.giveBackIdle(KEY)
    }
    const processes = [0, 1].map(() => createAbsorbed(store, now, () => 500))
    const models = [{ requested: 'wild', upstream: 'wild-1' }]
    for (const process of processes) await process.require(KEY, models)
    await call('call_1', { cost: 99, beyond: 0, absorbed: 499 })
    processes[0]?.forget(KEY)
    await processes[0]?.require(KEY, models)
    await call('call_2', { cost: 1_099, beyond: 1_000, absorbed: 1 })
    for (const process of processes) process.forget(KEY)
    for (const process of processes) {
      await assert.rejects(async () => process.require(KEY, models), { code: 'limit_not_kept' })
      await process.require(KEY, [{ requested: 'tame', upstream: 'tame-1' }])
      await process.require(OTHER, models)
    }
    const { totals, charges, closing_usd, ...rest } = await buildStatement(store, '2026-11', {
      ...{ kind: 'caller', id: KEY, callers: [KEY] },
    })
    assert.deepEqual([totals.absorbed_usd, totals.debts_usd, closing_usd], [0.0005, 0.0002, -0.0012])
    assert.deepEqual([charges[0]?.absorbed_usd, charges[0]?.debt_usd], [0.0005, 0.0002])
    const [head = '', ...lines] = statementCsv({ totals, charges, closing_usd, ...rest })
      .trim()
      .split('\r\n')
    const column = (name: string) => lines.map((line) => Number(line.split(',')[head.split(',').indexOf(name)]))
    assert.deepEqual(column('absorbed_usd').filter(Boolean), [0.0005])
    assert.deepEqual(column('debt_usd').filter(Boolean), [0.0002])
    assert.equal(await owed(store, KEY, SUNDAY), 1_200)
    assert.deepEqual(await callFaults(store), [])
    await reservations.close()
    await assert.rejects(async () => reservations.reserve(payer, 100), { code: 'debt_open' })
    await reservations.close()
  })

  it('takes what the operator bears from its reservation at once, whether its call is charged or not', async (t) => {
    const store = await open(t)
    const at = `${SUNDAY}T12:00:00.000Z`
    const onError = (error: unknown) => assert.fail(String(error))
    const reservations = createReservations({ store, now: () => new Date(at), onError })
    const charge = createCharges(store, { onError })
    const payer = { spender: { id: KEY, groupId: GROUP }, creditMicros: 1_000, budgets: 'some' }
    await budgets(store, [[GROUP, 'total', 500]])
    const owners = [KEY, GROUP]
    const parts = [
      { charged: 1, margin_micros: 1, upstream_cost_micros: 20, absorbed_micros: 30 },
      { charged: 0, margin_micros: 0, upstream_cost_micros: 0, absorbed_micros: 51 },
    ]
    for (const [calls, of] of parts.entries()) {
      const reservation = await reservations.reserve(payer, 100)
      const before = await usedBy(store, owners)
      const { allowanceId, written, recorded } = reservation.take(51)
      const call = { call_id: `call_${calls}`, caller_id: KEY, at, counted_on: SUNDAY, group_id: GROUP, model: 'm' }
      await charge({ allowanceId: allowanceId as string, receipt: receiptOf({ ...call, ...of }), recorded })
      assert.deepEqual(await usedBy(store, owners), before, 'spent and reserved')
      if (of.charged === 1) written()
      reservation.end()
      await reservations.giveBackIdle(KEY)
      for (const used of (await usedBy(store, owners)).values()) assert.equal(used, 51 * (calls + 1))
    }
    assert.deepEqual([await balanceOf(store, `caller:${KEY}`), await balanceOf(store, `held:${KEY}`)], [-21, 0])
    assert.deepEqual((await verifyLedger(store)).faults, [])
    await reservations.close()
  })
}
