import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemory, MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'

/** A store with some memories, each a value under a key of its own or a whole input. */
async function holding(open: () => Promise<Store>, memories: ReadonlyArray<string | Record<string, unknown>>) {
  const store = await open()
  let at = Date.parse('2026-11-21T07:00:00.000Z')
  const memory = createMemory({ store, now: () => new Date(at) })
  const put = (input: Record<string, unknown>) => memory.store(MemoryInput.parse(input))
  for (const [i, held] of memories.entries()) await put(typeof held === 'string' ? { key: `${i}`, value: held } : held)
  const search = (query: string) => memory.search(MemorySearch.parse({ query }))
  return {
    store,
    memory,
    put,
    search,
    found: async (query: string) => (await search(query)).results.map((result) => result.memory.value),
    wait: (seconds: number) => {
      at += seconds * 1000
    },
    words: async () =>
      (await store.db.selectFrom('memory_words').select(['word', 'stem', 'memories']).orderBy('word').execute()).map(
        ({ word, stem, memories: held }) => [word, stem, held],
      ),
  }
}

/** Tests of word matching and ranking in memory search, for every engine. `open` opens an empty store. */
export function searchMeaningContract(open: () => Promise<Store>): void {
  describe('what a search means', () => {
    it('scores the same on every engine', async () => {
      const { store, search } = await holding(open, [
        { key: 'database', value: 'PostgreSQL keeps the orders', tags: ['storage'] },
        { key: 'deploy', value: 'Deployments of the database happen on Thursdays' },
        { key: 'lunch', value: 'We eat at noon', also: ['food', 'database of recipes'] },
      ])
      const scores = async (query: string) =>
        (await search(query)).results.map(({ memory, score }) => [memory.key, score])
      assert.deepEqual(await scores('database'), [
        ['database', 0.7143],
        ['deploy', 0.4146],
        ['lunch', 0.3333],
      ])
      assert.deepEqual(await scores('deploying databases'), [
        ['deploy', 0.5711],
        ['database', 0.3362],
        ['lunch', 0.1507],
      ])
      await store.close()
    })

    it('finds what inflects alike, and the word itself before it', async () => {
      const { store, found } = await holding(open, ['They were retrying it', 'a retry', 'retries are limited to 5'])
      assert.deepEqual(await found('retry'), ['a retry', 'They were retrying it', 'retries are limited to 5'])
      assert.deepEqual((await found('retried')).length, 3)
      assert.deepEqual(await found('re try'), await found('retry'))
      await store.close()
    })

    it('gives stop words no weight, unless nothing else is asked for', async () => {
      const { store, found } = await holding(open, [
        'We ship on Thursdays',
        'The database is PostgreSQL',
        'who are they',
      ])
      assert.deepEqual(await found('which database do we use?'), ['The database is PostgreSQL'])
      assert.deepEqual(await found('what do we have on this?'), [])
      assert.deepEqual(await found('who are they'), ['who are they'])
      assert.deepEqual(await found('welches PostgreSQL haben wir für die Bestellungen?'), [
        'The database is PostgreSQL',
      ])
      await store.close()
    })

    it('does not return what has little of what is asked for', async () => {
      const { store, found } = await holding(open, [
        'The office dog is called Rex',
        'Invoices go to Grace',
        'The camera stores no video',
      ])
      assert.deepEqual(await found('which insurance pays for a broken office window?'), [])
      assert.deepEqual(await found('what is the dog in the office called?'), ['The office dog is called Rex'])
      assert.deepEqual(await found('where do we store the grapes?'), [], 'storing is asked of everything')
      assert.deepEqual(await found('does the camera store video?'), ['The camera stores no video'])
      await store.close()
    })

    it('finds the parts of German compounds, and compounds by their parts', async () => {
      const { store, found } = await holding(open, [
        'Die Kundendatenbank liegt in Frankfurt',
        'Jede Rechnung hat eine Nummer',
        'Fußgängerzonen sind gesperrt',
      ])
      assert.deepEqual(await found('Datenbank'), ['Die Kundendatenbank liegt in Frankfurt'])
      assert.deepEqual(await found('Kunden'), ['Die Kundendatenbank liegt in Frankfurt'])
      assert.deepEqual(await found('Wo steht die Rechnungsnummer?'), ['Jede Rechnung hat eine Nummer'])
      assert.deepEqual(await found('Fussgängerzone'), ['Fußgängerzonen sind gesperrt'])
      await store.close()
    })

    it('finds Japanese by words within it, whatever stands between', async () => {
      const { store, found } = await holding(open, ['本番のデータベースは金曜日に更新します', 'ランチは正午に食べます'])
      assert.deepEqual(await found('データベースの更新はいつですか'), ['本番のデータベースは金曜日に更新します'])
      assert.deepEqual(await found('ランチ'), ['ランチは正午に食べます'])
      assert.deepEqual(await found('天気はどうですか'), [])
      await store.close()
    })

    it('finds code by whole identifiers and by their parts', async () => {
      const code = 'export async function readResults(store: HTTPStore, max_bytes = 512) {}'
      const { store, found } = await holding(open, [code, 'nothing of the kind'])
      for (const query of [
        'readResults',
        'readresults',
        'read results',
        'HTTP store',
        'max_bytes',
        'bytes',
        'readSomeResults',
      ])
        assert.deepEqual(await found(query), [code], query)
      await store.close()
    })

    it('ranks long values too, whole', async () => {
      const filler = Array.from({ length: 3000 }, (_, i) => `filler${i}`).join(' ')
      const { store, search } = await holding(open, [
        { key: 'long', value: `${filler} needle` },
        { key: 'short', value: 'needle' },
      ])
      const found = (await search('needle')).results.map(({ memory }) => memory.key)
      assert.deepEqual(found, ['short', 'long'])
      await store.close()
    })

    it('counts the words that memories hold, and no others', async () => {
      const { store, put, memory, wait, words } = await holding(open, [])
      await put({ key: 'a', value: 'red apples, red pears', tags: ['fruit'] })
      const { memory: second } = await put({ key: 'b', value: 'apples', ttl_seconds: 10 })
      assert.deepEqual(await words(), [
        ['a', 'a', 1],
        ['apples', 'appl', 2],
        ['b', 'b', 1],
        ['fruit', 'fruit', 1],
        ['pears', 'pear', 1],
        ['red', 'red', 1],
      ])
      await put({ key: 'a', value: 'green apples' })
      await memory.remove(second.id)
      assert.deepEqual(await words(), [
        ['a', 'a', 1],
        ['apples', 'appl', 1],
        ['fruit', 'fruit', 1],
        ['green', 'green', 1],
      ])
      await put({ key: 'c', value: 'brief', ttl_seconds: 1 })
      wait(2)
      await memory.sweep(10)
      assert.equal((await words()).length, 4)
      await Promise.all(Array.from({ length: 20 }, (_, i) => put({ key: `${i}`, value: 'apples and pears' })))
      assert.deepEqual(
        (await words()).filter(([word]) => word === 'apples' || word === 'pears'),
        [
          ['apples', 'appl', 21],
          ['pears', 'pear', 20],
        ],
      )
      await store.close()
    })
  })
}
