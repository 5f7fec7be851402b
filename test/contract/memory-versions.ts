import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemory, MemoryInput, MemoryList, MemorySearch } from '../../src/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'

/** Aliases, near-duplicates and earlier versions of memories, on every engine. `open` opens an empty store. */
export function memoryVersionsContract(open: () => Promise<Store>): void {
  async function start() {
    const store = await open()
    let at = Date.parse('2026-11-21T07:17:52.000Z')
    const memory = createMemory({ store, now: () => new Date(at) })
    const of = (service: typeof memory | ReturnType<typeof memory.of>) => ({
      put: (input: Record<string, unknown>) => service.store(MemoryInput.parse(input)),
      recall: (key: string, version?: number) => service.recall({ key, namespace: 'default', version }),
      found: async (query: string) =>
        (await service.search(MemorySearch.parse({ query }))).results.map((result) => result.memory.key),
    })
    return {
      store,
      memory,
      of,
      ...of(memory),
      wait: (seconds: number) => {
        at += seconds * 1000
      },
      kept: async () => (await store.db.selectFrom('memory_versions').select('key').execute()).length,
    }
  }

  describe('other words for a memory', () => {
    it('find it, below its own words, and are not shown', async () => {
      const { store, put, found, memory } = await start()
      await put({ key: 'release', value: 'We ship on Thursdays', also: ['deployment day', 'rollout'] })
      await put({ key: 'notes', value: 'The rollout was late' })
      assert.deepEqual(await found('rollout'), ['notes', 'release'])
      assert.deepEqual(await found('deployment'), ['release'])
      const listed = await memory.recent(MemoryList.parse({}))
      assert.ok(!JSON.stringify(listed).includes('deployment'), 'lists do not show them')
      await store.close()
    })

    it('stay when a key is stored again without them, and go when it is with others', async () => {
      const { store, put, found } = await start()
      await put({ key: 'release', value: 'Thursdays', also: ['rollout'] })
      await put({ key: 'release', value: 'Fridays' })
      assert.deepEqual(await found('rollout'), ['release'])
      await put({ key: 'release', value: 'Fridays', also: [] })
      assert.deepEqual(await found('rollout'), [])
      await store.close()
    })
  })

  describe('near-duplicates of what is stored', () => {
    it('are named, and neither the key itself nor what it supersedes is one', async () => {
      const { store, put } = await start()
      await put({ key: 'ports/gateway', value: 'The gateway listens on port 8811 of the loopback address' })
      await put({ key: 'lunch', value: 'We eat at noon' })
      const { similar } = await put({ key: 'gateway/port', value: 'Gateway listens on port 8811, loopback' })
      assert.deepEqual(similar, [{ key: 'ports/gateway', namespace: 'default', score: 1 }])
      assert.deepEqual((await put({ key: 'dinner', value: 'Something else entirely' })).similar, [])
      const again = await put({
        key: 'ports/gateway',
        value: 'The gateway listens on port 8812 of the loopback address',
        supersedes: 'gateway/port',
      })
      assert.deepEqual(again.similar, [])
      await store.close()
    })

    it('are looked for among the memories of the owner and the project', async () => {
      const { store, memory, of, put } = await start()
      const fact = { value: 'The gateway listens on port 8811' }
      await put({ key: 'one', project: '/a', ...fact })
      assert.deepEqual((await put({ key: 'two', project: '/b', ...fact })).similar, [])
      assert.deepEqual((await of(memory.of('key_other')).put({ key: 'three', ...fact })).similar, [])
      const { similar } = await put({ key: 'four', project: '/a', namespace: 'other', ...fact })
      assert.deepEqual(
        similar.map(({ key, namespace }) => [key, namespace]),
        [['one', 'default']],
      )
      await store.close()
    })
  })

  describe('versions of a memory', () => {
    it('are readable, the last twenty of them', async () => {
      const { store, put, recall, found } = await start()
      for (let i = 1; i <= 23; i++) await put({ key: 'k', value: `value${i}`, tags: [`t${i}`] })
      assert.deepEqual((await recall('k')).memory?.value, 'value23')
      for (const version of [3, 22, 23]) {
        const { memory, superseded_by } = await recall('k', version)
        assert.deepEqual(
          [memory?.value, memory?.tags, memory?.version, superseded_by],
          [`value${version}`, [`t${version}`], version, null],
        )
      }
      for (const version of [2, 24]) assert.equal((await recall('k', version)).found, false)
      assert.deepEqual(await found('value22'), [])
      await store.close()
    })

    it('are superseded by another memory: readable by key and version, and found no more', async () => {
      const { store, put, recall, found, memory } = await start()
      await put({ key: 'deploy/old', value: 'releases happen on Mondays' })
      await put({ key: 'deploy/old', value: 'releases happen on Tuesdays' })
      const { memory: kept } = await put({
        key: 'deploy/new',
        value: 'releases happen on Fridays',
        supersedes: 'deploy/old',
      })
      assert.equal(kept.version, 1)
      assert.deepEqual(await found('releases'), ['deploy/new'])
      assert.deepEqual(await recall('deploy/old'), { found: false, memory: null, superseded_by: 'deploy/new' })
      const old = await recall('deploy/old', 2)
      assert.deepEqual([old.memory?.value, old.superseded_by], ['releases happen on Tuesdays', 'deploy/new'])
      assert.equal((await recall('deploy/old', 1)).memory?.value, 'releases happen on Mondays')
      assert.equal((await memory.stats()).count, 1)
      assert.deepEqual(await memory.keys({ start: '', limit: 5 }), ['deploy/new'])
      // Again, as a client does that did not hear of it.
      assert.equal(
        (await put({ key: 'deploy/new', value: 'releases happen on Fridays', supersedes: 'deploy/old' })).created,
        false,
      )
      const { memory: anew } = await put({ key: 'deploy/old', value: 'the same key again' })
      assert.equal(anew.version, 3)
      await store.close()
    })

    it('are not superseded where there is none, and nothing is stored then', async () => {
      const { store, memory, of, put, recall } = await start()
      await of(memory.of('key_other')).put({ key: 'theirs', value: 1 })
      for (const supersedes of ['unknown', 'theirs'])
        await assert.rejects(put({ key: 'k', value: 1, supersedes }), { code: 'not_found', param: 'supersedes' })
      await assert.rejects(put({ key: 'k', value: 1, supersedes: 'k' }), {
        code: 'validation_failed',
        param: 'supersedes',
      })
      assert.equal((await recall('k')).found, false)
      assert.equal((await recall('theirs')).found, false)
      await store.close()
    })

    it('are forgotten with the memory, by its id also where it is superseded', async () => {
      const { store, put, recall, memory, kept } = await start()
      await put({ key: 'a', value: 1 })
      const { memory: a } = await put({ key: 'a', value: 2 })
      await put({ key: 'b', value: 3, supersedes: 'a' })
      await assert.rejects(memory.of('key_other').remove(a.id), { code: 'not_found' })
      await memory.remove(a.id)
      for (const version of [1, 2]) assert.equal((await recall('a', version)).found, false)
      await assert.rejects(memory.remove(a.id), { code: 'not_found' })
      await put({ key: 'b', value: 4 })
      const { memory: b } = await put({ key: 'b', value: 5 })
      await memory.remove(b.id)
      assert.equal(await kept(), 0)
      assert.equal((await put({ key: 'b', value: 6 })).memory.version, 1)
      await store.close()
    })

    it('are forgotten under their key by somebody who has read the current one', async () => {
      const { store, put, recall, memory, kept, found } = await start()
      const of = { key: 'k', namespace: 'default' }
      await assert.rejects(memory.forget({ ...of, if_version: 1 }), { code: 'not_found', param: 'key' })
      for (const value of ['first walrus', 'second walrus']) await put({ key: 'k', value, tags: ['t'] })
      await put({ key: 'k', value: 'walrus of a project', project: '/a' })
      await assert.rejects(memory.forget({ ...of, if_version: 1 }), { code: 'version_conflict', param: 'if_version' })
      const forgotten = await memory.forget({ ...of, if_version: 2 })
      assert.deepEqual([forgotten.key, forgotten.version, forgotten.value], ['k', 2, null])
      for (const version of [undefined, 1, 2]) assert.equal((await recall('k', version)).found, false)
      assert.deepEqual([await kept(), await found('walrus')], [0, []])
      const tables = ['memories', 'memory_versions', 'memory_words', 'memory_tags'] as const
      const rows = await Promise.all(tables.map((table) => store.db.selectFrom(table).selectAll().execute()))
      assert.doesNotMatch(JSON.stringify(rows), /second/)
      assert.equal((await memory.recall({ ...of, project: '/a' })).memory?.value, 'walrus of a project')
      await store.close()
    })

    it('are forgotten with a superseded memory, too', async () => {
      const { store, put, memory, recall, kept } = await start()
      for (const value of ['first', 'second']) await put({ key: 'old', value })
      await put({ key: 'new', value: 'third', supersedes: 'old' })
      const of = { key: 'old', namespace: 'default' }
      await assert.rejects(memory.forget({ ...of, if_version: 1 }), { code: 'version_conflict', message: /version 2/ })
      assert.equal((await memory.forget({ ...of, if_version: 2 })).version, 2)
      assert.deepEqual(await recall('old'), { found: false, memory: null, superseded_by: null })
      assert.deepEqual([(await recall('old', 1)).found, await kept()], [false, 0])
      assert.equal((await recall('new')).memory?.value, 'third')
      await store.close()
    })

    it('are named where they are of no project, and one of a project was meant', async () => {
      const { store, put, memory } = await start()
      await put({ key: 'k', value: 'of all', project: null })
      const of = { key: 'k', project: '/shop', if_version: 1 }
      const message = /of no project.* at version 1: project null/
      await assert.rejects(put({ ...of, value: 'changed' }), { code: 'version_conflict', message })
      await assert.rejects(memory.forget({ ...of, namespace: 'default' }), { code: 'not_found', message })
      await store.close()
    })

    it('are not stored where they look like a secret, unless that is allowed', async () => {
      const { store, put, recall } = await start()
      const secrets = [
        `ghp_${'a1'.repeat(18)}`,
        'the password is hunter2hunter2',
        { env: { API_KEY: 'api_key=abcd1234efgh' } },
        'postgres://shop:s3cr3t-w0rd@db/shop',
        { host: 'db.example.org', password: 'hunter2' },
        { env: { DB_PASSWORD: 'hunter2hunter2' } },
      ]
      for (const value of secrets)
        await assert.rejects(put({ key: 'k', value }), {
          code: 'validation_failed',
          param: 'value',
          message: /looks like/,
        })
      const token = `ghp_${'a1'.repeat(18)}`
      const named = { namespace: token, project: token, tags: [token], also: [token] }
      for (const [param, field] of Object.entries({ key: token, ...named })) {
        const input = { key: 'k', value: 'of the deploy user', [param]: field }
        await assert.rejects(put(input), { code: 'validation_failed', param })
      }
      const apart = put({ key: 'shop/db-password', value: 'hunter2' })
      await assert.rejects(apart, { code: 'validation_failed', param: 'value', message: /a password/ })
      await put({ key: 'db/password', value: 'in Vault, rotated by job 2' })
      await put({ key: 'models/api_key', value: 'AZURE_KEY_2' })
      const allowing = createMemory({ store, now: () => new Date(), secrets: () => 'allow' })
      await allowing.store(MemoryInput.parse({ key: 'allowed', value: secrets[1] }))
      for (const value of [
        'Passwords are in Vault under kv/shop; the token is rotated weekly.',
        'postgres://shop:$PASSWORD@db/shop',
        'Set OPENAI_API_KEY before you start.',
        'Tokens: 1500 by default',
      ])
        await put({ key: 'k', value })
      assert.equal((await recall('k')).memory?.version, 4)
      await store.close()
    })

    it('are ten at most of those that a session stores by itself', async () => {
      const { store, put, recall } = await start()
      const of = (key: string, session = 'session:one') =>
        put({ key, value: 'pnpm build', tags: ['captured', session] })
      for (let i = 0; i < 10; i++) await of(`fact/${i}`)
      await assert.rejects(of('fact/10'), {
        code: 'validation_failed',
        param: 'tags',
        message: /10 memories by itself/,
      })
      assert.equal((await recall('fact/10')).found, false)
      await of('fact/9')
      await of('fact/10', 'session:two')
      assert.deepEqual([(await recall('fact/9')).memory?.version, (await recall('fact/10')).found], [2, true])
      await put({ key: 'by hand', value: 'pnpm test', tags: ['session:two'] })
      for (let i = 11; i < 20; i++) await of(`fact/${i}`, 'session:two')
      await assert.rejects(of('fact/20', 'session:two'), /10 memories by itself/)
      await store.close()
    })

    it('are ten at most of those that a session stores at the same time, too', async () => {
      const { store, put, memory } = await start()
      const tags = ['captured', 'session:one']
      const stores = Array.from({ length: 40 }, (_, i) => put({ key: `fact/${i}`, value: 'pnpm build', tags }))
      const settled = await Promise.allSettled(stores)
      assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 10)
      assert.equal((await memory.recent(MemoryList.parse({ tag: 'captured', limit: 50 }))).items.length, 10)
      await store.close()
    })

    it('move with their memory to another project, where its key is free', async () => {
      const { store, put, memory } = await start()
      await put({ key: 'k', value: 'first', project: '/a' })
      await put({ key: 'k', value: 'second', project: '/a' })
      await put({ key: 'k', value: 'other', project: '/b' })
      const of = { key: 'k', namespace: 'default' }
      await assert.rejects(memory.move({ ...of, project: '/a' }, '/b'), { code: 'conflict' })
      await memory.move({ ...of, project: '/a' }, null)
      assert.equal((await memory.recall({ ...of, version: 1 })).memory?.value, 'first')
      assert.equal((await memory.recall({ ...of, project: '/b' })).memory?.value, 'other')
      const { results } = await memory.search(MemorySearch.parse({ query: 'second', project: '/elsewhere' }))
      assert.deepEqual(
        results.map((result) => result.memory.project),
        [null],
      )
      await assert.rejects(memory.move({ ...of, project: '/a' }, '/c'), { code: 'not_found' })
      await store.close()
    })

    it('expire when they would have, whatever came after them, and are swept', async () => {
      const { store, put, recall, memory, wait, kept } = await start()
      await put({ key: 'k', value: 'brief', ttl_seconds: 10 })
      await put({ key: 'k', value: 'lasting' })
      await put({ key: 'old', value: 'brief', ttl_seconds: 10 })
      await put({ key: 'new', value: 'lasting', supersedes: 'old' })
      assert.equal((await recall('k', 1)).memory?.value, 'brief')
      wait(10)
      assert.equal((await recall('k', 1)).found, false)
      assert.deepEqual(await recall('old'), { found: false, memory: null, superseded_by: null })
      await memory.sweep(10)
      assert.equal(await kept(), 0)
      await put({ key: 'k', value: 'ends', ttl_seconds: 1 })
      assert.equal(await kept(), 1)
      wait(2)
      await memory.sweep(10)
      assert.equal(await kept(), 0)
      await store.close()
    })
  })
}
