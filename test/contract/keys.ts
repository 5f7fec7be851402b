import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createIdempotency, type Idempotency, type Keep, type WorkReply } from '../../src/idempotency/idempotency.ts'
import { createKeys } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'

const onError = (error: unknown) => assert.fail(String(error))

/** What every engine does with API keys and idempotency keys. `open` opens an empty store. */
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
      await store.close()
    })

    it('have limits and names that can be changed, which revoked ones have not', async () => {
      const store = await open()
      const keys = createKeys({ store, now, fixedKey: null, onError })
      const { record } = await keys.create({ name: 'agent', limits: { credit_limit_usd: 1 } })
      const daily = [{ usd: 0.25, per: 'day' as const }]
      const limited = await keys.change(record.id, { limits: { budgets: daily } })
      assert.deepEqual(limited, { ...record, limits: { ...record.limits, budgets: daily } })
      const freed = await keys.change(record.id, { name: 'agents', limits: { credit_limit_usd: null, budgets: null } })
      const none = { ...record.limits, credit_limit_usd: null }
      assert.deepEqual(freed, { ...record, name: 'agents', limits: none })
      assert.deepEqual((await keys.list({ limit: 1 })).items, [freed])
      await assert.rejects(keys.change(record.id, {}), { code: 'validation_failed' })
      await assert.rejects(keys.change(record.id, { limits: { credit_limit_usd: 0.000_000_1 } }), {
        param: 'limits.credit_limit_usd',
      })
      await assert.rejects(keys.change(`key_${'0'.repeat(32)}`, { name: 'x' }), { code: 'not_found' })
      await keys.revoke(record.id)
      await assert.rejects(keys.change(record.id, { limits: { credit_limit_usd: 5 } }), { code: 'conflict' })
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
