import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dies } from './dying.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>

describe('memories over REST', () => {
  let running: RunningPlatform

  before(async () => {
    running = await startPlatform('sandbox')
  })
  after(() => running.close())

  const get = (path: string) => ask(running, 'GET', path)
  const json = async (reply: Response | Promise<Response>) => (await (await reply).json()) as Json
  const store = (body: object, headers: Record<string, string> = {}) =>
    ask(running, 'POST', '/api/memory', { body, headers })
  const search = (body: object) => ask(running, 'POST', '/api/memory/search', { body })

  it('are stored with 201, and once under an idempotency key', async () => {
    const body = { key: 'deploy/staging', value: 'uses the eu-west cluster', tags: ['deploy'], namespace: 'ops' }
    const first = await store(body, { 'idempotency-key': 'once' })
    assert.equal(first.status, 201)
    const { memory, created } = await json(first)
    assert.match(memory.id, /^mem_/)
    assert.deepEqual([memory.key, memory.version, created], ['deploy/staging', 1, true])
    const again = await store(body, { 'idempotency-key': 'once' })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(await json(again), { memory, created, similar: [] })
    const next = await store({ ...body, value: { cluster: 'eu-north' } })
    assert.deepEqual([next.status, (await json(next)).memory.version], [201, 2])
    assert.equal((await errorOf(await store({ ...body, if_version: 1 }))).code, 'version_conflict')
  })

  it('are listed newest first, by namespace and tag, a page at a time', async () => {
    for (const i of [1, 2, 3]) await store({ key: `page/${i}`, value: i, namespace: 'pages', tags: [`even${i % 2}`] })
    const first = await json(get('/api/memory?namespace=pages&limit=2'))
    assert.deepEqual(
      first.items.map(({ key }: Json) => key),
      ['page/3', 'page/2'],
    )
    assert.equal(first.total, 3)
    const rest = await json(get(`/api/memory?namespace=pages&limit=2&cursor=${first.next_cursor}`))
    assert.deepEqual([rest.items[0].key, rest.next_cursor], ['page/1', null])
    const tagged = await json(get('/api/memory?tag=even1'))
    assert.deepEqual(
      tagged.items.map(({ key }: Json) => key),
      ['page/3', 'page/1'],
    )
  })

  it('are found by words and filters', async () => {
    const before = new Date().toISOString()
    await store({ key: 'lunch', value: 'The canteen serves goulash', namespace: 'food', tags: ['menu', 'warm'] })
    await store({ key: 'dinner', value: 'Goulash again', namespace: 'food', tags: ['menu'] })
    const found = async (filters: object) => {
      const { results, total } = await json(search({ query: 'goulas', filters }))
      assert.equal(total, results.length)
      return results.map(({ memory }: Json) => memory.key).sort()
    }
    assert.deepEqual(await found({ namespace: 'food' }), ['dinner', 'lunch'])
    assert.deepEqual(await found({ tags: ['menu', 'warm'] }), ['lunch'])
    assert.deepEqual(await found({ from: before }), ['dinner', 'lunch'])
    assert.deepEqual(await found({ to: before }), [])
    assert.deepEqual(await found({ namespace: 'ops' }), [])
    const { results } = await json(search({ query: 'goulash', limit: 1 }))
    assert.deepEqual(Object.keys(results[0]), ['memory', 'score', 'excerpt'])
    assert.ok(results[0].score > 0 && results[0].score < 1, 'a score is in (0, 1)')
  })

  it('are recalled by key, or as the best match', async () => {
    await store({ key: 'wifi', value: 'The guest network is called penguin' })
    const byKey = await json(get('/api/memory/recall?key=wifi'))
    assert.deepEqual([byKey.found, byKey.memory.value], [true, 'The guest network is called penguin'])
    assert.deepEqual((await json(get('/api/memory/recall?q=penguins+network'))).memory.key, 'wifi')
    for (const query of ['key=unknown', 'key=wifi&namespace=elsewhere', 'q=zzzzzz', 'q=penguin&namespace=elsewhere'])
      assert.equal((await get(`/api/memory/recall?${query}`)).status, 404, query)
    for (const query of ['', 'key=a&q=b', 'key=a&unknown=1'])
      assert.equal((await get(`/api/memory/recall?${query}`)).status, 422, query)
    for (const query of ['', 'key=a&q=b']) {
      const { param, message } = await errorOf(await get(`/api/memory/recall?${query}`))
      assert.deepEqual([param, message.split(';')[0]], ['key', 'key: exactly one of key and q is required'])
    }
  })

  it('are stored and recalled by key within the project that is sent', async () => {
    for (const project of ['/shop', null]) await store({ key: 'branch', value: `of ${project}`, project })
    const recalled = async (query: string) => (await json(get(`/api/memory/recall?key=branch${query}`))).memory.value
    assert.equal(await recalled(''), 'of null')
    assert.equal(await recalled('&project=/shop'), 'of /shop')
    assert.equal(await recalled('&project=/blog'), 'of null')
    await store({ key: 'only', value: 1, project: '/shop' })
    assert.equal((await get('/api/memory/recall?key=only')).status, 404)
    for (const { id } of (await json(get('/api/memory'))).items.filter(({ key }: Json) => /branch|only/.test(key)))
      await ask(running, 'DELETE', `/api/memory/${id}`)
  })

  it('are forgotten, once', async () => {
    const { memory } = await json(store({ key: 'gone', value: 1 }))
    const reply = await ask(running, 'DELETE', `/api/memory/${memory.id}`)
    assert.deepEqual([reply.status, await reply.text()], [204, ''])
    assert.equal((await get('/api/memory/recall?key=gone')).status, 404)
    const again = await ask(running, 'DELETE', `/api/memory/${memory.id}`)
    assert.deepEqual([again.status, (await errorOf(again)).code], [404, 'not_found'])
  })

  it('add up', async () => {
    const stats = await json(get('/api/memory/stats'))
    assert.deepEqual(Object.keys(stats), ['engine', 'count', 'bytes', 'namespaces', 'oldest_at', 'newest_at'])
    assert.deepEqual(stats.namespaces, { default: 1, food: 2, ops: 1, pages: 3 })
    assert.deepEqual([stats.engine, stats.count], ['sqlite', 7])
    assert.ok(stats.bytes > 100 && stats.oldest_at < stats.newest_at, 'it tells how much and since when')
  })

  it('refuse what is not valid, and name the field', async () => {
    for (const [body, param] of [
      [{ value: 1 }, 'key'],
      [{ key: 'a' }, 'value'],
      [{ key: 'a', value: 1, ttl_seconds: 0 }, 'ttl_seconds'],
      [{ key: 'a', value: 1, colour: 'red' }, 'colour'],
    ] as const)
      assert.equal((await errorOf(await store(body))).param, param)
    for (const [body, param] of [
      [{}, 'query'],
      [{ query: 'a', limit: 101 }, 'limit'],
      [{ query: 'a', filters: { from: 'yesterday' } }, 'filters.from'],
      [{ query: 'a', filters: { colour: 'red' } }, 'filters.colour'],
    ] as const)
      assert.equal((await errorOf(await search(body))).param, param)
    for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'tag='])
      assert.equal((await get(`/api/memory?${query}`)).status, 422, query)
    assert.equal((await errorOf(await get('/api/memory?cursor=none'))).code, 'invalid_cursor')
    assert.equal((await ask(running, 'PUT', '/api/memory')).status, 405)
    assert.equal((await ask(running, 'GET', '/api/memory', { key: null })).status, 401)
  })

  it('are stored once under an idempotency key, though the first answer was lost with its process', async (t) => {
    const { memory } = running.gateway
    const own = memory.of(running.keyId)
    t.mock.method(memory, 'of', () => ({ ...own, store: dies(own.store) }), { times: 1 })
    const plan = { key: 'plan', value: 'old' }
    const lost = { 'idempotency-key': 'lost' }
    assert.equal((await store(plan, lost)).status, 500)
    await store({ ...plan, value: 'new' })
    const again = await store(plan, lost)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
    assert.deepEqual((await json(again)).memory.version, 1)
    assert.equal((await json(get('/api/memory/recall?key=plan'))).memory.value, 'new')
  })
})
