import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createMemory, MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { keepMany } from '../contract/keep-many.ts'
import { openEmptyStore } from '../store/empty-store.ts'

const NOW = '2026-11-21T07:17:52.000Z'
const MEMORIES = 120

const inputs = Array.from({ length: MEMORIES }, (_, i) => ({
  key: `animal/${i}`,
  value: `penguin ${i} of group${i % 7}, 数据库`,
  tags: i % 5 === 0 ? ['bird'] : [],
  also: i % 6 === 0 ? ['feathered'] : [],
  namespace: i % 40 === 0 ? 'odd one' : 'default',
  project: i % 4 === 0 ? null : `/Projects/é ${i % 4}`,
}))

const QUERIES = [
  { query: 'penguin', project: '/Projects/é 1' },
  { query: 'penguin group3', project: '/Projects/é 2' },
  { query: 'group3' },
  { query: 'animal', project: '/Projects/é 3' },
  { query: 'penguin', project: '/Projects/é 1', tags: ['bird'] },
  { query: 'feathered', project: '/Projects/é 2' },
  { query: 'penguin', namespace: 'odd one' },
  { query: '数据', project: '/Projects/é 3' },
  { query: 'penguin', project: '/projects/é 1' },
  { query: 'penguin', projects: 'all' },
]

describe('the index of the words of each project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-project-words-'))
  after(() => rmSync(folder, { recursive: true }))

  /** Puts a store into the state of one that an update has just migrated. */
  const emptyIndex = (store: Store) =>
    store.write(async (trx) => {
      await sql`insert into memories_project_text (memories_project_text) values ('delete-all')`.execute(trx)
      await sql`insert into memories_project_backlog select max(seq) from memories`.execute(trx)
    })

  async function opened(name: string) {
    const store = await openEmptyStore(join(folder, name))
    await keepMany(store, inputs, { now: NOW })
    const service = () => createMemory({ store, now: () => new Date(NOW) })
    const answers = async (memory = service()) =>
      Promise.all(
        QUERIES.map(async (query) => {
          const { results, total } = await memory.search(MemorySearch.parse({ ...query, limit: 50 }))
          return { ...query, total, found: results.map(({ memory: { key, project }, score }) => [key, project, score]) }
        }),
      )
    return { store, service, answers }
  }

  /** Compares the index with the words of all memories. */
  async function assertExact({ write }: Store) {
    await write(async (trx) => {
      await sql`insert into memories_project_text (memories_project_text) values ('integrity-check')`.execute(trx)
      await sql`create virtual table temp.held using fts5vocab(main, memories_project_text, instance)`.execute(trx)
      const held = await sql<{ entry: string }>`
        select distinct doc || ' ' || col || ' ' || term as entry from temp.held`.execute(trx)
      const { rows } = await sql<Record<'seq' | 'named' | 'said' | 'namespace', string>>`
        select * from memories_project_words`.execute(trx)
      const expected = rows.flatMap(({ seq, ...columns }) =>
        Object.entries(columns).flatMap(([column, text]) =>
          text
            .split(' ')
            .flatMap((word) =>
              word === '' ? [] : `${seq} ${column} ${word.replace(/[A-F]/g, (letter) => letter.toLowerCase())}`,
            ),
        ),
      )
      assert.deepEqual(held.rows.map(({ entry }) => entry).toSorted(), [...new Set(expected)].toSorted())
      await sql`drop table temp.held`.execute(trx)
    })
  }

  it('finds what the index of all memories finds, before an update has filled it, meanwhile and afterwards', async () => {
    const { store, service, answers } = await opened('filled.db')
    const known = await answers()
    assert.deepEqual(
      known.map(({ total }) => total),
      [60, 8, 4, 60, 12, 20, 3, 60, 30, 120],
    )
    await emptyIndex(store)
    const memory = service()
    assert.deepEqual(await answers(memory), known)
    const { batch } = memory.sweeps.find(({ name }) => name === 'memory.index') ?? assert.fail()
    assert.equal(await batch(50), 50)
    assert.deepEqual(await answers(memory), known)
    assert.equal(await batch(50), 50)
    assert.equal(await batch(50), 20)
    assert.equal(await batch(50), 0)
    await assertExact(store)
    assert.deepEqual(await answers(memory), known)
    await store.close()
  })

  it('follows what is stored, changed, moved and forgotten while it is being filled, by stores alone', async () => {
    const { store, service } = await opened('followed.db')
    await emptyIndex(store)
    const memory = service()
    const put = (input: object) => memory.store(MemoryInput.parse(input))
    const found = async (query: string, project: string) =>
      (await memory.search(MemorySearch.parse({ query, project, limit: 50 }))).results.map(
        (result) => result.memory.key,
      )
    const change = async (from: number) => {
      const at = (i: number) => ({ key: `animal/${i}`, namespace: 'default', project: inputs[i]?.project ?? null })
      await put({ ...inputs[from], value: 'a walrus now' })
      await memory.move(at(from + 1), '/other')
      await memory.forget({ ...at(from + 2), if_version: 1 })
      await put({ key: `new/${from}`, value: 'walrus', project: '/other' })
      assert.ok((await found('walrus', inputs[from]?.project ?? '')).includes(`animal/${from}`))
      assert.ok((await found('penguin', '/other')).includes(`animal/${from + 1}`))
      assert.ok(!(await found(`${from + 2}`, at(from + 2).project ?? '')).includes(`animal/${from + 2}`))
      assert.ok((await found('walrus', '/other')).includes(`new/${from}`))
    }
    // Among those that are missing, then among those that are there.
    await change(1)
    await change(117)
    for (let i = 0; i < 3; i++) await put({ key: `more/${i}`, value: 'walrus' })
    assert.equal((await sql`select * from memories_project_backlog`.execute(store.db)).rows.length, 0)
    await assertExact(store)
    await change(41)
    await assertExact(store)
    await store.close()
  })

  it('takes little more than the text where the name of a project is long, and tells names apart that end alike', async () => {
    const { store, service } = await opened('long-names.db')
    const memory = service()
    const [here, there] = ['a', 'b'].map((first) => `${first}${'€'.repeat(511)}`) as [string, string]
    const value = `zanzibar ${Array.from({ length: 20_000 }, (_, i) => `w${i}`).join(' ')}`
    for (const project of [here, there]) await memory.store(MemoryInput.parse({ key: 'long', value, project }))
    const { rows } = await sql<{ bytes: number }>`
      select length(cast(said as blob)) as bytes from memories_project_words where seq in
        (select seq from memories where project in (${here}, ${there}))`.execute(store.db)
    assert.equal(rows.length, 2)
    for (const { bytes } of rows) assert.ok(bytes < 20_000 * 50, `${bytes}`)
    for (const project of [here, there]) {
      const { results } = await memory.search(MemorySearch.parse({ query: 'zanzibar', project }))
      assert.deepEqual(
        results.map((found) => found.memory.project),
        [project],
      )
    }
    await assertExact(store)
    await store.close()
  })

  it('keeps no word of what was forgotten, nor does the index of all memories', async () => {
    const { store, service } = await opened('forgotten.db')
    const memory = service()
    await memory.store(MemoryInput.parse({ key: 'k', value: 'the zanzibar plan', project: '/p' }))
    await keepMany(store, [{ key: 'later', value: 'penguin', project: '/p' }], { now: NOW })
    const holding = async () => {
      const tables = ['memories_text_data', 'memories_project_text_data']
      const held = await Promise.all(
        tables.map((table) => sql<{ block: Uint8Array }>`select block from ${sql.table(table)}`.execute(store.db)),
      )
      // The index keeps the end of a word that begins like the one before.
      return held.map(({ rows }) => rows.some(({ block }) => Buffer.from(block).includes('anzibar')))
    }
    assert.deepEqual(await holding(), [true, true])
    await memory.forget({ key: 'k', namespace: 'default', project: '/p', if_version: 1 })
    assert.deepEqual(await holding(), [false, false])
    await store.close()
  })

  it('leaves no word of a short memory that was forgotten in the file', async () => {
    const name = 'file.db'
    const { store, service } = await opened(name)
    await service().store(MemoryInput.parse({ key: 'k', value: 'the zanzibar plan', project: '/p' }))
    await service().store(MemoryInput.parse({ key: 'k', value: 'the zanzibar plan again', project: '/p' }))
    await keepMany(store, [{ key: 'later', value: 'penguin', project: '/p' }], { now: NOW })
    // Closing moves the log into the file.
    await store.close()
    const holds = () => /anzibar|abizna/.test(readFileSync(join(folder, name), 'latin1'))
    assert.equal(holds(), true)
    const again = await openStore(`sqlite:${join(folder, name)}`)
    const memory = createMemory({ store: again, now: () => new Date(NOW) })
    await memory.forget({ key: 'k', namespace: 'default', project: '/p', if_version: 2 })
    await again.close()
    assert.equal(holds(), false)
  })
})
