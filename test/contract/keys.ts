import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createIdempotency, type Idempotency, type Keep, type WorkReply } from '../../src/idempotency/idempotency.ts'
import { createKeys, type Keys } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'

const onError = (error: unknown) => assert.fail(String(error))

/** Tests of API keys and idempotency keys, for every engine. `open` opens an empty store. */
export function keysContract(open: () => Promise<Store>): void {
  describe('keys', () => {
    const now = () => new Date()

    it('are made, listed newest first, used and revoked', async () => {
      const store = await open()
      const keys = createKeys({ store, now, fixedKey: null, onError })
      const made = []
      for (const name of ['one', 'two', 'three']) made.push(await keys.create({ name, scopes: ['inference'] }))
      const first = await keys.list({ limit: 2 })
      assert.deepEqual([first.total, first.items.map((item) => item.name)], [3, ['three', 'two']])
      const rest = await keys.list({ limit: 2, cursor: first.next_cursor ?? '' })
      assert.deepEqual(
        rest.items.map((item) => item.name),
        ['one'],
      )
      const { key, record } = made[0] ?? assert.fail()
      assert.equal((await keys.authenticate(key)).id, record.id)
      const revoked = await keys.revoke(record.id)
      assert.match(revoked.revoked_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.equal((await keys.revoke(record.id)).revoked_at, revoked.revoked_at)
      await assert.rejects(keys.authenticate(key), { code: 'invalid_api_key' })
      await keys.close()
      const used = await store.db.selectFrom('keys').select('last_used_at').where('id', '=', record.id).execute()
      assert.match(used[0]?.last_used_at ?? '', /Z$/)
      const unused = await keys.list({ limit: 5, unused_since: '2999-01-01T00:00:00Z' })
      assert.deepEqual([unused.total, unused.items.map(({ name }) => name)], [2, ['three', 'two']])
      assert.equal((await keys.list({ limit: 5, unused_since: '2000-01-01T00:00:00Z' })).total, 0)
      await store.close()
    })

    it('have limits and names that can be changed, which revoked ones have not', async () => {
      const store = await open()
      const keys = createKeys({ store, now, fixedKey: null, onError })
      const { record } = await keys.create({ name: 'agent', limits: { credit_limit_usd: 1 } })
      const budgets = [
        { usd: 0.25, per: 'day' as const },
        { usd: 5, per: 'total' as const },
      ]
      const limited = await keys.change(record.id, { limits: { budgets: budgets.toReversed(), concurrent: 4 } })
      assert.deepEqual(limited, { ...record, limits: { ...record.limits, budgets, concurrent: 4 } })
      const terms = {
        billing: 'cost' as const,
        models: ['gpt-*', 'm'],
        lenient: true,
        cache: 'off' as const,
        expires_at: '2999-01-31T00:00:00.000Z',
      }
      assert.deepEqual(await keys.change(record.id, terms), { ...limited, ...terms })
      const freed = await keys.change(record.id, {
        name: 'agents',
        limits: { credit_limit_usd: null, budgets: [] },
        models: null,
        lenient: false,
        cache: 'auto',
        expires_at: null,
      })
      const none = { ...record.limits, credit_limit_usd: null, concurrent: 4 }
      assert.deepEqual(freed, { ...record, name: 'agents', billing: 'cost', limits: none })
      assert.deepEqual((await keys.list({ limit: 1 })).items, [freed])
      await assert.rejects(keys.change(record.id, {}), { code: 'validation_failed' })
      const tooFine = { limits: { credit_limit_usd: 0.000_000_1 } }
      await assert.rejects(keys.change(record.id, tooFine), { param: 'limits.credit_limit_usd' })
      await assert.rejects(keys.change(record.id, { expires_at: '2020-01-31T00:00:00Z' }), { param: 'expires_at' })
      await assert.rejects(keys.change(`key_${'0'.repeat(32)}`, { name: 'x' }), { code: 'not_found' })
      await keys.revoke(record.id)
      await assert.rejects(keys.change(record.id, { limits: { credit_limit_usd: 5 } }), { code: 'conflict' })
      await keys.close()
      await store.close()
    })

    it('keep what each of many who change them at once has named', async () => {
      const store = await open()
      const [here, there] = [0, 1].map(() => createKeys({ store, now, fixedKey: null, onError })) as [Keys, Keys]
      const { record } = await here.create({ name: 'agent', limits: { budgets: [{ usd: 9, per: 'day' }] } })
      const budgetsOf = (usd: number) => [
        { usd, per: 'day' as const },
        { usd, per: 'month' as const },
      ]
      const amounts = [1, 2, 3, 4, 5, 6]
      await Promise.all([
        ...amounts.map((usd) => (usd % 2 ? here : there).change(record.id, { limits: { budgets: budgetsOf(usd) } })),
        here.change(record.id, { limits: { concurrent: 3 } }),
        there.change(record.id, { limits: { requests_per_minute: 7 }, models: ['m'] }),
      ])
      const [changed] = (await here.list({ limit: 1 })).items
      const usd = changed?.limits.budgets[0]?.usd ?? 0
      assert.ok(amounts.includes(usd), `${usd}`)
      const limits = { ...record.limits, budgets: budgetsOf(usd), concurrent: 3, requests_per_minute: 7 }
      assert.deepEqual(changed, { ...record, limits, models: ['m'] })
      assert.deepEqual((await there.identity(record.id))?.budgets, [
        { per: 'day', micros: usd * 1_000_000 },
        { per: 'month', micros: usd * 1_000_000 },
      ])
      for (const keys of [here, there]) await keys.close()
      await store.close()
    })

    it('get a new secret, and are opened by the one before it until the grace ends', async () => {
      const store = await open()
      let clock = new Date('2026-11-21T07:05:00.000Z')
      const keys = createKeys({ store, now: () => clock, fixedKey: null, onError })
      const { key: first, record } = await keys.create({ name: 'agent' })
      const rotated = await keys.rotate(record.id, { grace_seconds: 60 })
      assert.deepEqual(rotated.record, { ...record, rotated_at: clock.toISOString() })
      assert.equal(rotated.previousExpiresAt, '2026-11-21T07:06:00.000Z')
      for (const token of [first, rotated.key]) assert.equal((await keys.authenticate(token)).id, record.id)
      clock = new Date('2026-11-21T07:05:59.999Z')
      assert.ok(keys.authenticateCached(first), 'the grace ended early')
      clock = new Date('2026-11-21T07:06:00.000Z')
      await assert.rejects(keys.authenticate(first), { code: 'invalid_api_key' })
      const { key: third } = await keys.rotate(record.id, {})
      const { key: fourth } = await keys.rotate(record.id, {})
      await assert.rejects(keys.authenticate(rotated.key), { code: 'invalid_api_key' })
      for (const token of [third, fourth]) assert.equal((await keys.authenticate(token)).id, record.id)
      const last = await keys.rotate(record.id, { grace_seconds: 0 })
      assert.equal(last.previousExpiresAt, null)
      await assert.rejects(keys.authenticate(fourth), { code: 'invalid_api_key' })
      await keys.rotate(record.id, {})
      await keys.revoke(record.id)
      await assert.rejects(keys.authenticate(last.key), { code: 'invalid_api_key' })
      await assert.rejects(keys.rotate(record.id, {}), { code: 'conflict' })
      await assert.rejects(keys.rotate(`key_${'0'.repeat(32)}`, {}), { code: 'not_found' })
      await keys.close()
      await store.close()
    })

    it('are refused once they have expired, until their end is moved', async () => {
      const store = await open()
      let clock = new Date('2026-11-21T07:05:00.000Z')
      const keys = createKeys({ store, now: () => clock, fixedKey: null, onError })
      const made = { name: 'agent', scopes: ['admin' as const], expires_at: '2026-11-21T08:05:01+01:00' }
      const { key, record } = await keys.create(made)
      assert.equal(await keys.hasAdmin(), true)
      assert.equal((await keys.authenticate(key)).expiresAt, '2026-11-21T07:05:01.000Z')
      clock = new Date('2026-11-21T07:05:01.000Z')
      assert.equal(keys.authenticateCached(key), null)
      const refusal = {
        code: 'key_expired',
        status: 401,
        message: /expired at 2026-11-21T07:05:01\.000Z.*gazeway key edit/,
      }
      await assert.rejects(keys.authenticate(key), refusal)
      await assert.rejects(async () => keys.identity(record.id), refusal)
      assert.deepEqual([await keys.inForce({ id: record.id }), await keys.hasAdmin()], [[], false])
      await assert.rejects(keys.rotate(record.id, {}), { code: 'conflict', message: /expires_at/ })
      await keys.change(record.id, { expires_at: '2026-11-21T07:06:00Z' })
      assert.equal((await keys.authenticate(key)).id, record.id)
      await keys.close()
      await store.close()
    })

    it('have one first among processes that start together', async () => {
      const store = await open()
      const dataDir = mkdtempSync(join(tmpdir(), 'gazeway-first-'))
      const several = Array.from({ length: 6 }, () => createKeys({ store, now, fixedKey: null, onError }))
      const tokens = await Promise.all(several.map((keys) => keys.ensureFirstKey({ dataDir })))
      assert.equal(tokens.filter((token) => token !== null).length, 1)
      assert.equal((await several[0]?.list({ limit: 10 }))?.total, 1)
      for (const keys of several) await keys.close()
      await store.close()
      rmSync(dataDir, { recursive: true })
    })
  })

  describe('an idempotency key', () => {
    it('lets one of many requests at once do the work, and gives its reply again', async () => {
      const store = await open()
      let at = Date.parse('2026-11-21T07:17:52.000Z')
      const idempotency: Idempotency = createIdempotency({ store, now: () => new Date(at), onError })
      const request = { scope: 'key_1', key: 'k', route: 'POST /x', body: '{}' }
      let done = 0
      const work = async () => {
        done++
        return { status: 201, headers: { 'x-a': 'é' }, body: '{"n": 1}' }
      }
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => idempotency.run(request, work)))
      assert.equal(done, 1)
      assert.ok(outcomes.some((outcome) => outcome.status === 'fulfilled' && !outcome.value.replayed))
      assert.deepEqual(await idempotency.run(request, work), {
        reply: { status: 201, headers: { 'x-a': 'é' }, body: '{"n": 1}' },
        replayed: true,
      })
      await assert.rejects(idempotency.run({ ...request, body: '{"other":1}' }, work), {
        code: 'idempotency_key_reused',
      })
      assert.equal(await idempotency.sweep(10), 0)
      at += 86_400_000
      assert.equal(await idempotency.sweep(10), 1)
      await idempotency.run(request, work)
      assert.equal(done, 2)
      await store.close()
    })

    it('keeps a reply together with what its work did, or neither', async () => {
      const store = await open()
      const at = Date.parse('2026-11-21T07:17:52.000Z')
      const later = (ms: number) => createIdempotency({ store, now: () => new Date(at + ms), onError })
      const request = { scope: 'key_1', key: 'k', route: 'POST /x', body: '{}' }
      const [made, again] = [
        { status: 201, headers: {}, body: '"made"' },
        { status: 201, headers: {}, body: '"made again"' },
      ]
      const making = (name: string, keep: Keep<WorkReply>, reply: WorkReply) =>
        store.write(async (trx) => {
          await trx
            .insertInto('sweeps')
            .values({ name, next_at: new Date(at).toISOString() })
            .execute()
          await keep(trx, reply)
        })
      const effects = async () => (await store.db.selectFrom('sweeps').select('name').execute()).map(({ name }) => name)

      // Nobody learns how the first ends; at the same moment, its reply is there.
      const first = later(0).run(request, async (keep) => {
        await making('first', keep, made)
        assert.deepEqual(await later(0).run(request, () => assert.fail('done again')), { reply: made, replayed: true })
        await assert.rejects(making('run again', keep, again), { code: 'idempotency_in_flight' })
        throw new Error('It died.')
      })
      await assert.rejects(first, /It died/)
      assert.deepEqual(await later(61_000).run(request, async () => again), { reply: made, replayed: true })
      assert.deepEqual(await effects(), ['first'])

      const other = { ...request, key: 'slow' }
      const slow = later(0).run(other, async (keep) => {
        await later(61_000).run(other, async (successor) => {
          await making('successor', successor, made)
          return made
        })
        await making('slow', keep, again)
        return again
      })
      await assert.rejects(slow, { code: 'idempotency_in_flight', retryAfterSeconds: 1 })
      assert.deepEqual(await effects(), ['first', 'successor'])
      assert.deepEqual((await later(0).run(other, async () => again)).reply, made)
      await store.close()
    })
  })
}
