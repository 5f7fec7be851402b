import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { createKeys } from '../../src/identity/keys.ts'
import {
  createMemory,
  endSpace,
  MemoryInput,
  MemoryList,
  MemorySearch,
  type MemoryService,
} from '../../src/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { keepMany } from './keep-many.ts'

const START = Date.parse('2026-11-21T07:17:52.000Z')
const DAY = 86_400_000

/** Tests of memory owners and projects, for every engine. `open` opens an empty store. */
export function memorySpacesContract(open: () => Promise<Store>): void {
  async function start() {
    const store = await open()
    let at = START
    const now = () => new Date(at)
    const memory = createMemory({ store, now })
    return {
      store,
      now,
      memory,
      operator: using(memory),
      one: using(memory.of('key_one')),
      other: using(memory.of('key_other')),
      wait: (ms: number) => {
        at += ms
      },
    }
  }

  describe("keys' own memories", () => {
    it('keep the same key of several owners apart', async () => {
      const { store, operator, one, other } = await start()
      for (const [i, owner] of [operator, one, other].entries())
        for (const value of [`first of ${i}`, `second of ${i}`]) await owner.put({ key: 'deploy', value, tags: ['t'] })
      for (const [i, owner] of [operator, one, other].entries()) {
        const { memory } = await owner.service.recall({ key: 'deploy', namespace: 'default' })
        assert.deepEqual([memory?.value, memory?.version], [`second of ${i}`, 2])
        for (const query of [{}, { namespace: 'default' }, { tag: 't' }]) {
          const page = await owner.list(query)
          assert.deepEqual([page.total, page.items.map(({ value }) => value)], [1, [`second of ${i}`]])
        }
        assert.deepEqual(await owner.found('deploy'), ['deploy'])
        assert.deepEqual(await owner.found('second', { namespace: 'default', tags: ['t'] }), ['deploy'])
        assert.deepEqual(await owner.service.keys({ start: 'd', limit: 5 }), ['deploy'])
        const { count, namespaces } = await owner.service.stats()
        assert.deepEqual([count, namespaces], [1, { default: 1 }])
      }
      await store.close()
    })

    it('cannot be read, listed, counted or deleted by another owner', async () => {
      const { store, operator, one, other } = await start()
      const { memory } = await operator.put({ key: 'vault', value: 'the combination is penguin', namespace: 'secret' })
      const { memory: ones } = await one.put({ key: 'plan', value: 'walrus', namespace: 'mine' })
      for (const stranger of [one, other]) {
        assert.equal((await stranger.service.recall({ key: 'vault', namespace: 'secret' })).found, false)
        for (const query of ['penguin', 'penguni', 'peng', 'vault', 'combination is'])
          assert.deepEqual(await stranger.search(query), { results: [], total: 0, mode: 'lexical' }, query)
        assert.equal((await stranger.list({ namespace: 'secret' })).total, 0)
        assert.deepEqual(await stranger.service.keys({ start: '', namespace: 'secret', limit: 5 }), [])
        await assert.rejects(stranger.service.remove(memory.id), { code: 'not_found' })
      }
      for (const stranger of [operator, other]) {
        assert.deepEqual(await stranger.search('walrus'), { results: [], total: 0, mode: 'lexical' })
        await assert.rejects(stranger.service.remove(ones.id), { code: 'not_found' })
      }
      assert.deepEqual((await other.service.stats()).namespaces, {})
      assert.deepEqual((await one.service.stats()).namespaces, { mine: 1 })
      await store.close()
    })

    it('learn no word of others from how a typo is corrected', async () => {
      const { store, operator, one } = await start()
      await operator.put({ key: 'animals', value: 'penguin elephants elephansty elephansz elephanxt elephangst' })
      await one.put({ key: 'own', value: 'elephanbb' })
      assert.deepEqual(
        await one.found('elephanst'),
        ['own'],
        'two typos from its own word, one from five of the operator’s',
      )
      await one.put({ key: 'birds', value: 'ostrich' })
      assert.deepEqual(await one.found('ostrihc'), ['birds'], 'its own words correct it')
      assert.deepEqual(await operator.found('ostrihc'), [])
      assert.deepEqual(await operator.found('pneguin'), ['animals'])
      await store.close()
    })

    it('rank by their own words alone', async () => {
      const { store, operator, one } = await start()
      const scores = async () =>
        (await one.search('zeta omega')).results.map(({ memory, score }) => [memory.key, score])
      await one.put({ key: 'a', value: 'zeta one two' })
      await one.put({ key: 'b', value: 'omega one two' })
      const before = await scores()
      for (let i = 0; i < 40; i++) await operator.put({ key: `o${i}`, value: 'zeta one two' })
      assert.deepEqual(await scores(), before)
      await store.close()
    })

    it('are deleted 30 days after their key was revoked, and no others', async () => {
      const { store, now, operator, one, other, wait, memory } = await start()
      const keys = createKeys({
        store,
        now,
        fixedKey: null,
        onEnded: endSpace,
        onError: (error) => assert.fail(`${error}`),
      })
      const { record } = await keys.create({ name: 'customer', scopes: ['platform'] })
      const customer = using(memory.of(record.id))
      for (let i = 0; i < 5; i++) await customer.put({ key: `k${i}`, value: 'kept', tags: ['t'] })
      for (const owner of [operator, one, other]) await owner.put({ key: 'k0', value: 'kept' })
      await keys.revoke(record.id)
      wait(29 * DAY)
      await keys.revoke(record.id)
      assert.equal(await memory.sweepEnded(100), 0)
      assert.equal((await customer.service.stats()).count, 5)
      wait(DAY)
      assert.deepEqual([await memory.sweepEnded(3), await memory.sweepEnded(3), await memory.sweepEnded(3)], [3, 2, 0])
      assert.deepEqual((await customer.service.stats()).namespaces, {})
      for (const table of ['memory_tags', 'memory_spaces'] as const) {
        const { rows } = await store.db
          .selectFrom(table)
          .selectAll()
          .execute()
          .then((rows) => ({ rows }))
        assert.equal(rows.length, table === 'memory_tags' ? 0 : 2, table)
      }
      for (const owner of [operator, one, other]) assert.deepEqual(await owner.found('kept'), ['k0'])
      await keys.close()
      await store.close()
    })

    it('are one space for a key whose first memories are stored at once', async () => {
      const { store, one } = await start()
      await Promise.all(Array.from({ length: 12 }, (_, i) => one.put({ key: `k${i}`, value: i })))
      assert.equal((await one.service.stats()).count, 12)
      await store.close()
    })
  })

  describe('memories of projects', () => {
    it('are found in their project, and with those of none', async () => {
      const { store, operator } = await start()
      await operator.put({ key: 'a', value: 'penguin here', project: '/a', tags: ['t'] })
      await operator.put({ key: 'b', value: 'penguin there', project: '/b', tags: ['t'] })
      await operator.put({ key: 'all', value: 'penguin everywhere' })
      const found = async (of: Record<string, unknown>) => (await operator.found('penguin', of)).toSorted()
      assert.deepEqual(await found({ project: '/a' }), ['a', 'all'])
      assert.deepEqual(await found({ project: '/b' }), ['all', 'b'])
      assert.deepEqual(await found({ project: null }), ['all'])
      assert.deepEqual(await found({}), ['all'])
      assert.deepEqual(await found({ project: '/a', projects: 'all' }), ['a', 'all', 'b'])
      assert.equal((await operator.search('penguin', { project: '/a' })).total, 2)
      const newest = async (of: { project: string | null; projects?: 'all' }) =>
        (await operator.service.newest({ ...of, limit: 2 })).map(({ key }) => key)
      assert.deepEqual((await newest({ project: '/a' })).toSorted(), ['a', 'all'])
      assert.deepEqual(await newest({ project: null }), ['all'])
      assert.equal((await newest({ project: null, projects: 'all' })).length, 2)
      for (const query of [{ project: '/a' }, { project: '/a', tag: 't' }, { project: '/a', namespace: 'default' }]) {
        const page = await operator.list(query)
        assert.deepEqual([page.total, page.items.map(({ key }) => key)], [1, ['a']])
      }
      assert.equal((await operator.list()).total, 3)
      await store.close()
    })

    it('of a small project are found by words that many of another have', async () => {
      const { store, now } = await start()
      const many = (count: number, project: string | null, tags: string[] = []) =>
        Array.from({ length: count }, (_, i) => ({ key: `rock-${i}`, value: 'a puffin nests', project, tags }))
      await keepMany(store, [...many(600, '/large'), ...many(5, '/small'), ...many(3, null, ['t'])], {
        now: now().toISOString(),
      })
      const { service, statements } = watched(store, now)
      const found = async (query: string, of: Record<string, unknown>) => {
        const { results, total } = await service.search({ ...MemorySearch.parse({ query, limit: 50 }), ...of })
        return [total, ...new Set(results.map(({ memory }) => memory.project))]
      }
      for (const query of ['puffin', 'puffin rock', 'puffin nests at the rock'])
        assert.deepEqual(await found(query, { project: '/small' }), [8, null, '/small'])
      const isFenced = () => statements.splice(0).some((text) => text.includes('offset 0'))
      assert.equal(isFenced(), store.engine === 'postgres', 'PostgreSQL looks words up by project')
      assert.deepEqual(await found('puffin', { project: '/small', tags: ['t'] }), [3, null])
      assert.deepEqual(await found('puffin', { project: ['/small', '/none'] }), [8, null, '/small'])
      statements.splice(0)
      assert.deepEqual((await found('puffin', { projects: 'all' }))[0], 608)
      assert.equal(isFenced(), false)

      // 5,400 memories are no small project.
      const copied = ['space', 'project', 'namespace', 'tags', 'also', 'bytes', 'words', 'embedded', 'version', 'value']
      const more = ['created_at', 'updated_at', 'key_text', 'tags_text', 'also_text', 'value_text']
      const columns = sql.join([...copied, ...more].map((column) => sql.ref(column)))
      const copies = sql.join(
        Array.from({ length: 8 }, (_, i) => sql`select ${sql.lit(`-${i}`)} as copy`),
        sql` union all `,
      )
      await sql`insert into memories (id, key, ${columns}) select id || copy, key || copy, ${columns}
        from memories cross join (${copies}) as copies where project = '/large'`.execute(store.db)
      statements.splice(0)
      assert.deepEqual(await found('puffin', { project: '/large' }), [1000, '/large'])
      assert.equal(isFenced(), false)
      assert.deepEqual(await found('puffin', { project: '/small' }), [8, null, '/small'])
      await store.close()
    })

    it('keep the same key of several projects apart, with its versions, its successor and its deletion', async () => {
      const { store, operator } = await start()
      const { service, put } = operator
      const recall = async (project: string | null | undefined, version?: number) => {
        const { memory, superseded_by } = await service.recall({
          key: 'deploy',
          namespace: 'default',
          project,
          version,
        })
        return memory ? [memory.value, memory.project, memory.version] : superseded_by
      }
      await put({ key: 'deploy', value: 'general', tags: ['t'] })
      for (const value of ['first of a', 'second of a']) await put({ key: 'deploy', value, project: '/a' })
      const b = await put({ key: 'deploy', value: 'of b', project: '/b', if_version: 0 })
      assert.deepEqual([b.created, b.memory.version, b.memory.tags], [true, 1, []])
      assert.deepEqual(await recall('/a'), ['second of a', '/a', 2])
      assert.deepEqual(await recall('/a', 1), ['first of a', '/a', 1])
      assert.deepEqual(await recall('/b'), ['of b', '/b', 1])
      assert.equal(await recall('/b', 2), null, 'versions of another project are not read')
      for (const other of [undefined, null, '/c']) assert.deepEqual(await recall(other), ['general', null, 1])
      await assert.rejects(put({ key: 'deploy', value: 1, project: '/b', if_version: 2 }), {
        code: 'version_conflict',
        message: /of the project "\/b" is at version 1, not at version 2/,
      })
      await assert.rejects(put({ key: 'new', value: 1, project: '/c', supersedes: 'deploy' }), { code: 'not_found' })
      await put({ key: 'release', value: 'of a', project: '/a', supersedes: 'deploy' })
      assert.equal(await recall('/a'), 'release', 'the general one does not take its place')
      await service.remove(b.memory.id)
      assert.deepEqual(await recall('/b'), ['general', null, 1])
      assert.equal((await put({ key: 'deploy', value: 'anew', project: '/a' })).memory.version, 3)
      assert.deepEqual(await recall('/b'), ['general', null, 1])
      await store.close()
    })

    it('are counted for lists, and not where only the newest are asked for', async () => {
      const { store, operator } = await start()
      for (const project of ['/a', null]) await operator.put({ key: 'k', value: project ?? 'general', project })
      const { service, statements } = watched(store, () => new Date(START))
      const counting = () => statements.splice(0).filter((text) => text.includes('count(')).length
      assert.equal((await service.newest({ project: '/a', limit: 5 })).length, 2)
      assert.equal(counting(), 0)
      assert.equal((await service.recent(MemoryList.parse({ project: '/a' }))).total, 1)
      assert.equal(counting(), 1)
      await store.close()
    })

    it('that are stored under one key at the same time all stay, each in its project', async () => {
      const { store, operator } = await start()
      const projects = Array.from({ length: 6 }, (_, i) => `/p${i % 3}`)
      await Promise.all(projects.map((project) => operator.put({ key: 'k', value: project, project })))
      const { items } = await operator.list()
      assert.deepEqual(items.map(({ project, value, version }) => [project, value, version]).toSorted(), [
        ['/p0', '/p0', 2],
        ['/p1', '/p1', 2],
        ['/p2', '/p2', 2],
      ])
      await store.close()
    })
  })
}

/** A service with the defaults of its inputs. */
function using(service: MemoryService) {
  const search = (query: string, more: Record<string, unknown> = {}) =>
    service.search(MemorySearch.parse({ query, ...more }))
  return {
    service,
    put: (input: Record<string, unknown>) => service.store(MemoryInput.parse(input)),
    list: (query: Record<string, unknown> = {}) => service.recent(MemoryList.parse(query)),
    search,
    found: async (query: string, more: Record<string, unknown> = {}) =>
      (await search(query, more)).results.map(({ memory }) => memory.key),
  }
}

/** A service whose statements are noted. */
function watched(store: Store, now: () => Date) {
  const statements: string[] = []
  const watch = (db: Store['db']) =>
    db.withPlugin({
      transformQuery({ node }) {
        statements.push(JSON.stringify(node))
        return node
      },
      transformResult: async ({ result }) => result,
    })
  const service = createMemory({ store: { ...store, db: watch(store.db), reads: watch(store.reads) }, now })
  return { service, statements }
}
