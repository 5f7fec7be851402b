import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = '/chat/completions'
const ASK = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }] }

describe('upstreams and routes that change', () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let running: RunningGateway
  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    running = await startGateway('sandbox')
  })
  beforeEach(async () => {
    for (const upstream of [one, two]) {
      upstream.received.length = 0
      upstream.on(CHAT, double.json(200, double.completion('Hello.')))
      upstream.on('/models', double.json(200, { data: [{ id: 'm' }] }))
    }
    await set({ upstreams: { one: at(one), two: at(two) }, routes: [{ model: 'm', to: ['one'] }] })
  })
  after(async () => {
    await running.close()
    await one.close()
    await two.close()
  })

  const at = ({ url }: double.UpstreamDouble) => ({ provider: url, api_keys: [`key-for-${new URL(url).port}`] })
  const set = (changes: Record<string, unknown>) => running.gateway.config.set(changes)
  const request = (path: string, body?: unknown) =>
    fetch(`${running.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const originOf = async (body: unknown) => (await request(`/v1${CHAT}`, body)).headers.get('x-gazeway-upstream')

  for (const [what, changes] of [
    ['lead elsewhere', () => ({ routes: [{ model: 'm', to: ['two'] }] })],
    ['lose the upstream', () => ({ routes: [{ model: 'm', to: ['two'] }], 'upstreams.one': null })],
    ['move the upstream', () => ({ 'upstreams.one': at(two) })],
  ] as const)
    it(`${what} at once, and drop no stream`, async () => {
      let go = () => {}
      const going = new Promise<void>((resolve) => {
        go = resolve
      })
      const [first, ...rest] = double.chunks(['Hel', 'lo.'])
      one.on(CHAT, async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(first)}\n\n`)
        response.write(`data: ${JSON.stringify(rest[0])}\n\n`)
        await going
        for (const chunk of rest.slice(1)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
        response.end('data: [DONE]\n\n')
      })
      const reply = await request(`/v1${CHAT}`, { ...ASK, stream: true })
      assert.equal(reply.headers.get('x-gazeway-upstream'), 'one')
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
      let text = Buffer.from((await reader.read()).value as Uint8Array).toString()
      await set(changes())
      await originOf(ASK)
      assert.equal(two.received.length, 1, 'the next call goes there')
      go()
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read())
        text += Buffer.from(value as Uint8Array).toString()
      assert.match(text, /"Hel"[\s\S]*"lo\."[\s\S]*\[DONE\]\n\n$/)
      assert.equal(one.received.length, 1)
    })

  it('are refused whole where they name what is not there, and the last good ones stay', async () => {
    await assert.rejects(set({ 'upstreams.one': null }), /routes\.0\.to\.0: unknown upstream one/)
    assert.equal(await originOf(ASK), 'one')
  })

  it('have no candidate for a model that no upstream serves, and suggest the nearest', async () => {
    const keyless = await startGateway(null, { GAZEWAY_UPSTREAM_API_KEY: '' }, { upstreams: { one: at(one) } })
    const ask = (path: string, body?: unknown) =>
      fetch(`${keyless.url}/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${keyless.key}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    try {
      const { data } = (await (await ask('/models')).json()) as { data: { id: string }[] }
      assert.deepEqual(
        data.map(({ id }) => id),
        ['one/m'],
        'of the default without its key nothing can be asked',
      )
      assert.equal((await ask(CHAT, { ...ASK, model: 'one/n' })).status, 200, 'whether it has n, the upstream knows')
      const unknown = await ask(CHAT, { ...ASK, model: 'on/m' })
      const { error } = (await unknown.json()) as { error: { code: string; message: string } }
      assert.deepEqual([unknown.status, error.code], [404, 'model_not_found'])
      assert.match(error.message, /"on\/m"; the nearest is one\/m\./)
      const none = await ask(CHAT, { messages: ASK.messages })
      assert.equal(none.status, 503, 'without a model the default is asked, whose key is missing')
      const health = (await (await fetch(`${keyless.url}/health`)).json()) as { status: string; upstreams: unknown }
      assert.deepEqual(health.upstreams, [
        { name: 'default', configured: false, reachable: null },
        { name: 'one', configured: true, reachable: true },
      ])
    } finally {
      await keyless.close()
    }
  })

  it('list what can be asked for, each once, however long the lists are', async () => {
    const data = Array.from({ length: 5000 }, (_, at) => ({
      id: `org/model-${at}`,
      object: 'model',
      created: at,
      owned_by: 'org',
    }))
    one.on('/models', double.json(200, { data: [...data, data[0]] }))
    two.on('/models', double.drops)
    await set({
      routes: [
        { model: 'smart', to: ['one/org/model-1'] },
        { model: 'gpt-*', to: ['two'] },
      ],
      'upstreams.one.aliases': { quick: 'org/model-7', gone: 'org/old' },
    })
    const { data: models } = (await (await request('/v1/models')).json()) as { data: { id: string }[] }
    const ids = models.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length, 'each once')
    for (const id of ['smart', 'llm-3-fast', 'one/quick', 'one/org/model-0', 'one/org/model-4999'])
      assert.ok(ids.includes(id), id)
    for (const id of ['gpt-*', 'one/gone', 'org/model-0']) assert.ok(!ids.includes(id), id)
    assert.equal((await request('/v1/models/one/org/model-4999')).status, 200)
    await request(`/v1${CHAT}`, { ...ASK, model: 'one/quick' })
    assert.ok(
      one.received.some(({ body }) => (body as { model?: string }).model === 'org/model-7'),
      'by its alias',
    )
  })

  it('pass requests of the tool gateway_gateway on to the upstream of their model, else to default', async () => {
    const context = { surface: 'stdio' as const, callerId: null }
    one.on('/embeddings', double.json(200, { data: [] }))
    const passed = await running.gateway.upstream.directCall(
      { method: 'POST', path: '/embeddings', body: { model: 'one/e', input: 'x' } },
      context,
    )
    assert.equal(passed.status, 200)
    assert.deepEqual(
      one.received.map(({ body }) => body),
      [{ model: 'e', input: 'x' }],
    )
    const listed = await running.gateway.upstream.directCall({ method: 'GET', path: '/models' }, context)
    assert.match(JSON.stringify(listed.body), /llm-3-fast/)
  })

  it('are distinguished in records where one has the name of the default’s provider', async () => {
    await set({ 'upstreams.sandbox': at(two), routes: null })
    for (const model of ['sandbox/m', 'llm-3-fast']) await originOf({ ...ASK, model })
    const { items } = await running.gateway.calls.history({ limit: 2 })
    assert.deepEqual(items.map(({ upstream }) => upstream).sort(), ['default', 'sandbox'])
    await set({ 'upstreams.sandbox': null })
  })

  it('charge for the model that stands in for an unknown name, not for the name', async () => {
    await set({
      routes: [{ model: 'llm-3-fast', to: ['one'] }],
      'pricing.models': { 'llm-3-fast': { input: 1, output: 1 }, m: { input: 100, output: 100 } },
    })
    await originOf({ ...ASK, model: 'llm-3-fast' })
    const { items } = await running.gateway.calls.history({ limit: 1 })
    assert.deepEqual(
      items.map(({ requested_model, model, upstream_cost_usd }) => [requested_model, model, upstream_cost_usd]),
      [['llm-3-fast', 'm', 0.0015]],
    )
    await set({ 'pricing.models': null })
  })

  it('hold a key to the dearest candidate, and never charge more than was set aside', async () => {
    await set({
      routes: [{ model: 'm', to: ['one/cheap', 'two/dear'] }],
      'pricing.models': { cheap: { input: 1, output: 1 }, dear: { input: 1000, output: 1000 } },
    })
    const poor = await running.gateway.keys.create({
      name: 'poor',
      scopes: ['inference'],
      billing: 'cost',
      limits: { credit_limit_usd: 100, budgets: [{ usd: 0.05, per: 'total' }] },
    })
    const rich = await running.gateway.keys.create({
      name: 'rich',
      scopes: ['inference'],
      billing: 'cost',
      limits: { credit_limit_usd: 100, budgets: [{ usd: 2, per: 'total' }] },
    })
    const ask = (key: string) =>
      fetch(`${running.url}/v1${CHAT}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ ...ASK, max_tokens: 20 }),
      })
    assert.equal((await ask(poor.key)).status, 402, 'the dear one may answer')
    assert.deepEqual([one.received.length, two.received.length], [0, 0])

    one.on(CHAT, double.fails(503))
    two.on(
      CHAT,
      double.json(
        200,
        double.completion('Hello.', { prompt_tokens: 1_000_000, completion_tokens: 5, total_tokens: 1_000_005 }),
      ),
    )
    const reply = await ask(rich.key)
    assert.equal(reply.status, 200)
    const charged = Number(reply.headers.get('x-gazeway-cost-usd'))
    assert.ok(charged > 0.3 && charged <= 2, `charged ${charged}`)
    assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
  })

  it('reserve the price of a dearer model that stands in for an unknown name', async () => {
    await set({
      routes: [{ model: 'llm-3-fast', to: ['one'] }],
      'pricing.models': { m: { input: 1000, output: 1000 } },
    })
    const held = { scopes: ['inference' as const], billing: 'cost' as const }
    const poor = await running.gateway.keys.create({ name: 'poor', ...held, limits: { credit_limit_usd: 0.05 } })
    const rich = await running.gateway.keys.create({ name: 'rich', ...held, limits: { credit_limit_usd: 10 } })
    const ask = (key: string) =>
      fetch(`${running.url}/v1${CHAT}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ ...ASK, model: 'llm-3-fast', max_tokens: 20 }),
      })
    assert.equal((await ask(poor.key)).status, 402)
    assert.ok(!one.received.some(({ method }) => method === 'POST'), 'it is refused before the upstream is asked')
    assert.equal((await ask(rich.key)).headers.get('x-gazeway-cost-usd'), '0.015')
    await set({ 'pricing.models': null })
  })

  it('restrict a key to its allowed models on every upstream', async () => {
    await set({ routes: [{ model: 'open', to: ['one/small', 'two/large'] }] })
    const { key } = await running.gateway.keys.create({ name: 'small', scopes: ['inference'], models: ['small'] })
    const ask = (model: string) =>
      fetch(`${running.url}/v1${CHAT}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ ...ASK, model }),
      })
    assert.equal((await ask('open')).status, 403, 'large may answer in its place')
    assert.equal((await ask('one/small')).status, 200)
    assert.equal((await ask('two/large')).status, 403)
  })
})
