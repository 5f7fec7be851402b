import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createMemory, MemoryInput, MemorySearch, type MemoryService } from '../../src/memory/memory.ts'
import { readResults } from '../../src/memory/search/results.ts'
import type { Store } from '../../src/store/store.ts'
import { keepMany } from './keep-many.ts'
import { runsOn } from './runs-on.ts'

const MEMORIES = [
  { key: 'deploy/staging', value: 'The staging cluster is eu-west; roll back with one command.', tags: ['operations'] },
  { key: 'notes/monday', value: 'Talked about the deployment of the billing service.', tags: ['meeting'] },
  { key: 'billing/owner', value: 'Grace owns it', tags: ['people'] },
  { key: 'faq/7', value: 'Ask Grace about invoices', tags: ['billing'] },
  { key: 'faq/8', value: 'Invoices older than a year are in the billing archive', tags: [] },
  {
    key: 'database',
    value: { engine: 'PostgreSQL', replicas: [{ host: 'replica-one' }], port: 5432 },
    tags: ['infra'],
  },
  { key: '笔记/数据', value: '数据库迁移在周五进行', tags: ['中文'] },
  { key: 'travel', value: 'Café Zoë in São Paulo', tags: ['Straße'] },
  { key: 'style', value: 'Constants are upper case, functions are verbs', tags: ['code'], namespace: 'project' },
]

const times = <Each>(count: number, each: (i: number) => Each): Each[] =>
  Array.from({ length: count }, (_, i) => each(i))

/** Tests of memory search, for every engine. `open` opens an empty store. */
export function searchContract(open: () => Promise<Store>): void {
  describe('memory search', () => {
    let store: Store
    let memory: MemoryService
    let at = Date.parse('2026-11-21T07:00:00.000Z')

    before(async () => {
      store = await open()
      memory = createMemory({ store, now: () => new Date(at) })
      for (const input of MEMORIES) {
        await memory.store(MemoryInput.parse(input))
        at += 60_000
      }
    })
    after(() => store.close())

    const keep = (inputs: readonly Record<string, unknown>[]) =>
      keepMany(store, inputs, { now: new Date(at).toISOString() })
    const search = (query: string, more: Record<string, unknown> = {}) =>
      memory.search(MemorySearch.parse({ query, ...more }))
    const keys = async (query: string, more: Record<string, unknown> = {}) =>
      (await search(query, more)).results.map((result) => result.memory.key)

    it('leaves large memories out that are deleted before their values are read', async () => {
      const own = await open()
      const service = createMemory({ store: own, now: () => new Date(at) })
      const value = `walrus ${'x '.repeat(100_000)}`
      const stored = []
      for (const key of ['a', 'b', 'c']) stored.push((await service.store(MemoryInput.parse({ key, value }))).memory)
      const found = await own.db.selectFrom('memories').select(['seq', 'space']).orderBy('seq').execute()
      let deleted = stored.slice(1)
      const db = own.db.withPlugin({
        transformQuery: ({ node }) => node,
        // After the search's first read.
        transformResult: async ({ result }) => {
          const now = deleted
          deleted = []
          for (const { id } of now) await service.remove(id)
          return result
        },
      })
      const hits = found.map(({ seq }) => ({ seq, score: 1, isWeak: false }))
      const reading = { hits, spellings: ['walrus'] }
      const results = await readResults({ db, engine: own.engine }, found[0]?.space ?? -1, reading)
      assert.deepEqual(
        results.map((result) => result.memory.key),
        ['a'],
      )
      await own.close()
    })

    it('ranks a word in the key over one in the tags over one in the value', async () => {
      assert.deepEqual((await keys('billing')).slice(0, 2), ['billing/owner', 'faq/7'])
      assert.deepEqual((await keys('billing')).slice(2).toSorted(), ['faq/8', 'notes/monday'])
      const { results, total } = await search('billing')
      assert.equal(total, 4)
      assert.ok(
        results.every(({ score }) => score > 0 && score < 1),
        'scores are in (0, 1)',
      )
      assert.deepEqual(
        results.map((r) => r.score),
        results.map((r) => r.score).toSorted((a, b) => b - a),
      )
    })

    it('matches what begins with a word, after the word itself', async () => {
      assert.deepEqual(await keys('deploy'), ['deploy/staging', 'notes/monday'])
      assert.deepEqual(await keys('deploym'), ['notes/monday'])
      assert.deepEqual(await keys('stag'), ['deploy/staging'])
    })

    for (const [typo, found] of [
      ['stagign', 'deploy/staging'],
      ['satging', 'deploy/staging'],
      ['tsaging', 'deploy/staging'],
      ['staing', 'deploy/staging'],
      ['staaging', 'deploy/staging'],
      ['ztaging', 'deploy/staging'],
      ['taging', 'deploy/staging'],
      ['clusetr', 'deploy/staging'],
      ['postgersq', 'database'],
      ['postgrseqll', 'database'],
      ['comand', 'deploy/staging'],
      ['gracw', 'billing/owner'],
    ] as const)
      it(`finds ${found} although it is asked for "${typo}"`, async () => assert.equal((await keys(typo))[0], found))

    it('takes no number for another with a typo', async () => {
      assert.deepEqual(await keys('5433'), [])
      assert.deepEqual(await keys('5432'), ['database'])
    })

    it('takes no word with a digit for what a word with a typo means', async () => {
      const put = (key: string) => memory.store(MemoryInput.parse({ key, value: key, namespace: 'digits' }))
      await put('quokkab7x')
      await put('quokkabey')
      assert.deepEqual(await keys('quokkabx', { namespace: 'digits' }), ['quokkabey'])
    })

    it('finds a word with typos beside many nearer ones that no memory holds any more', async () => {
      const put = (key: string, value: string) => memory.store(MemoryInput.parse({ key, value, namespace: 'words' }))
      const letters = [...'abcdefghijklmnopqrstuvwxy']
      const nearer = letters.flatMap((letter) => [`quagmiz${letter}`, `quagmi${letter}z`]).join(' ')
      await put('gone', nearer)
      await put('there', 'quagmire')
      await put('gone', 'something else')
      assert.deepEqual(await keys('quagmizz', { namespace: 'words' }), ['there'])
    })

    it('forgives no typo in short words, and not too many in long ones', async () => {
      assert.deepEqual(await keys('fqa'), [])
      assert.deepEqual(await keys('stagxxg'), [])
    })

    it('gives a typo in a short word less weight than one in a long word', async () => {
      const put = (key: string) => memory.store(MemoryInput.parse({ key, value: key, namespace: 'typos' }))
      for (const key of ['zorb', 'zorbeling']) await put(key)
      const scoreOf = async (query: string) => (await search(query, { namespace: 'typos' })).results[0]?.score ?? 0
      const [short, long] = [await scoreOf('zork'), await scoreOf('zorkeling')]
      assert.ok(short > 0 && short < long, `${short} and ${long}`)
    })

    it('wants all words first and takes some when that finds too little', async () => {
      assert.equal((await keys('grace invoices'))[0], 'faq/7')
      const { results } = await search('grace invoices')
      assert.deepEqual(results.map((result) => result.memory.key).toSorted(), ['billing/owner', 'faq/7', 'faq/8'])
      const [first, second] = results.map(({ score }) => score)
      assert.ok((first ?? 0) > 1.5 * (second ?? 1), 'what has all words scores well above what has one')
      assert.equal((await keys('what is the staging cluster called again?'))[0], 'deploy/staging')
      assert.equal((await keys('invoices quokka'))[0] !== undefined, true)
    })

    it('looks inside JSON values, at names and numbers too', async () => {
      assert.equal((await keys('replica-one'))[0], 'database')
      assert.deepEqual(await keys('replicas 5432'), ['database'])
    })

    it('ignores case and accents', async () => {
      assert.deepEqual(await keys('CAFE zoe'), ['travel'])
      assert.deepEqual(await keys('sao paulo'), ['travel'])
      assert.deepEqual(await keys('STRAßE'), ['travel'])
    })

    it('ignores how letters are written: strokes, ligatures, widths', async () => {
      const namespace = 'letters'
      const found = [
        ['Łukasz', 'Lukasz'],
        ['Łódź office', 'Lodz'],
        ['Đorđe reviews', 'Dorde'],
        ['型番 ＡＢＣ１２３', 'ABC123'],
        ['ｻｰﾊﾞｰ再起動', 'サーバー'],
        ['from a PDF: ﬁle', 'file'],
        ['Blåbærgrød', 'blabaergrod'],
      ] as const
      for (const [value] of found) await memory.store(MemoryInput.parse({ key: value, value, namespace }))
      for (const [value, query] of found) {
        assert.deepEqual(await keys(query, { namespace }), [value], query)
        assert.deepEqual(await keys(value, { namespace }), [value], value)
      }
      assert.deepEqual(await keys('Strasse'), ['travel'])
    })

    it('finds decomposed text, as macOS names files', async () => {
      const text = 'Prüfung über Fußgängerzonen, ガラス'.normalize('NFD')
      const { memory: kept } = await memory.store(MemoryInput.parse({ key: 'mac', value: text, tags: ['Prüfung'] }))
      for (const query of ['prüfung', 'fussganger fußgängerzonen', 'ガラス', text])
        assert.deepEqual(await keys(query, { tags: ['Prüfung'] }), ['mac'], query)
      await memory.remove(kept.id)
    })

    it('finds parts of text in scripts without spaces', async () => {
      for (const query of ['数据库', '据库', '迁移', '库', '笔记', '中文', '数据库 周五'])
        assert.deepEqual(await keys(query), ['笔记/数据'], query)
      assert.equal((await keys('数据库怎么迁移'))[0], '笔记/数据')
    })

    it('filters by namespace, tags and time', async () => {
      assert.deepEqual(await keys('functions', { namespace: 'project' }), ['style'])
      assert.deepEqual(await keys('functions', { namespace: 'default' }), [])
      assert.deepEqual(await keys('billing', { tags: ['billing'] }), ['faq/7'])
      assert.deepEqual(await keys('billing', { tags: ['billing', 'people'] }), [])
      assert.deepEqual(await keys('billing', { tags: ['bill'] }), [])
      assert.deepEqual(await keys('billing', { from: '2026-11-21T08:04:00+01:00' }), ['faq/8'])
      assert.deepEqual(await keys('billing', { to: '2026-11-21T07:01:00Z' }), ['notes/monday'])
    })

    it('shows the value around the match', async () => {
      const text = `${'lorem ipsum '.repeat(100)}the needle is here${' dolor sit'.repeat(100)}`
      const { memory: kept } = await memory.store(MemoryInput.parse({ key: 'long', value: text }))
      const [result] = (await search('needel')).results
      assert.match(result?.excerpt ?? '', /^….*the needle is here.*…$/)
      assert.ok((result?.excerpt.length ?? 0) <= 200)
      assert.equal(
        (await search('postgresql')).results[0]?.excerpt,
        'engine PostgreSQL replicas host replica-one port 5432',
      )
      await memory.remove(kept.id)
    })

    it('takes marks for a part of their word, in every script', async () => {
      const namespace = 'scripts'
      const put = (key: string, value: string) => memory.store(MemoryInput.parse({ key, value, namespace }))
      const found = (query: string) => keys(query, { namespace })
      await put('animals', 'कुत्ता बिल्ली')
      await put('books', 'किताब अलमारी में है')
      await put('name', 'كتاب مُحَمَّد')
      await put('peace', 'שָׁלוֹם')
      await put('flat', 'ผมอยู่ที่กรุงเทพ')
      await put('adlam', '𞤀𞤣𞤤𞤢𞤥')
      assert.deepEqual(await found('किताब'), ['books'])
      assert.deepEqual(await found('कुत्ता'), ['animals'])
      assert.deepEqual(await found('बिल्'), ['animals'])
      assert.deepEqual(await found('अलमरी'), ['books'])
      for (const query of ['محمد', 'مُحَمَّد']) assert.deepEqual(await found(query), ['name'], query)
      for (const query of ['שלום', 'שָׁלוֹם']) assert.deepEqual(await found(query), ['peace'], query)
      for (const query of ['กรุงเทพ', 'ผม', 'อยู่']) assert.deepEqual(await found(query), ['flat'], query)
      assert.deepEqual(await found('𞤀𞤣𞤤𞤢𞤥'), ['adlam'])
      assert.deepEqual(await keys('किताब', { namespace: 'मेरा' }), [])
      await memory.store(MemoryInput.parse({ key: 'books', value: 'किताब', namespace: 'मेरा', tags: ['पुस्तक सूची'] }))
      assert.deepEqual(await keys('किताब', { namespace: 'मेरा', tags: ['पुस्तक सूची'] }), ['books'])
    })

    it('finds nothing for a query without words', async () => {
      for (const query of ['', '   ', '!?*()"', '🎉', '"', "'; drop table memories; --".replace(/\w/g, '')])
        assert.deepEqual(await search(query), { results: [], total: 0, mode: 'lexical' })
    })

    it('reads no query as syntax', async () => {
      for (const query of [
        'key: AND (',
        '"deploy',
        'deploy*',
        'NEAR(deploy staging)',
        '{key} : deploy',
        '-deploy',
        '^deploy',
      ])
        assert.equal((await keys(query)).includes('deploy/staging'), /deploy/.test(query), query)
      assert.deepEqual(await keys('key_text'), [])
      const text = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'grapheme', maxLength: 60 }),
      )
      await fc.assert(
        fc.asyncProperty(text, async (query) => void (await search(query))),
        { numRuns: runsOn(store, 200), endOnFailure: true },
      )
      await search('deploy "'.repeat(500))
    })

    it('counts up to 1,000 of many matches, and still shows those with the word in the key first', async () => {
      await keep([
        { key: 'walrus', value: 'the one', namespace: 'many' },
        ...times(1_100, (i) => ({ key: `m${i}`, value: `something about a walrus, number ${i}`, namespace: 'many' })),
      ])
      const { results, total } = await search('walrus', { limit: 5 })
      assert.deepEqual([total, results.length, results[0]?.memory.key], [1000, 5, 'walrus'])
      assert.deepEqual((await keys('walrus 1042')).slice(0, 1), ['m1042'])
    })

    it('counts all with a word that many have in their key, of which it ranks the newest', async () => {
      await keep([
        ...times(150, (i) => ({ key: `otter-${i}`, value: 'of the sea' })),
        ...times(150, (i) => ({ key: `zoo-${i}`, value: 'the otters, and the otter' })),
      ])
      const { results, total } = await search('otter', { limit: 100 })
      assert.deepEqual([total, results.length], [300, 100])
      for (const { memory: found } of results) assert.match(found.key, /^otter-(?:[2-9]\d|1\d\d)$/)
    })

    it('finds the one with all words behind many newer ones with the rarest of them', async () => {
      await keep([
        { key: 'stones', value: 'amber, basalt, cobalt and dolomite' },
        ...times(300, (i) => ({ key: `three-${i}`, value: 'amber, basalt and cobalt' })),
        ...times(350, (i) => ({ key: `one-${i}`, value: 'dolomite' })),
      ])
      const { results, total } = await search('amber basalt cobalt dolomite')
      assert.equal(results[0]?.memory.key, 'stones')
      assert.ok(total >= 251, `${total} were found`)
    })
  })
}
