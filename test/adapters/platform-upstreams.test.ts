import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Explained, ShownUpstream, Tested } from '../../adapters/platform/routes/upstream-routes.ts'
import { message } from '../doubles/anthropic.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

describe('the upstreams on the platform', () => {
  let one: double.UpstreamDouble
  let claude: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    one = await double.startUpstream()
    claude = await double.startUpstream()
    running = await startPlatform('sandbox', {
      document: {
        upstreams: {
          one: {
            provider: one.url,
            api_keys: ['key-of-one-number-1', 'key-of-one-number-2'],
            aliases: { quick: 'quick-1' },
          },
          claude: { provider: claude.url, protocol: 'anthropic', api_keys: ['key-of-claude-1'], models: ['claude-*'] },
          groq: {},
        },
        routes: [{ model: 'smart', to: ['groq', 'one/quick', { upstream: 'default', weight: 4 }] }],
      },
    })
  })
  beforeEach(() => {
    for (const upstream of [one, claude]) {
      upstream.received.length = 0
      upstream.on('/models', double.json(200, { data: [{ id: 'quick-1' }] }))
    }
    one.on('/chat/completions', double.json(200, double.completion('ok')))
    claude.on('/messages', double.json(200, message('ok')))
  })
  after(async () => {
    await running.close()
    await one.close()
    await claude.close()
  })

  const request = (path: string, body?: unknown, key = running.admin) =>
    fetch(`${running.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const json = async <T>(path: string, body?: unknown) => (await (await request(path, body)).json()) as T
  const chat = (model: string) =>
    fetch(`${running.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${running.admin}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    })
  const states = async () => {
    const { items } = await json<{ items: ShownUpstream[] }>('/api/upstreams')
    return Object.fromEntries(items.map((item) => [item.name, item]))
  }

  it('are shown with state, latency, errors and resting keys', async () => {
    one.on(
      '/chat/completions',
      double.fails(429, { 'retry-after': '60' }),
      double.json(200, double.completion('ok')),
      double.fails(500),
    )
    await chat('one/quick')
    await chat('one/quick')
    const { default: first, one: shown, groq } = await states()
    assert.deepEqual([first?.provider, first?.reachable, first?.calls, first?.error_rate], ['sandbox', true, 0, null])
    assert.deepEqual([groq?.configured, groq?.reachable, groq?.keys], [false, null, 0])
    assert.deepEqual([shown?.configured, shown?.reachable, shown?.keys, shown?.calls], [true, true, 2, 3])
    assert.ok(Math.abs((shown?.error_rate ?? 0) - 2 / 3) < 1e-9, 'a 429 and a 500 of three calls')
    assert.equal(typeof shown?.latency_ms, 'number')
    const [resting, ...others] = shown?.resting_keys ?? []
    assert.deepEqual([resting?.key, others.length], [1, 0])
    assert.ok((resting?.seconds ?? 0) > 50 && (resting?.seconds ?? 0) <= 60)
    assert.doesNotMatch(JSON.stringify(shown), /key-of-one/)
  })

  it('show the models whose circuit breaker is open, and to whom', async () => {
    one.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 10; i++) await chat('one/other')
    assert.deepEqual((await states()).one?.open_circuits, [
      { path: '/chat/completions', model: 'other', for_everyone: false },
    ])
  })

  it('show when their lists of models failed, which is no call', async () => {
    const before = (await running.gateway.calls.history({ limit: 1 })).total
    await running.gateway.config.set({ 'upstreams.one.weight': 3 })
    one.on('/models', double.fails(500))
    assert.equal((await request('/api/available-models', undefined, running.key)).status, 200)
    const { one: failed, claude: listed } = await states()
    assert.deepEqual([failed?.model_list?.error, listed?.model_list?.error], ['It answered 500.', null])
    assert.equal((await running.gateway.calls.history({ limit: 1 })).total, before)
  })

  for (const [model, by, route, candidates] of [
    [
      'smart',
      'route',
      0,
      [
        ['groq', 'smart', false],
        ['one', 'quick-1', true],
        ['default', 'smart', true],
      ],
    ],
    ['one/quick', 'name', null, [['one', 'quick-1', true]]],
    ['claude-9', 'models', null, [['claude', 'claude-9', true]]],
    ['mine', 'default', null, [['default', 'mine', true]]],
  ] as const)
    it(`say who answers for ${model}, and why`, async () => {
      const found = await json<Explained>(`/api/candidates?model=${model}`)
      assert.deepEqual([found.by, found.route], [by, route])
      assert.deepEqual(
        found.candidates.map(({ upstream, id, configured }) => [upstream, id, configured]),
        candidates,
      )
    })

  it('are tested with a word, past all routes', async () => {
    await running.gateway.config.set({ 'upstreams.one.weight': 2 })
    const tested = await json<Tested>('/api/upstreams/one/test', { model: 'quick' })
    assert.deepEqual([tested.ok, tested.status, tested.text], [true, 200, 'ok'])
    assert.ok(
      one.received.some(({ body }) => (body as { model?: string }).model === 'quick-1'),
      'by its id',
    )
    assert.deepEqual((await json<Tested>('/api/upstreams/claude/test', { model: 'claude-9' })).text, 'ok')
    one.on('/chat/completions', double.json(401, { error: { message: 'No such key.' } }))
    const refused = await json<Tested>('/api/upstreams/one/test', { model: 'quick' })
    assert.deepEqual([refused.ok, refused.status, refused.text], [false, 401, 'No such key.'])
    const keyless = await request('/api/upstreams/groq/test', { model: 'x' })
    assert.match(((await keyless.json()) as Tested).text, /GROQ_API_KEY/)
    assert.equal((await request('/api/upstreams/nobody/test', { model: 'x' })).status, 404)
  })

  it('are for admins', async () => {
    for (const path of ['/api/upstreams', '/api/candidates?model=m'])
      assert.equal((await request(path, undefined, running.key)).status, 403)
    assert.equal((await request('/api/upstreams/one/test', { model: 'quick' }, running.key)).status, 403)
  })
})
