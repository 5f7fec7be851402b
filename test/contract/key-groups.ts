import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCalls } from '../../src/calls/calls.ts'
import { createGroups } from '../../src/identity/groups.ts'
import { createKeys, type Keys } from '../../src/identity/keys.ts'
import type { Spent } from '../../src/identity/spend.ts'
import type { Store } from '../../src/store/store.ts'
import { callOf } from './calls.ts'

const DAILY = { usd: 5, per: 'day' as const }
const TOTAL = { usd: 100, per: 'total' as const }
const SPENT: Spent = { day: 1, week: 20_000, month: 3_000_000, total: 4_000_001, debt: 7 }
const NOTHING = { day_usd: 0, week_usd: 0, month_usd: 0, total_usd: 0 }

const now = () => new Date('2026-11-21T07:05:00.000Z')
const onError = (error: unknown) => assert.fail(String(error))

/** Tests of key groups, for every engine. `open` opens an empty store. */
export function keyGroupsContract(open: () => Promise<Store>): void {
  describe('groups of keys', () => {
    async function start() {
      const store = await open()
      const keys = createKeys({ store, now, fixedKey: null, onError })
      return { store, keys, groups: createGroups({ store, now, onChanged: keys.groupChanged }) }
    }

    it('are made, listed newest first with their keys, changed and deleted', async () => {
      const { store, keys, groups } = await start()
      const made = await groups.create({ name: 'team', budgets: [TOTAL, DAILY] })
      const record = {
        name: 'team',
        budgets: [DAILY, TOTAL],
        limits: { session_usd: null, session_calls: null, session_minutes: null, repeats: null },
        alerts: [],
        keys: 0,
        spend: NOTHING,
        debt_usd: 0,
        presumed_usd: 0,
        created_at: now().toISOString(),
      }
      assert.deepEqual(made, { ...record, id: made.id })
      assert.match(made.id, /^grp_[0-9a-f]{32}$/)
      const other = await groups.create({ name: 'other' })
      const inside = [
        await keys.create({ name: 'a', group: 'team' }),
        await keys.create({ name: 'b', group: made.id }),
        await keys.create({ name: 'c' }),
      ]
      assert.deepEqual(
        inside.map((key) => key.record.group),
        [made.id, made.id, null],
      )
      assert.deepEqual((await groups.list({ limit: 10 })).items, [other, { ...made, keys: 2 }])
      const { items, total, next_cursor } = await groups.list({ limit: 1 })
      assert.deepEqual([items, total], [[other], 2])
      assert.deepEqual((await groups.list({ limit: 1, cursor: next_cursor ?? '' })).items, [{ ...made, keys: 2 }])

      const renamed = await groups.change(made.id, { name: 'research' })
      assert.deepEqual(renamed, { ...made, name: 'research', keys: 2 })
      assert.deepEqual(await groups.find('research'), renamed)
      assert.equal(await groups.find('team'), null)
      assert.deepEqual((await groups.change(made.id, { budgets: [] })).budgets, [])
      const alerts = [{ at: 1 }, { at: 0.07, of: 'budget' as const }]
      const alerted = await groups.change(made.id, { alerts })
      assert.deepEqual(alerted.alerts, [
        { at: 0.07, of: 'budget' },
        { at: 1, of: 'budget' },
      ])
      for (const at of [0, 0.001, 0.805, 1.01])
        await assert.rejects(groups.change(made.id, { alerts: [{ at }] }), { code: 'validation_failed' })
      await assert.rejects(groups.change(made.id, { alerts: [{ at: 1 }, { at: 1 }] }), { code: 'validation_failed' })
      assert.deepEqual((await groups.change(made.id, { alerts: [] })).alerts, [])
      await groups.remove(other.id)
      assert.deepEqual((await groups.list({ limit: 10 })).total, 1)
      await store.close()
    })

    it('are refused without sense, and under the name of another one', async () => {
      const { store, groups } = await start()
      const { id } = await groups.create({ name: 'team' })
      const other = await groups.create({ name: 'other' })
      await assert.rejects(groups.create({ name: 'team' }), { code: 'conflict', param: 'name' })
      await assert.rejects(groups.change(other.id, { name: 'team' }), { code: 'conflict', param: 'name' })
      assert.equal((await groups.change(id, { name: 'team' })).name, 'team')
      await assert.rejects(groups.create({ name: id }), { code: 'validation_failed', param: 'name' })
      await assert.rejects(groups.change(id, {}), { code: 'validation_failed' })
      await assert.rejects(groups.change(id, { budgets: [DAILY, DAILY] }), { param: 'budgets.1.per' })
      await assert.rejects(groups.change(id, { budgets: [{ usd: 0, per: 'day' }] }), { param: 'budgets.0.usd' })
      const unknown = `grp_${'0'.repeat(32)}`
      await assert.rejects(groups.change(unknown, { name: 'x' }), { code: 'not_found' })
      await assert.rejects(groups.remove(unknown), { code: 'not_found' })
      await store.close()
    })

    it('give each name to one of many who ask for it at once', async () => {
      const { store, groups } = await start()
      const ids: string[] = []
      for (const name of ['a', 'b', 'c', 'd']) ids.push((await groups.create({ name })).id)
      const asked = [...ids.map((id) => groups.change(id, { name: 'same' })), groups.create({ name: 'same' })]
      const outcomes = await Promise.allSettled(asked)
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
      assert.deepEqual(refused, ['conflict', 'conflict', 'conflict', 'conflict'])
      await store.close()
    })

    it('stay while keys are in them that are not revoked', async () => {
      const { store, keys, groups } = await start()
      const { id } = await groups.create({ name: 'team', budgets: [DAILY] })
      const [one, two] = [await keys.create({ name: 'a', group: id }), await keys.create({ name: 'b', group: id })]
      const refusal = { code: 'conflict', status: 409 }
      await assert.rejects(groups.remove(id), {
        ...refusal,
        message: /^2 keys are in this group\. Revoke them, or take/,
      })
      await keys.change(one.record.id, { group: null })
      await assert.rejects(groups.remove(id), { ...refusal, message: /^1 key is in this group\. Revoke it, or take/ })
      await keys.revoke(two.record.id)
      await groups.remove(id)
      assert.deepEqual(await store.db.selectFrom('budgets').selectAll().execute(), [])
      await assert.rejects(keys.change(one.record.id, { group: id }), { code: 'validation_failed', param: 'group' })
      await store.close()
    })

    it('never lose a key that is put into them as they are deleted', async () => {
      const { store, keys, groups } = await start()
      for (let i = 0; i < 10; i++) {
        const { id } = await groups.create({ name: `g${i}` })
        const [put, removed] = await Promise.allSettled([keys.create({ name: 'k', group: id }), groups.remove(id)])
        assert.notEqual(put.status, removed.status)
        assert.equal((await groups.find(id)) === null, removed.status === 'fulfilled')
      }
      await store.close()
    })

    it('hold their keys to their budgets: at once here, and elsewhere once the key is read again', async () => {
      const { store, keys, groups } = await start()
      let elapsed = 0
      const elsewhere = createKeys({ store, now, fixedKey: null, onError, elapsedMs: () => elapsed })
      const { id } = await groups.create({ name: 'team', budgets: [DAILY] })
      const { key, record } = await keys.create({ name: 'a', group: id, limits: { budgets: [TOTAL] } })
      const held = async (by: Keys) => (await by.identity(record.id))?.group
      const daily = { id, budgets: [{ per: 'day', micros: 5_000_000 }] }
      assert.deepEqual((await keys.authenticate(key)).budgets, [{ per: 'total', micros: 100_000_000 }])
      assert.deepEqual([await held(keys), await held(elsewhere)], [daily, daily])
      await groups.change(id, { budgets: [{ usd: 1, per: 'week' }] })
      const weekly = { id, budgets: [{ per: 'week', micros: 1_000_000 }] }
      assert.deepEqual([await held(keys), keys.authenticateCached(key)?.group], [weekly, weekly])
      elapsed = 3_999
      await held(elsewhere)
      elapsed = 4_000
      assert.deepEqual(await held(elsewhere), weekly)
      await keys.change(record.id, { group: null })
      assert.equal(await held(keys), null)
      await Promise.all([keys.close(), elsewhere.close()])
      await store.close()
    })

    it('hold each session of their keys to the tighter limits, until they are removed', async () => {
      const { store, keys, groups } = await start()
      const { id, limits } = await groups.create({
        name: 'team',
        limits: { session_usd: 2, session_minutes: 30, repeats: { times: 5, minutes: 10 } },
      })
      const repeats = { times: 5, minutes: 10 }
      assert.deepEqual(limits, { session_usd: 2, session_calls: null, session_minutes: 30, repeats })
      const own = { session_usd: 3, session_calls: 10, session_minutes: 20, repeats: { times: 3, minutes: 60 } }
      const { key, record } = await keys.create({ name: 'a', group: id, limits: own })
      const limitsOf = async () => (await keys.authenticate(key)).sessionLimits
      assert.deepEqual(await limitsOf(), { micros: 2_000_000, calls: 10, minutes: 20, repeats: own.repeats })
      const changed = await groups.change(id, { limits: { session_usd: 4, session_minutes: null } })
      assert.deepEqual(changed.limits, { session_usd: 4, session_calls: null, session_minutes: null, repeats })
      assert.deepEqual(await limitsOf(), { micros: 3_000_000, calls: 10, minutes: 20, repeats: own.repeats })
      const none = { session_usd: null, session_calls: null, session_minutes: null, repeats: null }
      assert.deepEqual((await keys.change(record.id, { limits: none })).limits, { ...record.limits, ...none })
      assert.deepEqual(await limitsOf(), { micros: 4_000_000, calls: null, minutes: null, repeats })
      await keys.change(record.id, { group: null })
      assert.equal(await limitsOf(), null)
      await keys.revoke(record.id)
      await groups.remove(id)
      assert.deepEqual(await store.db.selectFrom('session_limits').selectAll().execute(), [])
      await assert.rejects(groups.create({ name: 'b', limits: { session_usd: 0 } }), { param: 'limits.session_usd' })
      await keys.close()
      await store.close()
    })

    it('and keys show what they have spent', async () => {
      const { store } = await start()
      const asked: string[][] = []
      const spendOf = async (ids: readonly string[], at: Date) => {
        assert.deepEqual(at, now())
        asked.push([...ids])
        return new Map(ids.slice(0, 1).map((id) => [id, SPENT] as const))
      }
      const keys = createKeys({ store, now, fixedKey: null, onError, spendOf })
      const groups = createGroups({ store, now, spendOf })
      const ids = [await keys.create({ name: 'a' }), await keys.create({ name: 'b' })].map(({ record }) => record.id)
      const { id } = await groups.create({ name: 'team' })
      const spent = { day_usd: 0.000001, week_usd: 0.02, month_usd: 3, total_usd: 4.000001 }
      assert.deepEqual(
        (await keys.list({ limit: 2 })).items.map(({ spend }) => spend),
        [spent, NOTHING],
      )
      const [shown] = (await groups.list({ limit: 1 })).items
      assert.deepEqual([shown?.spend, shown?.debt_usd], [spent, 0.000007])
      assert.deepEqual(
        (await keys.list({ limit: 2 })).items.map(({ debt_usd }) => debt_usd),
        [0.000007, 0],
      )
      assert.deepEqual(asked, [ids.toReversed(), [id], ids.toReversed()])
      await store.close()
    })

    it('have calls and statistics however many keys are in them', async () => {
      const { store, keys, groups } = await start()
      const { id: group } = await groups.create({ name: 'crowd' })
      const { record } = await keys.create({ name: 'first', group })
      const key = await store.db.selectFrom('keys').selectAll().where('id', '=', record.id).executeTakeFirstOrThrow()
      // PostgreSQL takes 65,535 parameters, and SQLite half of them.
      const many = store.engine === 'sqlite' ? 33_000 : 66_000
      for (let made = 0; made < many; made += 1000) {
        const more = Array.from({ length: 1000 }, (_, i) => `${made + i}`)
        const rows = more.map((name) => ({ ...key, id: `key_${name}`, hash: name, name }))
        await store.db.insertInto('keys').values(rows).execute()
      }
      const calls = createCalls({ store, onError })
      for (const caller of [record.id, `key_${many - 1}`, 'key_outside']) calls.record(callOf(caller))
      const { items, total } = await calls.history({ group, limit: 5 })
      assert.deepEqual(
        [items.map(({ caller_id }) => caller_id).sort(), total],
        [[`key_${many - 1}`, record.id].sort(), 2],
      )
      assert.equal((await calls.stats({ group })).totals.calls, 2)
      assert.equal((await calls.history({ group, status: callOf('key_0').status, limit: 5 })).total, 2)
      assert.equal((await calls.fallbacks({ group }))?.fallen_back, 0)
      await store.close()
    })
  })
}
