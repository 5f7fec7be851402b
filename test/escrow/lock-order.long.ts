import assert from 'node:assert/strict'
import { it } from 'node:test'
import pg from 'pg'
import type { Caller } from '../../src/escrow/escrow.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { until } from '../doubles/until.ts'
import { type Works, worksOn } from '../tasks/setup.ts'

const WRITERS = 8
const EACH = 10
const PAIRS = 12

const server = await sharedPostgres()

it('a payer with a daily budget makes tasks and paid calls at once, and none waits crosswise for another', async (t) => {
  const url = await server.databaseWithTables()
  const store = await openStore(url)
  t.after(() => store.close())
  const works = worksOn(store)
  const payer = await works.payer(100, { budgets: [{ usd: 100, per: 'day' }] })
  const reservations = createReservations({
    store,
    now: works.clock.now,
    onError: (error) => assert.fail(String(error)),
  })
  const caller = { spender: { id: payer.id, groupId: null }, creditMicros: 0, budgets: 'some' }

  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; i < EACH; i++) {
        if (writer % 2 === 0) await works.create(payer, { reward_usd: 0.01 })
        else {
          const reservation = await reservations.reserve(caller, 1000)
          reservation.end()
          await reservations.giveBackIdle(payer.id)
        }
      }
    }),
  )

  await reservations.close()
  assert.equal(await works.left(payer), 100 - (WRITERS / 2) * EACH * 0.01)
  await works.audit()
  await store.close()
  assert.equal(await deadlocks(url), 0)
})

it('tasks and their dependents are cancelled at once, without a deadlock', async (t) => {
  const url = await server.databaseWithTables()
  const store = await openStore(url)
  t.after(() => store.close())
  const works = worksOn(store)
  const payer = await works.payer(100, { budgets: [{ usd: 100, per: 'day' }] })
  const pairs = await Promise.all(Array.from({ length: PAIRS }, () => pair(works, payer)))

  await allOrLate(pairs.flat().map(({ id }) => works.tasks.cancel(id, payer)))

  for (const { id } of pairs.flat()) assert.equal((await works.tasks.get(id, null)).status, 'cancelled')
  assert.equal(await works.left(payer), 100)
  await works.audit()
  await store.close()
  assert.equal(await deadlocks(url), 0)
})

it('tasks of several payers end in every way at once, and none waits crosswise for another', async (t) => {
  const url = await server.databaseWithTables()
  const store = await openStore(url)
  t.after(() => store.close())
  const works = worksOn(store)
  const payers = [await works.payer(100), await works.payer(100)] as const
  const ended = await Promise.all(
    Array.from({ length: PAIRS }, async (_, i) => {
      const [payer, other] = i % 2 === 0 ? payers : payers.toReversed()
      const [first, second] = await pair(works, payer as Caller)
      const both = { reward_usd: 0.1, depends_on: [first.id, second.id], ttl_seconds: 60 }
      const last = await works.create(other as Caller, both)
      const roots = await Promise.all([0, 1].map(() => works.create(payer as Caller, { reward_usd: 0.2 })))
      const join = { reward_usd: 0.3, depends_on: roots.map(({ id }) => id) }
      const joins = await Promise.all([0, 1].map(() => works.create(other as Caller, join)))
      for (const root of roots) await works.claim(root, payer as Caller)
      await works.claim(first, payer as Caller)
      return { payer: payer as Caller, other: other as Caller, first, second, last, roots, joins }
    }),
  )
  works.clock.pass(61)

  await allOrLate(
    ended.flatMap(({ payer, other, first, second, last, roots, joins }, i) => [
      works.complete(first, payer, { status: 'failed' }),
      works.tasks.cancel(second.id, payer),
      works.tasks.cancel(last.id, other),
      works.escrows.refund(last.escrow_id ?? '', {}, other),
      works.escrows.expire(500),
      ...roots.map((root) => works.complete(root, payer, i % 3 === 0 ? { status: 'failed' } : {})),
      ...(i % 4 === 0 ? joins.map(({ id }) => works.tasks.cancel(id, other)) : []),
    ]),
  )

  assert.deepEqual(await works.escrows.verify(), [])
  await works.audit()
  await store.close()
  assert.equal(await deadlocks(url), 0)
})

/** A task, and one that waits for it. */
async function pair(works: Works, payer: Caller) {
  const first = await works.create(payer, { title: 'r', reward_usd: 0.5 })
  const second = await works.create(payer, { title: 'c', reward_usd: 0.25, depends_on: [first.id] })
  return [first, second] as const
}

/** Waits for all; of those that fail, each came after another one. */
async function allOrLate(calls: ReadonlyArray<Promise<unknown>>): Promise<void> {
  for (const call of await Promise.allSettled(calls))
    if (call.status === 'rejected') assert.equal(call.reason.status, 409, String(call.reason))
}

/** Counts the deadlocks of a database. A connection reports its own on close, so all others must be closed. */
async function deadlocks(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const one = async (query: string): Promise<number> => (await client.query(query)).rows[0].count
  const others = `select count(*)::int from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
  await until(async () => (await one(others)) === 0, { what: 'the end of all other connections' })
  const found = await one('select deadlocks::int as count from pg_stat_database where datname = current_database()')
  await client.end()
  return found
}
