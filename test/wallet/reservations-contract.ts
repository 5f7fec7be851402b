import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { CallSpend } from '../../src/calls/call-spend.ts'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'
import { PERIOD_NAMES, type Period, periodOf } from '../../src/text/period.ts'
import { LEASE_MS, renewAllowances, writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import { HeldByOthers } from '../../src/wallet/budget/held-by-others.ts'
import { readPresumed, releasePresumed, sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import type { Payer, Reservation } from '../../src/wallet/budget/reservation.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { spendOf } from '../../src/wallet/budget/spending.ts'
import { accountOf, lockAccounts } from '../../src/wallet/ledger/accounts.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { createCharges } from '../../src/wallet/receipts/charges.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { until } from '../doubles/until.ts'
import { type OpenStore, receiptOf } from './setup.ts'

const DAY = '2026-11-21'
const KEY = 'key_payer'
const GROUP = 'grp_payers'

/** A process that makes calls. Once it is killed, its timers change nothing in the store any more. */
function startProcess(store: Store, clock: { now: number }) {
  const errors: unknown[] = []
  let isKilled = false
  const write: Store['write'] = (work) =>
    isKilled ? Promise.reject(new Error('this process was killed')) : store.write(work)
  const reservations = createReservations({
    store: { ...store, write },
    now: () => new Date(clock.now),
    elapsedMs: () => clock.now,
    onError: (error) => void errors.push(error),
  })
  function kill(): void {
    isKilled = true
  }
  return { reservations, charge: createCharges(store), errors, kill }
}

/** Resolves once a connection waits for the lock of another; for PostgreSQL. */
async function untilWaiting({ db }: Store): Promise<void> {
  const waiting = sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await waiting.execute(db)).rows.length > 0)
}

/** Budgets and money of keys whose calls several processes make, on every engine. `open` opens an empty store. */
export function reservationsContract(open: OpenStore): void {
  const recorded: Payer = { spender: { id: KEY, groupId: GROUP }, creditMicros: null, budgets: 'some' }
  const charged: Payer = { ...recorded, creditMicros: 1_000 }

  /** A store for one run of a property: a server's connections do not reach for those of all runs. */
  async function openForRun(t: TestContext): Promise<Store & AsyncDisposable> {
    const store = await open(t)
    return { ...store, [Symbol.asyncDispose]: () => store.close() }
  }
  async function budgets(store: Store, limits: Array<[owner: string, per: Period, micros: Micros]>) {
    const rows = limits.map(([owner, per, micros]) => ({ owner, per, micros }))
    await store.db.insertInto('budgets').values(rows).execute()
  }
  async function outstanding(store: Store): Promise<Micros> {
    const rows = await store.db.selectFrom('allowances').select('micros').execute()
    return rows.reduce((sum, row) => sum + Number(row.micros), 0)
  }
  const spent = async (store: Store, owner: string, at = `${DAY}T12:00:00Z`) =>
    (await spendOf(store.db, [owner], new Date(at))).get(owner)
  const record = (store: Store, spend: CallSpend) => store.write((trx) => writeCallSpending(trx, [spend]))
  const receipt = (callId: string, micros: Micros) => ({
    ...receiptOf({ call_id: callId, caller_id: KEY, at: `${DAY}T12:00:00.000Z`, counted_on: DAY }),
    upstream_cost_micros: micros - 1,
    path: '/v1/chat/completions',
    group_id: GROUP,
  })

  it('lets as many of 200 calls at once through as a budget reaches for', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 5_000]])
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const processes = [startProcess(store, clock), startProcess(store, clock)]
    const asked = Array.from({ length: 200 }, (_, i) => processes[i % 2]?.reservations.reserve(recorded, 100))
    const ended = await Promise.allSettled(asked)
    const through = ended.filter(({ status }) => status === 'fulfilled')
    assert.equal(through.length, 50)
    for (const { reason } of ended.filter((end) => end.status === 'rejected'))
      assert.equal(reason.code, 'budget_reached')
    for (const { reservations } of processes) await reservations.close()
  })

  it('reserves a quarter of what is free for a call that could use as much, and no less than it needs', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 4_000]])
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const [one, other] = [startProcess(store, clock), startProcess(store, clock)]
    const unlimited = { least: 100, most: 5_000 }
    const first = await one.reservations.reserve(recorded, unlimited)
    const second = await one.reservations.reserve(recorded, unlimited)
    assert.deepEqual([first.left(), second.left()], [1_000, 750])
    const modest = await one.reservations.reserve(recorded, { least: 100, most: 200 })
    assert.equal(modest.left(), 200)
    const needing = await one.reservations.reserve(recorded, { least: 900, most: 5_000 })
    assert.equal(needing.left(), 900)
    for (const call of [first, second, modest, needing]) call.end()
    await one.reservations.close()
    const elsewhere = await other.reservations.reserve(recorded, unlimited)
    assert.equal(elsewhere.left(), 1_000)
    elsewhere.end()
    await other.reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('tells a call that has to wait for others from one that its budget does not reach for', async (t) => {
    const store = await open(t)
    await budgets(store, [
      [KEY, 'day', 100],
      [GROUP, 'week', 1_000],
    ])
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const [one, other] = [startProcess(store, clock), startProcess(store, clock)]
    const call = await one.reservations.reserve(recorded, 60)
    for (const { reservations } of [one, other]) {
      await assert.rejects(async () => reservations.reserve(recorded, 60), HeldByOthers)
      await assert.rejects(
        async () => reservations.reserve(recorded, 101),
        (error) => !(error instanceof HeldByOthers),
      )
    }
    const spend = call.take(50)
    call.end()
    await assert.rejects(
      async () => one.reservations.reserve(recorded, 60),
      (error) => !(error instanceof HeldByOthers),
      'what is spent and not yet written is not waited for',
    )
    await record(store, spend)
    spend.written()
    const next = await one.reservations.reserve(recorded, 50)
    next.end()
    for (const { reservations } of [one, other]) await reservations.close()
  })

  it('names the budget that is used up, and when it resets', async (t) => {
    const store = await open(t)
    await budgets(store, [
      [KEY, 'month', 1_000],
      [GROUP, 'week', 50],
    ])
    const { reservations } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    await assert.rejects(async () => reservations.reserve(recorded, 60), {
      code: 'budget_reached',
      status: 402,
      message: /budget per week of group grp_payers, 0\.00005 USD\. It resets at 2026-11-23T00:00:00\.000Z/,
    })
    await reservations.close()
  })

  it('counts a call on the day on which it began, and gives the new day its whole budget', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 100]])
    const clock = { now: Date.parse(`${DAY}T23:59:59.900Z`) }
    const { reservations } = startProcess(store, clock)
    const late = await reservations.reserve(recorded, 60)
    clock.now += 200
    const early = await reservations.reserve(recorded, 100)
    assert.equal(await late.extend(41), false, 'the day that is over has 40 left')
    assert.equal(await late.extend(40), true, 'the day that is over has 40 left')
    for (const call of [late, early]) {
      const spend = call.take(call.left())
      await record(store, spend)
      spend.written()
      call.end()
    }
    assert.equal((await spent(store, KEY))?.day, 100)
    assert.deepEqual(await spent(store, KEY, '2026-11-22T12:00:00Z'), { day: 100, week: 200, month: 200, total: 200 })
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('refuses at once where a limit was lowered below what is spent', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'total', 100]])
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations } = startProcess(store, clock)
    const call = await reservations.reserve(recorded, 50)
    const spend = call.take(50)
    await record(store, spend)
    spend.written()
    call.end()
    await store.db.updateTable('budgets').set({ micros: 40 }).execute()
    const lowered = { ...recorded, budgets: 'lowered' }
    await assert.rejects(async () => reservations.reserve(lowered, 1), { code: 'budget_reached' })
    await reservations.close()
  })

  it('applies a lowered limit to a running call, from its next extension on', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'total', 1_000_000]])
    const { reservations } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const call = await reservations.reserve(recorded, 50)
    assert.equal(await call.extend(10, recorded), true, 'from what this process holds')
    await store.db.updateTable('budgets').set({ micros: 100 }).execute()
    const lowered = { ...recorded, budgets: 'lowered' }
    assert.equal(await call.extend(41, lowered), false)
    assert.equal(await call.extend(40, lowered), true)
    const spend = call.take(100)
    assert.equal(spend.micros, 100)
    await record(store, spend)
    spend.written()
    call.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('counts what was spent before a budget’s period was changed, in the new period', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 100]])
    const clock = { now: Date.parse('2026-11-30T12:00:00Z') }
    const { reservations } = startProcess(store, clock)
    async function use(micros: Micros, changed: string): Promise<void> {
      const call = await reservations.reserve({ ...recorded, budgets: changed }, micros)
      const spend = call.take(micros)
      await record(store, spend)
      spend.written()
      call.end()
    }
    const change = (per: Period) => store.db.updateTable('budgets').set({ per }).execute()
    await use(60, 'day')
    clock.now = Date.parse('2026-12-01T12:00:00Z')
    await use(30, 'day')
    // A Monday to Sunday has both days, December the second alone.
    for (const [per, left] of [
      ['week', 10],
      ['month', 70],
      ['total', 10],
      ['day', 70],
    ] as const) {
      await change(per)
      await assert.rejects(async () => use(left + 1, `${per} too much`), { code: 'budget_reached' }, per)
      const call = await reservations.reserve({ ...recorded, budgets: per }, left)
      call.end()
      await reservations.giveBackIdle(KEY)
    }
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('holds a budget of every period from the first day of the period to its last', async (t) => {
    const store = await open(t)
    for (const per of PERIOD_NAMES) {
      const { from, to, resetsAt } = periodOf(per, DAY)
      const [first, last] = resetsAt === null ? ['2020-01-01', DAY] : [from, to]
      const payer: Payer = { ...recorded, spender: { id: `key_${per}`, groupId: null } }
      await budgets(store, [[payer.spender.id, per, 100]])
      const clock = { now: Date.parse(`${first}T00:00:00Z`) }
      const { reservations } = startProcess(store, clock)
      const call = await reservations.reserve(payer, 60)
      const spend = call.take(60)
      await record(store, spend)
      spend.written()
      call.end()
      clock.now = Date.parse(`${last}T23:59:59Z`)
      await assert.rejects(async () => reservations.reserve(payer, 41), { code: 'budget_reached' }, per)
      assert.equal((await spent(store, payer.spender.id, `${last}T23:59:59Z`))?.[per], 60, per)
      if (resetsAt !== null) {
        clock.now = Date.parse(resetsAt)
        const next = await reservations.reserve(payer, 100)
        next.end()
      }
      await reservations.close()
    }
  })

  it('charges many calls in one transfer, and gives the rest of what was held back', async (t) => {
    const store = await open(t)
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations, charge } = startProcess(store, clock)
    const calls = await Promise.all(Array.from({ length: 5 }, () => reservations.reserve(charged, 200)))
    await assert.rejects(async () => reservations.reserve(charged, 1), {
      code: 'insufficient_credit',
      status: 402,
      message: /and 0 USD is left in the account of key_/,
    })
    await Promise.all(
      calls.map(async (call, i) => {
        const spend = call.take(30)
        await charge({ allowanceId: spend.allowanceId as string, receipt: receipt(`call_${i}`, 30) })
        spend.written()
        call.end()
      }),
    )
    await reservations.close()
    const transfers = await store.db.selectFrom('ledger_transfers').selectAll().where('kind', '=', 'charge').execute()
    assert.equal(transfers.length, 1)
    const account = store.db.selectFrom('ledger_accounts').select('balance_micros')
    assert.equal((await account.where('id', '=', `caller:${KEY}`).executeTakeFirst())?.balance_micros, -150)
    assert.equal((await account.where('id', '=', `held:${KEY}`).executeTakeFirst())?.balance_micros, 0)
    assert.deepEqual(await callFaults(store), [])
  })

  it('agrees with the receipts of answers that cost nothing, alone and beside others', async (t) => {
    const store = await open(t)
    const { reservations, charge } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const chargeAtOnce = (costs: Record<string, Micros>) =>
      Promise.all(
        Object.entries(costs).map(async ([callId, micros]) => {
          const call = await reservations.reserve(charged, 200)
          const spend = call.take(micros)
          const free = { margin_micros: 0, upstream_cost_micros: micros }
          await charge({ allowanceId: spend.allowanceId as string, receipt: { ...receipt(callId, micros), ...free } })
          spend.written()
          call.end()
        }),
      )
    await chargeAtOnce({ call_free: 0 })
    await chargeAtOnce({ call_free_too: 0, call_dear: 30 })
    await reservations.close()
    assert.deepEqual(await callFaults(store), [])
    await store.db
      .updateTable('metered_calls')
      .set({ upstream_cost_micros: 7 })
      .where('call_id', '=', 'call_free')
      .execute()
    assert.match((await callFaults(store)).join(), /receipts refer to it, but the ledger does not have it/)
  })

  it('charges nothing where the allowance was given back while its process was suspended', async (t) => {
    const store = await open(t)
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations, charge } = startProcess(store, clock)
    const call = await reservations.reserve(charged, 200)
    await sweepAllowances(store, new Date(clock.now + LEASE_MS), 10)
    const taken = call.take(30)
    const allowanceId = taken.allowanceId as string
    const charging = charge({ allowanceId, receipt: receipt('call_late', 30), recorded: taken.recorded })
    await assert.rejects(charging, { code: 'upstream_timeout' })
    assert.equal((await spent(store, KEY))?.total, 29, 'budgets count what the provider billed, without the margin')
    call.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
    assert.deepEqual((await verifyLedger(store)).faults, [])
    assert.deepEqual(await callFaults(store), [])
  })

  it('extends a call whose allowance a sweep gave back while its process was suspended', async (t) => {
    const store = await open(t)
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations } = startProcess(store, clock)
    const call = await reservations.reserve(charged, 200)
    clock.now += LEASE_MS
    await sweepAllowances(store, new Date(clock.now), 10)
    assert.equal(await call.extend(600), true)
    call.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('sweeps an allowance that changes while the sweep waits for its account', async (t) => {
    const store = await open(t)
    // SQLite has one writer at a time: there nothing is changed meanwhile.
    if (store.engine === 'sqlite') return
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations } = startProcess(store, clock)
    const call = await reservations.reserve(charged, 200)
    const { allowanceId } = call.take(0)
    const accounts = [accountOf('held', KEY), accountOf('caller', KEY)] as const
    let sweeping: Promise<unknown> | undefined
    await store.write(async (trx) => {
      await lockAccounts(trx, accounts)
      sweeping = sweepAllowances(store, new Date(clock.now + LEASE_MS), 10)
      await untilWaiting(store)
      // Its holder gives a part back.
      await trx.updateTable('allowances').set({ turn: 2, micros: sql`micros - 1` }).execute()
      const [held, caller] = accounts
      const entries = [
        { account: held, micros: -1 },
        { account: caller, micros: 1 },
      ]
      await post(trx, {
        key: `allowance:${allowanceId}:2`,
        kind: 'void',
        entries,
        at: new Date(clock.now).toISOString(),
      })
    })
    await sweeping
    assert.equal((await readPresumed(store.db, [KEY])).get(KEY), await outstanding(store))
    assert.deepEqual((await verifyLedger(store)).faults, [])
    await reservations.close()
  })

  it('takes a new allowance after a suspension that was longer than its lease', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 100]])
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const [suspended, other] = [startProcess(store, clock), startProcess(store, clock)]
    const first = await suspended.reservations.reserve(recorded, 10)
    first.end()
    clock.now += LEASE_MS
    await sweepAllowances(store, new Date(clock.now), 10)
    await assert.rejects(async () => other.reservations.reserve(recorded, 100), { code: 'budget_reached' })
    const rest = await other.reservations.reserve(recorded, 90)
    const next = await suspended.reservations.reserve(recorded, 10)
    for (const call of [rest, next]) call.end()
    for (const { reservations } of [suspended, other]) await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('gives back once what the store did not take back at first', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 100]])
    let isDown = false
    const write: Store['write'] = (work) =>
      isDown ? Promise.reject(new Error('The store is down.')) : store.write(work)
    const { reservations, errors } = startProcess({ ...store, write }, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const call = await reservations.reserve(recorded, 60)
    call.end()
    isDown = true
    await reservations.close()
    assert.equal(errors.length, 1)
    assert.ok((await outstanding(store)) >= 60, 'it is still set aside')
    isDown = false
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('gives all back of a pool that is given back while a call takes more of it', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 1_000]])
    const { reservations } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const [call, other] = [await reservations.reserve(recorded, 100), await reservations.reserve(recorded, 100)]
    other.end()
    const extending = call.extend(600)
    await reservations.close()
    assert.equal(await extending, true)
    call.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('gives back at its end what calls free while a return is under way', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 1_000]])
    const { reservations } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const [long, short] = await Promise.all([reservations.reserve(recorded, 60), reservations.reserve(recorded, 40)])
    const third = await reservations.reserve(recorded, 1)
    third.end()
    long.renew(1)
    short.end()
    long.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('gives back what a call is extended by after it has ended', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 1_000]])
    const { reservations } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const call = await reservations.reserve(recorded, 100)
    const extending = call.extend(900)
    call.end()
    assert.equal(await extending, false)
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('keeps no allowance that is used up after its rest was given back', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 1_000]])
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations } = startProcess(store, clock)
    const call = await reservations.reserve(recorded, 100)
    const spend = call.take(60)
    call.end()
    await reservations.giveBackIdle(KEY)
    await record(store, spend)
    spend.written()
    const [left] = await store.db.selectFrom('allowances').select(['holder', 'micros']).execute()
    assert.equal(left?.micros, 0)
    await renewAllowances(store, left?.holder as string, new Date(clock.now + LEASE_MS).toISOString())
    await sweepAllowances(store, new Date(clock.now + LEASE_MS), 10)
    assert.deepEqual(await store.db.selectFrom('allowances').selectAll().execute(), [])
    await reservations.close()
  })

  it('applies a lowered budget to a call that is already waiting', async (t) => {
    const store = await open(t)
    // SQLite has one writer at a time: there nothing is changed meanwhile.
    if (store.engine === 'sqlite') return
    await budgets(store, [[KEY, 'total', 1_000]])
    const { reservations } = startProcess(store, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const first = await reservations.reserve(recorded, 1)
    first.end()
    await reservations.giveBackIdle(KEY)
    let reserving: Promise<unknown> | undefined
    await store.write(async (trx) => {
      await trx.updateTable('spending').set({ recorded_micros: 0 }).where('owner', '=', KEY).execute()
      reserving = assert.rejects(async () => reservations.reserve(recorded, 500), { code: 'budget_reached' })
      await untilWaiting(store)
      await trx.updateTable('budgets').set({ micros: 400 }).where('owner', '=', KEY).execute()
    })
    await reserving
    await reservations.close()
  })

  it('gives back what the store set aside although it seemed to fail', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 1_000]])
    let isLost = true
    const write: Store['write'] = async (work) => {
      const made = await store.write(work)
      if (isLost) throw new Error('The connection was lost.')
      return made
    }
    const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
    const { reservations } = startProcess({ ...store, write }, clock)
    await assert.rejects(async () => reservations.reserve(recorded, 100), /connection was lost/)
    isLost = false
    assert.ok((await outstanding(store)) >= 100, 'the store has set it aside')
    await until(async () => (await outstanding(store)) === 0)
    await reservations.close()
  })

  it('counts what calls free and draw while it asks the store for more', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 10_000]])
    let meanwhile = () => {}
    const write: Store['write'] = (work) => {
      meanwhile()
      return store.write(work)
    }
    const { reservations } = startProcess({ ...store, write }, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const first = await reservations.reserve(recorded, 100)
    const others: Array<ReturnType<typeof reservations.reserve>> = []
    meanwhile = () => {
      meanwhile = () => {}
      others.push(reservations.reserve(recorded, 600))
      first.end()
    }
    const calls = [await reservations.reserve(recorded, 5_000), ...(await Promise.all(others))]
    assert.equal(calls.length, 2)
    const held = calls.reduce((sum, call) => sum + call.left(), 0)
    assert.ok(held <= (await outstanding(store)), 'no call has what the store has not set aside')
    for (const call of calls) call.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('asks the store seldom for many calls at once, and gives back what fewer need', async (t) => {
    const store = await open(t)
    await budgets(store, [[KEY, 'day', 1_000_000]])
    let asked = 0
    const write: Store['write'] = (work) => {
      asked += 1
      return store.write(work)
    }
    const { reservations } = startProcess({ ...store, write }, { now: Date.parse(`${DAY}T12:00:00Z`) })
    const [last, ...calls] = await Promise.all(Array.from({ length: 100 }, () => reservations.reserve(recorded, 100)))
    assert.ok(asked <= 2, `the store was asked ${asked} times for 100 calls`)
    for (const call of calls) call.end()
    await until(async () => (await outstanding(store)) <= 1_700, { what: 'what 83 calls do not need any more' })
    last?.end()
    await reservations.close()
    assert.equal(await outstanding(store), 0)
  })

  it('exceeds no budget and leaks nothing, in any order of concurrent calls', async (t) => {
    const call = fc.record({
      micros: fc.integer({ min: 1, max: 60 }),
      more: fc.integer({ min: 0, max: 60 }),
      spent: fc.integer({ min: 0, max: 120 }),
      by: fc.nat(1),
    })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(call, { minLength: 5, maxLength: 25 }), async (turns, calls) => {
        await using store = await openForRun(t)
        await budgets(store, [[KEY, 'day', 400]])
        const write: Store['write'] = (work) => turns.schedule(Promise.resolve()).then(() => store.write(work))
        const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
        const processes = [0, 1].map(() => startProcess({ ...store, write }, clock))
        let due = 0
        const made = calls.map(async ({ micros, more, spent, by }) => {
          const { reservations } = processes[by] as (typeof processes)[number]
          await turns.schedule(Promise.resolve())
          const reservation = await reservations.reserve(recorded, micros)
          await turns.schedule(Promise.resolve())
          if (more > 0) await reservation.extend(more)
          const spend = reservation.take(spent)
          due += spend.micros
          await store.write((trx) => writeCallSpending(trx, [spend]))
          spend.written()
          await turns.schedule(Promise.resolve())
          reservation.end()
        })
        const ended = await turns.waitFor(Promise.allSettled(made))
        for (const end of ended) if (end.status === 'rejected') assert.equal(end.reason.code, 'budget_reached')
        const closing = Promise.all(processes.map(({ reservations }) => reservations.close()))
        await turns.waitFor(closing)
        assert.equal((await spent(store, KEY))?.day ?? 0, due)
        assert.ok(due <= 400, `${due} of 400 were spent`)
        assert.equal(await outstanding(store), 0)
      }),
      { numRuns: 20, endOnFailure: true },
    )
  })

  it('exceeds no budget, whatever three processes do and when they are killed', async (t) => {
    const amount = fc.integer({ min: 1, max: 60 })
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant('reserve' as const), by: fc.nat(2), amount, pays: fc.boolean() }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('extend' as const), by: fc.nat(2), amount }) },
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('end' as const), by: fc.nat(2), amount }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), by: fc.nat(2), amount }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('limit' as const),
          by: fc.nat(2),
          amount: fc.integer({ min: 50, max: 600 }),
        }),
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        await using store = await openForRun(t)
        const clock = { now: Date.parse(`${DAY}T12:00:00Z`) }
        let dayLimit = 300
        await budgets(store, [
          [KEY, 'day', dayLimit],
          [GROUP, 'total', 500],
        ])
        type Call = { reservation: Reservation; pays: boolean; id: string }
        const processes = [0, 1, 2].map(() => ({ ...startProcess(store, clock), calls: [] as Call[] }))
        let made = 0
        let terms = 0
        const due = { recorded: 0, charged: 0 }
        for (const { kind, by, amount, ...more } of steps) {
          const process = processes[by] as (typeof processes)[number]
          const call = process.calls[0]
          if (kind === 'reserve') {
            const pays = 'pays' in more && more.pays === true
            const payer = { ...(pays ? charged : recorded), budgets: `${terms}` }
            try {
              const reservation = await process.reservations.reserve(payer, amount)
              process.calls.push({ reservation, pays, id: `call_${made++}` })
            } catch (error) {
              assert.ok(
                ['budget_reached', 'insufficient_credit'].includes((error as { code: string }).code),
                String(error),
              )
            }
          } else if (kind === 'extend') await call?.reservation.extend(amount)
          else if (kind === 'end' && call) {
            process.calls.shift()
            const spend = call.reservation.take(amount)
            if (call.pays) {
              await process.charge({
                allowanceId: spend.allowanceId as string,
                receipt: receipt(call.id, spend.micros),
              })
              due.charged += spend.micros
            } else {
              await record(store, spend)
              due.recorded += spend.micros
            }
            spend.written()
            call.reservation.end()
          } else if (kind === 'kill') {
            // Its memory is gone: what it had set aside stays in the store until its lease is over.
            process.kill()
            processes[by] = { ...startProcess(store, clock), calls: [] }
          } else if (kind === 'limit') {
            dayLimit = Math.max(dayLimit, amount)
            terms += 1
            await store.db.updateTable('budgets').set({ micros: dayLimit }).where('owner', '=', KEY).execute()
          }
          const taken = (await spent(store, KEY))?.day ?? 0
          const all = (await spent(store, GROUP))?.total ?? 0
          const waiting = await outstanding(store)
          assert.ok(taken + waiting <= dayLimit, `${taken} and ${waiting} of ${dayLimit}`)
          assert.ok(all + waiting <= 500, `${all} and ${waiting} of the group's 500`)
        }
        for (const process of processes) process.kill()
        clock.now += LEASE_MS
        await sweepAllowances(store, new Date(clock.now), 1_000)
        const presumed = await outstanding(store)
        assert.equal(await releasePresumed(store, KEY), presumed)
        assert.equal(await outstanding(store), 0)
        assert.equal((await spent(store, KEY))?.total ?? 0, due.recorded + due.charged)
        assert.deepEqual((await verifyLedger(store)).faults, [])
        assert.deepEqual(await callFaults(store), [])
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })
}
