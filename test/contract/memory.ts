import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createMemory, MemoryInput, MemoryList, MemorySearch } from '../../src/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { runsOn } from './runs-on.ts'

const START = Date.parse('2026-11-21T07:17:52.000Z')

/** A memory service on a fresh store, with a clock that only the test moves. */
async function start(open: () => Promise<Store>) {
  const store = await open()
  let at = START
  const memory = createMemory({ store, now: () => new Date(at) })
  return {
    store,
    wait: (seconds: number) => {
      at += seconds * 1000
    },
    put: (input: Record<string, unknown>) => memory.store(MemoryInput.parse(input)),
    recall: async (key: string, namespace = 'default') => (await memory.recall({ key, namespace })).memory,
    find: (query: string, more: Record<string, unknown> = {}) => memory.search(MemorySearch.parse({ query, ...more })),
    list: (query: Record<string, unknown> = {}) => memory.recent(MemoryList.parse(query)),
    memory,
  }
}

/** Tests of memory, for every engine. `open` opens an empty store. */
export function memoryContract(open: () => Promise<Store>): void {
  describe('memory', () => {
    it('finds keys by how they begin, live ones, each once', async () => {
      const { store, put, memory, wait } = await start(open)
      for (const key of ['a/1', 'a/é', 'A/1', 'a', 'b', '%', 'a/🎉']) await put({ key, value: 1 })
      await put({ key: 'a/1', value: 1, namespace: 'other' })
      await put({ key: 'a/2', value: 1, namespace: 'other' })
      await put({ key: 'a/gone', value: 1, ttl_seconds: 1 })
      wait(2)
      assert.deepEqual(await memory.keys({ start: 'a/', limit: 10 }), ['a/1', 'a/2', 'a/é', 'a/🎉'])
      assert.deepEqual(await memory.keys({ start: 'a/', namespace: 'other', limit: 10 }), ['a/1', 'a/2'])
      assert.deepEqual(await memory.keys({ start: '', namespace: 'default', limit: 2 }), ['%', 'A/1'])
      assert.deepEqual(await memory.keys({ start: 'c', limit: 2 }), [])
      await store.close()
    })

    it('recalls any JSON value that it takes as it was stored', async () => {
      const { store, put, recall } = await start(open)
      await fc.assert(
        fc.asyncProperty(fc.jsonValue({ noUnicodeString: false, depthSize: 'small' }), async (value) => {
          fc.pre(MemoryInput.shape.value.safeParse(value).success)
          await put({ key: 'any', value })
          assert.equal(JSON.stringify((await recall('any'))?.value), JSON.stringify(value))
        }),
        { numRuns: runsOn(store, 40), endOnFailure: true },
      )
      for (const value of [
        'a\0b',
        '🎉 数据库',
        { z: 1, a: 2, 10: 3, 9: 4 },
        JSON.parse('{"__proto__":{"x":1},"in":{"__proto__":{"x":1}}}'),
        null,
        ...['x', '\n', '\u001b'].map((letter) => letter.repeat(256 * 1024)),
      ]) {
        await put({ key: 'odd 🎉 "key" %_*', value })
        assert.equal(JSON.stringify((await recall('odd 🎉 "key" %_*'))?.value), JSON.stringify(value))
      }
      await store.close()
    })

    it('raises the version and keeps id and creation when a key is stored again', async () => {
      const { store, put, recall, wait } = await start(open)
      const first = await put({ key: 'deploy/staging', value: 'eu-west', tags: ['deploy', 'deploy'], ttl_seconds: 60 })
      assert.deepEqual(first, {
        created: true,
        similar: [],
        memory: {
          id: first.memory.id,
          key: 'deploy/staging',
          namespace: 'default',
          project: null,
          value: 'eu-west',
          tags: ['deploy'],
          written_by: null,
          version: 1,
          created_at: '2026-11-21T07:17:52.000Z',
          updated_at: '2026-11-21T07:17:52.000Z',
          expires_at: '2026-11-21T07:18:52.000Z',
        },
      })
      wait(1)
      const again = await put({ key: 'deploy/staging', value: 'us-east' })
      assert.deepEqual(again, {
        created: false,
        similar: [],
        memory: {
          ...first.memory,
          value: 'us-east',
          version: 2,
          updated_at: '2026-11-21T07:17:53.000Z',
          expires_at: null,
        },
      })
      assert.deepEqual(await recall('deploy/staging'), again.memory)
      assert.deepEqual((await put({ key: 'deploy/staging', value: 1, tags: [] })).memory.tags, [])
      await store.close()
    })

    it('stores only at the expected version, and changes nothing otherwise', async () => {
      const { store, put, recall, find } = await start(open)
      await assert.rejects(put({ key: 'a', value: 'new', if_version: 1 }), {
        code: 'version_conflict',
        param: 'if_version',
      })
      assert.equal(await recall('a'), null)
      await put({ key: 'a', value: 'first', if_version: 0 })
      await assert.rejects(put({ key: 'a', value: 'other', if_version: 0 }), { code: 'version_conflict' })
      await put({ key: 'a', value: 'second', if_version: 1 })
      await assert.rejects(put({ key: 'a', value: 'other', if_version: 1 }), /is at version 2, not at version 1/)
      assert.equal((await recall('a'))?.value, 'second')
      assert.equal((await find('other')).total, 0)
      await store.close()
    })

    it('keeps namespaces apart', async () => {
      const { store, put, recall, find, list } = await start(open)
      await put({ key: 'k', value: 'one', namespace: 'a b' })
      await put({ key: 'k', value: 'two', namespace: 'A-b' })
      assert.equal((await recall('k', 'a b'))?.value, 'one')
      assert.equal((await recall('k', 'A-b'))?.version, 1)
      assert.equal(await recall('k'), null)
      assert.equal((await list({ namespace: 'a b' })).total, 1)
      assert.equal((await find('two', { namespace: 'a b' })).total, 0)
      assert.equal((await find('two', { namespace: 'A-b' })).total, 1)
      await store.close()
    })

    it('counts every one of many concurrent stores of one key', async () => {
      const { store, put, recall, memory } = await start(open)
      const versions = await Promise.all(
        Array.from({ length: 60 }, (_, i) => put({ key: 'hot', value: i }).then((kept) => kept.memory.version)),
      )
      assert.deepEqual(
        versions.toSorted((a, b) => a - b),
        Array.from({ length: 60 }, (_, i) => i + 1),
      )
      assert.equal((await recall('hot'))?.version, 60)
      assert.equal((await memory.stats()).count, 1)
      await store.close()
    })

    it('lets one of many concurrent stores with the same if_version win', async () => {
      const { store, put, recall } = await start(open)
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => put({ key: 'once', value: i, if_version: 0 })),
      )
      assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
      assert.equal((await recall('once'))?.version, 1)
      await store.close()
    })

    it('forgets a memory at the moment it expires, for every reader', async () => {
      const { store, put, recall, find, list, memory, wait } = await start(open)
      const { memory: kept } = await put({ key: 'token', value: 'shortlived', tags: ['t'], ttl_seconds: 10 })
      await put({ key: 'other', value: 'lasting' })
      wait(9.999)
      assert.equal((await recall('token'))?.value, 'shortlived')
      wait(0.001)
      assert.equal(await recall('token'), null)
      assert.equal((await find('shortlived')).total, 0)
      assert.deepEqual(
        (await list()).items.map((item) => item.key),
        ['other'],
      )
      assert.equal((await list()).total, 1)
      assert.equal((await list({ tag: 't' })).total, 0)
      const stats = await memory.stats()
      assert.deepEqual(stats.namespaces, { default: 1 })
      await assert.rejects(memory.remove(kept.id), { code: 'not_found' })

      const { memory: anew, created } = await put({ key: 'token', value: 'again', if_version: 0 })
      assert.deepEqual([created, anew.version, anew.tags, anew.expires_at], [true, 1, [], null])
      assert.notEqual(anew.id, kept.id)
      await store.close()
    })

    it('sweeps expired memories in bounded batches, a few with every store', async () => {
      const { store, put, memory, wait } = await start(open)
      for (let i = 0; i < 20; i++) await put({ key: `k${i}`, value: i, tags: ['old'], ttl_seconds: 1 })
      wait(1)
      assert.equal(await memory.sweep(5), 5)
      await put({ key: 'fresh', value: 'x' })
      const left = await store.db.selectFrom('memories').select('key').execute()
      assert.equal(left.length, 20 - 5 - 8 + 1)
      assert.equal(await memory.sweep(100), 7)
      assert.equal(await memory.sweep(100), 0)
      assert.equal((await store.db.selectFrom('memory_tags').selectAll().execute()).length, 0)
      const { count, bytes } = await memory.stats()
      assert.deepEqual([count, bytes], [1, Buffer.byteLength('fresh"x"[]')])
      await store.close()
    })

    it('lists the last stored first, page by page, each once', async () => {
      const { store, put, list, wait } = await start(open)
      for (let i = 0; i < 25; i++) {
        await put({ key: `k${i}`, value: i, namespace: i % 2 ? 'odd' : 'even', tags: i % 5 ? [] : ['five'] })
        if (i % 3 === 0) wait(1)
      }
      await put({ key: 'k3', value: 'moved to the front', namespace: 'odd' })
      const first = await list({ limit: 10 })
      assert.deepEqual([first.items.length, first.total, first.items[0]?.key], [10, 25, 'k3'])
      const seen = first.items.map((item) => item.key)
      for (let cursor = first.next_cursor; cursor !== null; ) {
        const page = await list({ limit: 10, cursor })
        seen.push(...page.items.map((item) => item.key))
        cursor = page.next_cursor
      }
      assert.equal(new Set(seen).size, 25)
      assert.equal(seen.length, 25)
      assert.deepEqual(
        (await list({ limit: 5, offset: 10 })).items.map((item) => item.key),
        seen.slice(10, 15),
      )
      assert.deepEqual(
        (await list({ tag: 'five' })).items.map((item) => item.key),
        ['k20', 'k15', 'k10', 'k5', 'k0'],
      )
      const tagged = await list({ tag: 'five', namespace: 'odd', limit: 1 })
      assert.deepEqual([tagged.total, tagged.items[0]?.key], [2, 'k15'])
      const next = await list({ tag: 'five', namespace: 'odd', limit: 1, cursor: tagged.next_cursor })
      assert.deepEqual([next.next_cursor, next.items[0]?.key], [null, 'k5'])
      await assert.rejects(list({ cursor: 'nonsense' }), { code: 'invalid_cursor', param: 'cursor' })
      await store.close()
    })

    it('removes a memory from every view', async () => {
      const { store, put, recall, find, list, memory } = await start(open)
      const { memory: kept } = await put({ key: 'gone', value: 'vanishing', tags: ['t'] })
      await memory.remove(kept.id)
      assert.equal(await recall('gone'), null)
      assert.equal((await find('vanishing')).total, 0)
      assert.equal((await list({ tag: 't' })).total, 0)
      await assert.rejects(memory.remove(kept.id), { code: 'not_found', status: 404 })
      assert.deepEqual(await memory.stats(), {
        engine: store.engine,
        count: 0,
        bytes: 0,
        namespaces: {},
        oldest_at: null,
        newest_at: null,
      })
      await store.close()
    })

    it('tells how much it holds', async () => {
      const { store, put, memory, wait } = await start(open)
      await put({ key: 'a', value: 'é', namespace: 'one' })
      wait(1)
      await put({ key: 'b', value: [1], tags: ['t'], namespace: 'two' })
      wait(1)
      await put({ key: 'a', value: 'longer', namespace: 'one' })
      assert.deepEqual(await memory.stats(), {
        engine: store.engine,
        count: 2,
        bytes: Buffer.byteLength('a"longer"[]') + Buffer.byteLength('b[1]["t"]'),
        namespaces: { one: 1, two: 1 },
        oldest_at: '2026-11-21T07:17:52.000Z',
        newest_at: '2026-11-21T07:17:54.000Z',
      })
      await store.close()
    })
  })
}
