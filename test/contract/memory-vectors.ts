import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GazewayError } from '../../src/errors.ts'
import { createMemory, MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import type { AskForVectors } from '../../src/memory/vectors/embedder.ts'
import { createVectorSearch } from '../../src/memory/vectors/vector-search.ts'
import type { Store } from '../../src/store/store.ts'
import { keepMany } from './keep-many.ts'

const NOW = '2026-11-21T07:17:52.000Z'

/** Topics of texts, by words of one meaning, for the embedding double. */
const CONCEPTS = [/ship|deploy|release/i, /database|postgres|storage/i, /dog|pet/i, /lunch|eat|meal/i]

/** A vector in which a text points to its concepts, and a little to everything. */
const pointing = (text: string, length: number): number[] =>
  Array.from({ length }, (_, i) => (CONCEPTS[i % CONCEPTS.length]?.test(text) ? 1 : -0.2))

/** Memories by vectors, on every engine. `open` opens an empty store. */
export function memoryVectorsContract(open: () => Promise<Store>): void {
  async function start(more: { answers?: AskForVectors; timeout_ms?: number } = {}) {
    const store = await open()
    const asked: string[][] = []
    const errors: unknown[] = []
    const model = {
      length: 64,
      answer: more.answers,
    }
    const ask: AskForVectors = async (of, context) => {
      asked.push([...of.input])
      if (model.answer) return model.answer(of, context)
      return {
        status: 200,
        body: { data: of.input.map((text, index) => ({ index, embedding: pointing(text, model.length) })) },
      }
    }
    const now = () => new Date(NOW)
    const settings = {
      upstream: 'default',
      model: 'm',
      timeout_ms: more.timeout_ms ?? 10_000,
      document_prefix: 'document: ',
      query_prefix: 'query: ',
      min_similarity: 0.6,
    }
    const vectors = createVectorSearch({
      store,
      settings,
      ask,
      now: () => now().toISOString(),
      onError: (error) => errors.push(error),
    })
    const memory = createMemory({ store, now, vectors: () => vectors })
    // Has none made by itself.
    const quiet = createMemory({ store, now })
    const search = (query: string, filters: Record<string, unknown> = {}) =>
      memory.search(MemorySearch.parse({ query, ...filters }))
    return {
      store,
      ask,
      settings,
      model,
      asked,
      errors,
      memory,
      vectors,
      put: (input: Record<string, unknown>) => quiet.store(MemoryInput.parse(input)),
      search,
      found: async (query: string, filters: Record<string, unknown> = {}) =>
        (await search(query, filters)).results.map((result) => result.memory.key),
      async close() {
        await vectors.stop()
        await store.close()
      },
    }
  }

  describe('memories by vectors', () => {
    it('are found by meaning, beside those that are found by words', async () => {
      const { put, vectors, search, found, asked, close } = await start()
      await put({ key: 'when', value: 'We ship on Thursdays', also: ['weekday'] })
      await put({ key: 'where', value: 'Everything is in Postgres' })
      await put({ key: 'notes', value: 'Deployment notes are in the wiki' })
      assert.equal(await vectors.embed(100), 3)
      assert.ok(
        asked.flat().includes('document: when\nWe ship on Thursdays\nweekday'),
        'key, value and also are embedded',
      )
      const { results, mode, total } = await search('when is the next release?')
      assert.equal(mode, 'hybrid')
      assert.equal(asked.at(-1)?.[0], 'query: when is the next release?')
      assert.deepEqual(results.map(({ memory }) => memory.key).toSorted(), ['notes', 'when'])
      assert.equal(total, 2)
      // Both lists have it first.
      assert.deepEqual((await search('deployment')).results[0]?.score, 1)
      assert.deepEqual(await found('database'), ['where'])
      assert.deepEqual(await found('what do pets cost?'), [])
      await close()
    })

    it('are of their owner, their project and the filter, and not of what was replaced or deleted', async () => {
      const { put, vectors, found, memory, store, close } = await start()
      await put({ key: 'a', value: 'We ship', project: '/a' })
      await put({ key: 'b', value: 'We deploy', namespace: 'other' })
      await memory.of('key_other').store(MemoryInput.parse({ key: 'theirs', value: 'We ship' }))
      const { memory: gone } = await put({ key: 'gone', value: 'We ship' })
      await put({ key: 'changed', value: 'We ship' })
      await vectors.embed(100)
      assert.deepEqual((await found('release', { project: '/a' })).toSorted(), ['a', 'b', 'changed', 'gone'])
      await memory.remove(gone.id)
      await put({ key: 'changed', value: 'Lunch is at noon' })
      assert.deepEqual(await found('release', { project: '/b' }), ['b'])
      assert.deepEqual(await found('release', { namespace: 'default' }), [])
      await vectors.embed(100)
      assert.deepEqual(await found('a meal'), ['changed'])
      const kept = async () => (await store.db.selectFrom('memory_vectors').select('seq').execute()).length
      assert.equal(await kept(), 4)
      await memory.forget({ key: 'changed', namespace: 'default', if_version: 2 })
      assert.deepEqual([await found('a meal'), await kept()], [[], 3])
      await close()
    })

    it('of a small project are found beside many as near ones of another', async () => {
      const { store, put, vectors, found, close } = await start()
      const many = Array.from({ length: 250 }, (_, i) => ({ key: `k${i}`, value: 'We ship', project: '/large' }))
      await keepMany(store, many, { now: NOW })
      await put({ key: 'mine', value: 'We deploy', project: '/small' })
      await vectors.embed(300)
      assert.deepEqual(await found('release', { project: '/small' }), ['mine'])
      await close()
    })

    it('have their vectors made soon after they are stored', async () => {
      const { memory, model, vectors, found, close } = await start()
      const asked = new Promise<void>((resolve) => {
        model.answer = async ({ input }) => {
          resolve()
          return { status: 200, body: { data: input.map((text, index) => ({ index, embedding: pointing(text, 64) })) } }
        }
      })
      await memory.store(MemoryInput.parse({ key: 'when', value: 'We ship' }))
      // What makes them does not keep a process alive.
      const alive = setInterval(() => undefined, 60_000)
      await asked
      clearInterval(alive)
      // Behind those that are under way, of which there is nothing left to do.
      assert.equal(await vectors.embed(10), 0)
      assert.deepEqual(await found('release'), ['when'])
      await close()
    })

    it('are searched by words alone where the vector of the question is not there in time, and rests then', async () => {
      const { put, search, vectors, model, asked, close } = await start({ timeout_ms: 50 })
      await put({ key: 'when', value: 'We ship on Thursdays' })
      await vectors.embed(10)
      // Answers once it is told that nobody waits.
      model.answer = (_, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
      const { mode, results } = await search('ship')
      assert.deepEqual([mode, results.length], ['lexical', 1])
      const before = asked.length
      assert.equal((await search('ship')).mode, 'lexical')
      assert.equal(asked.length, before)
      await close()
    })

    it('are searched by words alone where the upstream has no embeddings', async () => {
      const answers: AskForVectors = async () => ({ status: 404, body: { error: 'unknown path' } })
      const { put, search, vectors, errors, close } = await start({ answers })
      await put({ key: 'when', value: 'We ship on Thursdays' })
      await assert.rejects(vectors.embed(10), /answered 404/)
      assert.deepEqual((await search('ship')).mode, 'lexical')
      assert.match(String(errors[0]), /answered 404/)
      assert.match((await vectors.check()).failure ?? '', /answered 404/)
      await close()
    })

    it('keep what was made when the upstream dies in the middle, and go on from there', async () => {
      const { put, vectors, model, asked, close } = await start()
      for (let i = 0; i < 70; i++) await put({ key: `k${i}`, value: 'We ship' })
      const works = model.answer
      model.answer = async ({ input }) => {
        if (asked.length > 1) throw new GazewayError('upstream_unreachable', 'gone')
        return { status: 200, body: { data: input.map((text, index) => ({ index, embedding: pointing(text, 64) })) } }
      }
      await assert.rejects(vectors.embed(100), { code: 'upstream_unreachable' })
      model.answer = works
      assert.deepEqual(await vectors.check(), { memories: 70, embedded: 32, failure: null })
      assert.equal(await vectors.embed(100), 38)
      assert.deepEqual(await vectors.check(), { memories: 70, embedded: 70, failure: null })
      await close()
    })

    it('are computed again when the model changes their length', async () => {
      const { put, vectors, model, found, close } = await start()
      for (const key of ['a', 'b']) await put({ key, value: 'We ship' })
      await vectors.embed(100)
      model.length = 96
      assert.deepEqual(await found('release'), [])
      assert.equal(await vectors.embed(100), 2)
      assert.deepEqual((await found('release')).toSorted(), ['a', 'b'])
      await close()
    })

    it('are computed again for another model, and those of the one before are not compared', async () => {
      const { store, ask, settings, put, vectors, found, close } = await start()
      for (const key of ['a', 'b']) await put({ key, value: 'We ship' })
      await vectors.embed(100)
      const other = createVectorSearch({
        store,
        settings: { ...settings, model: 'another' },
        ask,
        now: () => '2026-11-21T07:17:52.000Z',
        onError: (error) => assert.fail(String(error)),
      })
      const byOther = createMemory({ store, now: () => new Date('2026-11-21T07:17:52.000Z'), vectors: () => other })
      const keysByOther = async () =>
        (await byOther.search(MemorySearch.parse({ query: 'release' }))).results.map(({ memory }) => memory.key)
      assert.deepEqual(await other.check(), { memories: 2, embedded: 0, failure: null })
      assert.deepEqual(await keysByOther(), [])
      assert.equal(await other.embed(100), 2)
      assert.deepEqual((await keysByOther()).toSorted(), ['a', 'b'])
      assert.deepEqual(await found('release'), [], 'each memory has one vector')
      await other.stop()
      await close()
    })

    it('are made without the one that the upstream refuses', async () => {
      const { put, vectors, model, found, close } = await start()
      for (const value of ['We ship', 'poison', 'We deploy']) await put({ key: value, value })
      model.answer = async ({ input }) =>
        input.some((text) => text.includes('poison'))
          ? { status: 400, body: { error: 'too long' } }
          : { status: 200, body: { data: input.map((text, index) => ({ index, embedding: pointing(text, 64) })) } }
      assert.equal(await vectors.embed(100), 3)
      assert.equal(await vectors.embed(100), 0)
      assert.deepEqual((await found('release')).toSorted(), ['We deploy', 'We ship'])
      await close()
    })

    it('refuse what is no list of embeddings', async () => {
      for (const body of [
        'text',
        { data: [] },
        { data: [{ embedding: [1] }, { embedding: [1, 2] }] },
        { data: [{ embedding: [] }] },
      ]) {
        const { put, vectors, close } = await start({ answers: async () => ({ status: 200, body }) })
        await put({ key: 'k', value: 'v' })
        await assert.rejects(vectors.embed(10), { code: 'upstream_bad_reply' })
        await close()
      }
    })
  })
}
