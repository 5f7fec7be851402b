import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'
import { writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import { forgetSessions } from '../../src/wallet/budget/forget-sessions.ts'
import type { Payer, Reservation } from '../../src/wallet/budget/reservation.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { noteUse, sessionIn, sessionOwner } from '../../src/wallet/budget/session-budget.ts'
import { createCharges } from '../../src/wallet/receipts/charges.ts'
import { recordUncharged } from '../../src/wallet/receipts/failed-charges.ts'
import { type OpenStore, receiptOf } from './setup.ts'

const DAY = '2026-11-21'
const AT = `${DAY}T12:00:00.000Z`
const [KEY, OTHER, GROUP] = ['key_agents', 'key_others', 'grp_agents']

/** Budgets of sessions, whose calls several processes make, on every engine. `open` opens an empty store. */
export function sessionBudgetsContract(open: OpenStore): void {
  const processOn = (store: Store) =>
    createReservations({ store, now: () => new Date(AT), onError: (error) => assert.fail(String(error)) })
  const payer = (sessionId: string, callerId = KEY): Payer => ({
    spender: { id: callerId, groupId: GROUP, session: sessionOwner({ callerId, sessionId }) },
    creditMicros: null,
    budgets: 'some',
  })
  async function limits(store: Store, micros: Record<string, Micros>) {
    const none = { calls: null, minutes: null, repeat_times: null, repeat_minutes: null }
    const rows = Object.entries(micros).map(([owner, most]) => ({ ...none, owner, micros: most }))
    await store.db.insertInto('session_limits').values(rows).execute()
  }
  const codeOf = ({ code }: { code: string }) => code
  async function ended(asked: Iterable<Reservation | Promise<Reservation>>) {
    const ends = await Promise.allSettled(asked)
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [codeOf(end.reason)] : []))
    return { through: ends.length - refused.length, refused: [...new Set(refused)] }
  }
  const many = (reserve: (i: number) => Reservation | Promise<Reservation>, count = 40) =>
    ended(Array.from({ length: count }, (_, i) => Promise.resolve(i).then(reserve)))
  const spentBy = async ({ db }: Store, sessionId: string) => {
    const rows = db
      .selectFrom('spending')
      .selectAll()
      .where('owner', '=', sessionOwner({ callerId: KEY, sessionId }))
    return (await rows.execute()).map(({ day, charged_micros, recorded_micros, beyond_micros }) => ({
      day,
      micros: Number(charged_micros) + Number(recorded_micros),
      beyond: Number(beyond_micros),
    }))
  }

  it('lets as many calls of two processes through as the session has left, and new sessions as the key has', async (t) => {
    const store = await open(t)
    await limits(store, { [KEY]: 2_000 })
    await store.db.insertInto('budgets').values({ owner: KEY, per: 'day', micros: 3_000 }).execute()
    const processes = [processOn(store), processOn(store)] as const
    const from = (sessionId: (i: number) => string) => (i: number) =>
      processes[i % 2 === 0 ? 0 : 1].reserve(payer(sessionId(i)), 100)
    assert.deepEqual(await many(from(() => 'one')), { through: 20, refused: ['session_budget_reached'] })
    assert.deepEqual(await many(from((i) => `new-${i}`)), { through: 10, refused: ['budget_reached'] })
    for (const { close } of processes) await close()
  })

  it('holds each session of a group to the tighter of two limits, and adds what an admin raises at once', async (t) => {
    const store = await open(t)
    await limits(store, { [KEY]: 5_000, [GROUP]: 300 })
    const { reserve, close } = processOn(store)
    const three = { through: 3, refused: ['session_budget_reached'] }
    assert.deepEqual(await many(() => reserve(payer('same'), 100)), three)
    assert.deepEqual(await many(() => reserve(payer('same', OTHER), 100)), three, 'another key has its own')
    await store.db.updateTable('session_states').set({ raised_micros: 200 }).where('caller_id', '=', KEY).execute()
    assert.deepEqual(await many(() => reserve(payer('same'), 100)), { ...three, through: 2 })
    await close()
  })

  it('counts calls that are recorded, charged, or lost with their process in their session alone', async (t) => {
    const store = await open(t)
    await limits(store, { [KEY]: 1_000 })
    const { reserve, close } = processOn(store)
    const recorded = await reserve(payer('recorded'), 400)
    const spend = recorded.take(400)
    recorded.end()
    await store.write((trx) => writeCallSpending(trx, [{ ...spend, micros: 1_100, beyondMicros: 700 }]))
    spend.written()
    assert.deepEqual(await spentBy(store, 'recorded'), [{ day: 'total', micros: 1_100, beyond: 700 }])
    await assert.rejects(async () => reserve(payer('recorded'), 1), /0 USD is left of the budget of this session/)

    const receipt = (callId: string) => ({
      ...receiptOf({ call_id: callId, caller_id: KEY, at: AT, counted_on: DAY }),
      group_id: GROUP,
      upstream_cost_micros: 90,
      margin_micros: 10,
    })
    const { spender } = payer('charged')
    const lost = { allowanceId: 'alw_lost', receipt: receipt('call_lost'), session: spender.session }
    await store.write((trx) => recordUncharged(trx, [lost], store.engine))
    const credit = { ...payer('charged'), creditMicros: 1_000 }
    const charged = await reserve(credit, 100)
    const { allowanceId, written } = charged.take(100)
    charged.end()
    const session = spender.session
    await createCharges(store)({ allowanceId: allowanceId as string, receipt: receipt('call_charged'), session })
    written()
    assert.deepEqual(await spentBy(store, 'charged'), [{ day: 'total', micros: 190, beyond: 0 }])
    await close()
  })

  it('forgets a session that is over with what it spent, and none that is stopped', async (t) => {
    const store = await open(t)
    await limits(store, { [KEY]: 1_000 })
    const { reserve, close } = processOn(store)
    for (const sessionId of ['over', 'stopped']) {
      const call = await reserve(payer(sessionId), 900)
      const spend = call.take(900)
      call.end()
      await store.write((trx) => writeCallSpending(trx, [spend]))
      spend.written()
    }
    await close()
    await store.db.updateTable('session_states').set({ stopped_at: AT }).where('session_id', '=', 'stopped').execute()
    const after = (days: number) => new Date(Date.parse(AT) + days * 86_400_000)
    assert.equal(await forgetSessions(store, after(30), 10), 0)
    assert.equal(await forgetSessions(store, after(31), 10), 1)
    assert.deepEqual([await spentBy(store, 'over'), (await spentBy(store, 'stopped')).length], [[], 1])
    assert.equal(await forgetSessions(store, after(31), 10), 0)
  })

  it('names sessions so that no id of a client reads as another key', async (t) => {
    const store = await open(t)
    const session = { callerId: KEY, sessionId: 'a:b/session:key_others:c' }
    assert.deepEqual(sessionIn(sessionOwner(session)), session)
    for (const calls of [1, 1, -1]) await store.write((trx) => noteUse(trx, session, { at: AT, calls }))
    const [state] = await store.db.selectFrom('session_states').selectAll().execute()
    assert.deepEqual([state?.session_id, Number(state?.calls), state?.started_at], [session.sessionId, 1, AT])
  })
}
