import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemory, type Memory, MemoryInput, takeBack } from '../../src/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'

const TAG = 'session:one'

/** Memories that a session stored by itself, taken back on every engine. `open` opens an empty store. */
export function capturedMemoriesContract(open: () => Promise<Store>): void {
  async function start() {
    const store = await open()
    let at = Date.parse('2026-11-21T07:17:52.000Z')
    const time = () => {
      at += 1000
      return new Date(at)
    }
    const memory = createMemory({ store, now: time })
    const put = async (key: string, value: string, more: Partial<MemoryInput> = {}) =>
      (await memory.store(MemoryInput.parse({ key, value, ...more }))).memory
    const recall = (key: string, version?: number) => memory.recall({ key, namespace: 'default', version })
    const rows = async (table: 'memories' | 'memory_versions') =>
      JSON.stringify(await store.db.selectFrom(table).selectAll().execute())
    return {
      store,
      memory,
      put,
      recall,
      capture: (key: string, value: string, more: Partial<MemoryInput> = {}) =>
        put(key, value, { tags: ['captured', TAG], ...more }),
      takeBack: (of: { namespace?: string; projects?: Array<string | null> } = {}) =>
        store.write((trx) => takeBack(trx, { space: 0, tag: TAG, projects: [null], ...of }, time().toISOString())),
      /** All text that is kept, also of earlier versions. */
      kept: async () => `${await rows('memories')}${await rows('memory_versions')}`,
    }
  }

  /** Fields of a memory that come back with it: all but its version. */
  const lasting = ({ memory }: { memory: Memory | null }) => ({ ...memory, version: 0 })

  describe('what a session stored by itself', () => {
    it('is gone, and a memory that it updated is as it was, with its id and times', async () => {
      const { store, put, capture, recall, takeBack, kept } = await start()
      await put('k', 'of before', { tags: ['net'], also: ['socket'], ttl_seconds: 3600 })
      const before = lasting(await recall('k'))
      await capture('k', 'walrus one', { also: ['tusk'] })
      await capture('k', 'walrus two')
      await capture('new', 'walrus three')
      assert.deepEqual(await takeBack(), { deleted: 1, others: 1 })
      assert.deepEqual(lasting(await recall('k')), before)
      assert.equal((await recall('k')).memory?.version, 4)
      assert.doesNotMatch(await kept(), /walrus|tusk|captured/)
      await store.close()
    })

    it('is gone where it superseded its own update of a memory, and that can be forgotten', async () => {
      const { store, memory, put, capture, recall, takeBack, kept } = await start()
      await put('k', 'of before')
      const before = lasting(await recall('k'))
      await capture('k', 'walrus one')
      await capture('k', 'walrus two')
      await capture('n', 'walrus three', { supersedes: 'k' })
      await capture('o', 'walrus four', { supersedes: 'n' })
      assert.deepEqual(await takeBack(), { deleted: 2, others: 1 })
      assert.deepEqual(lasting(await recall('k')), before)
      assert.doesNotMatch(await kept(), /walrus/)
      await memory.forget({ key: 'k', namespace: 'default' })
      assert.equal(await kept(), '[][]')
      await store.close()
    })

    it('leaves the version of before among those that are kept, however often it updated that', async () => {
      const { store, put, capture, recall, takeBack, kept } = await start()
      for (const value of ['long before', 'of before']) await put('k', value)
      const before = lasting(await recall('k'))
      for (let i = 0; i < 25; i++) await capture('k', `walrus ${i}`)
      const earlier = await store.db.selectFrom('memory_versions').select('version').orderBy('version').execute()
      assert.deepEqual([earlier.length, earlier[0]?.version, earlier[1]?.version], [21, 2, 7])
      assert.deepEqual(await takeBack(), { deleted: 0, others: 1 })
      assert.deepEqual(lasting(await recall('k')), before)
      assert.doesNotMatch(await kept(), /walrus/)
      await store.close()
    })

    it('leaves what was superseded before as it was', async () => {
      const { store, put, capture, recall, takeBack, kept } = await start()
      await put('k', 'wrong')
      await put('right', 'right', { supersedes: 'k' })
      const before = await kept()
      await capture('k', 'walrus')
      assert.deepEqual(await takeBack(), { deleted: 0, others: 1 })
      assert.equal((await recall('k')).superseded_by, 'right')
      assert.equal(await kept(), before)
      await store.close()
    })

    it('leaves what a person superseded since superseded, and takes the update before out', async () => {
      const { store, put, capture, recall, takeBack, kept } = await start()
      await put('k', 'of before')
      await capture('k', 'walrus one')
      await put('right', 'right', { supersedes: 'k' })
      await capture('k', 'walrus two')
      await takeBack()
      assert.equal((await recall('k')).superseded_by, 'right')
      assert.equal((await recall('k', 1)).memory?.value, 'of before')
      assert.doesNotMatch(await kept(), /walrus/)
      await store.close()
    })

    it('gives back what it superseded, unless a person has superseded it since', async () => {
      const { store, put, capture, recall, takeBack } = await start()
      await put('a', 'of a')
      await put('b', 'of b')
      const before = lasting(await recall('a'))
      await capture('n', 'walrus', { supersedes: 'a' })
      await capture('o', 'walrus', { supersedes: 'b' })
      await put('right', 'right', { supersedes: 'o' })
      assert.deepEqual(await takeBack(), { deleted: 2, others: 2 })
      assert.deepEqual(lasting(await recall('a')), before)
      assert.equal((await recall('b')).superseded_by, 'right')
      await store.close()
    })

    it('is taken out from under what a person stored since', async () => {
      const { store, put, capture, recall, takeBack, kept } = await start()
      await put('k', 'first')
      await capture('k', 'walrus')
      await put('k', 'third', { tags: [] })
      assert.deepEqual(await takeBack(), { deleted: 0, others: 1 })
      const { value, version } = (await recall('k')).memory ?? {}
      assert.deepEqual([value, version, (await recall('k', 1)).found], ['third', 3, true])
      assert.doesNotMatch(await kept(), /walrus/)
      await store.close()
    })

    it('stays in other namespaces and projects, also where it is superseded', async () => {
      const { store, put, capture, takeBack, kept } = await start()
      for (const of of [{ namespace: 'other' }, { project: '/b' }, { project: '/b', namespace: 'other' }]) {
        await capture('superseded', 'walrus', of)
        await put('after', 'seal', { ...of, supersedes: 'superseded' })
        await capture('k', 'walrus', of)
      }
      const before = await kept()
      assert.deepEqual(await takeBack({ namespace: 'default', projects: ['/a', null] }), { deleted: 0, others: 0 })
      assert.equal(await kept(), before)
      assert.deepEqual(await takeBack({ projects: ['/b'] }), { deleted: 4, others: 0 })
      assert.deepEqual(await takeBack(), { deleted: 2, others: 0 })
      assert.doesNotMatch(await kept(), /walrus/)
      await store.close()
    })

    it('is of that session alone', async () => {
      const { store, put, capture, takeBack, kept } = await start()
      await put('k', 'of another', { tags: ['captured', 'session:one-and-more'] })
      await put('quoted', 'x', { tags: [`"${TAG}"`] })
      const before = await kept()
      assert.deepEqual(await takeBack(), { deleted: 0, others: 0 })
      assert.equal(await kept(), before)
      await capture('k', 'walrus')
      await takeBack()
      assert.match(await kept(), /session:one-and-more/)
      await store.close()
    })
  })
}
