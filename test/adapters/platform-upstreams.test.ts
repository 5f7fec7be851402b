import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Findings } from '../../adapters/platform/routes/doctor-routes.ts'
import type { TriedUpstream } from '../../adapters/platform/routes/try-upstream-routes.ts'
import type { Explained, ShownUpstream, Tested } from '../../adapters/platform/routes/upstream-routes.ts'
import { message } from '../doubles/anthropic.ts'
import { until } from '../doubles/until.ts'
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
            headers: { 'x-team': 'secret-of-team-one' },
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

  it('are tried with settings that are not saved, and nothing is kept', async () => {
    const { gateway } = running
    const key = 'key-that-is-tried-1'
    one.on('/models', double.json(200, { data: [{ id: 'm-1' }, { id: 'm-2' }] }))
    const changes = {
      'upstreams.new': { provider: one.url, api_keys: [key] },
      'pricing.models.m-1': { input: 2, output: 8 },
    }
    const tried = await json<TriedUpstream>('/api/upstreams/new/try', { changes, test: 'm-1' })
    assert.deepEqual([tried.verdict, tried.total, tried.tested?.text], ['ok', 2, 'ok'])
    assert.deepEqual(tried.models, [
      { id: 'm-1', input: 2, output: 8, context: null },
      { id: 'm-2', input: null, output: null, context: null },
    ])
    assert.ok(one.received.every(({ headers }) => headers.authorization === `Bearer ${key}`))
    assert.equal(gateway.loaded.config.upstreams.new, undefined)
    assert.ok(!JSON.stringify(tried).includes(key), 'the key is not in the reply')

    one.on('/models', double.json(401, { error: { message: `No such key ${key}.` } }))
    const refused = await json<TriedUpstream>('/api/upstreams/new/try', { changes })
    assert.deepEqual([refused.verdict, refused.models], ['fail', []])
    assert.match(refused.text, /answered 401: check its key/)
    assert.ok(!JSON.stringify(refused).includes(key))
    const wrong = { 'upstreams.new': { provider: 'no-such-provider' } }
    assert.equal((await request('/api/upstreams/new/try', { changes: wrong })).status, 422)
    assert.equal((await request('/api/upstreams/nobody/try', {})).status, 404)
  })

  it('are tried four at a time in a process, and no more', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let asked = 0
    one.on('/models', async (response, received) => {
      asked++
      await released
      await double.json(200, { data: [{ id: 'quick-1' }] })(response, received)
    })
    const tries = Array.from({ length: 4 }, () => json<TriedUpstream>('/api/upstreams/one/try', {}))
    await until(async () => asked >= 4)
    const refused = await request('/api/upstreams/one/try', {})
    assert.equal(refused.status, 429)
    assert.match(await refused.text(), /too_many_requests/)
    release()
    assert.deepEqual(
      (await Promise.all(tries)).map(({ verdict }) => verdict),
      ['ok', 'ok', 'ok', 'ok'],
    )
    assert.equal((await json<TriedUpstream>('/api/upstreams/one/try', {})).verdict, 'ok')
  })

  it('are tried until their own time limit, or until the client leaves, where they hang', async () => {
    const tried = (body: object) =>
      Promise.all(Array.from({ length: 4 }, () => json<TriedUpstream>('/api/upstreams/one/try', body)))
    const changes = { 'upstreams.one.timeout_ms': 1000, 'upstream.max_retries': 0 }

    one.on('/models', double.hangs)
    for (const { verdict, text } of await tried({ changes })) {
      assert.equal(verdict, 'fail')
      assert.match(text, /sent nothing for 1 s/)
    }

    one.on('/models', double.json(200, { data: [{ id: 'quick-1' }] }))
    one.on('/chat/completions', double.hangs)
    for (const { verdict, tested } of await tried({ changes, test: 'quick-1' }))
      assert.deepEqual([verdict, tested?.ok, tested?.status], ['ok', false, null])

    one.received.length = 0
    const leaving = new AbortController()
    const left = Array.from({ length: 4 }, () =>
      fetch(`${running.url}/api/upstreams/one/try`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${running.admin}` },
        body: JSON.stringify({ test: 'quick-1' }),
        signal: leaving.signal,
      }),
    )
    const asked = () => one.received.filter(({ path }) => path === '/v1/chat/completions')
    await until(async () => asked().length === 4)
    assert.equal((await request('/api/upstreams/one/try', {})).status, 429)
    leaving.abort()
    for (const { reason } of (await Promise.allSettled(left)) as PromiseRejectedResult[])
      assert.equal(reason.name, 'AbortError')
    await Promise.all(asked().map(({ aborted }) => aborted))
    await until(async () => (await request('/api/upstreams/one/try', {})).status === 200)
  })

  it('are tried with their stored keys, which no other address gets', async () => {
    const tried = await json<TriedUpstream>('/api/upstreams/one/try', {})
    assert.equal(tried.verdict, 'ok')
    assert.equal(one.received.at(-1)?.headers.authorization, 'Bearer key-of-one-number-1')
    claude.received.length = 0
    for (const more of [{}, { 'upstreams.one.headers.x-new': 'new' }, { 'upstreams.one.headers.x-team.more': 'new' }])
      await json('/api/upstreams/one/try', { changes: { 'upstreams.one.provider': claude.url, ...more } })
    assert.equal(claude.received.filter(({ headers }) => headers['x-new'] === 'new').length, 2)
    assert.doesNotMatch(JSON.stringify(claude.received), /key-of-one|team-one/, 'secrets stay with their address')
  })

  it('are tried without a change of their health', async () => {
    await json('/api/upstreams/one/test', { model: 'quick' })
    const before = (await states()).one
    const changes = { 'upstreams.one.provider': 'http://127.0.0.1:9/v1' }
    const tried = await json<TriedUpstream>('/api/upstreams/one/try', { changes, test: 'quick-1' })
    assert.deepEqual([tried.verdict, tried.tested?.ok], ['fail', false])
    const after = (await states()).one
    assert.deepEqual([after?.reachable, after?.calls, after?.error_rate], [true, before?.calls, before?.error_rate])
  })

  it('change their order, in force at once, without a change of any', async () => {
    const { config } = running.gateway
    const before = config.stored().config.upstreams
    const names = Object.keys(before)
    const turned = [...names].reverse()
    const shown = (await json<{ config: { upstreams: Record<string, unknown> } }>('/api/config')).config.upstreams
    const sent = { upstreams: Object.fromEntries(turned.map((name) => [name, shown[name]])) }
    const { changed } = await json<{ changed: string[] }>('/api/config', sent)
    assert.deepEqual(changed, ['upstreams'])
    assert.deepEqual(Object.keys(config.stored().config.upstreams), turned)
    assert.deepEqual(
      running.gateway.upstream.routing.upstreams.map(({ provider }) => provider.id),
      ['default', ...turned],
    )
    assert.deepEqual(config.stored().config.upstreams, before)
    await json('/api/config', { upstreams: Object.fromEntries(names.map((name) => [name, shown[name]])) })
    assert.deepEqual(Object.keys(config.stored().config.upstreams), names)
  })

  it('explain routes that are not saved, and who would be passed over', async () => {
    one.on('/chat/completions', double.json(401, { error: { message: 'No such key.' } }))
    await json('/api/upstreams/one/test', { model: 'quick' })
    const routes = [{ model: 'gpt-*', to: ['groq', 'one/quick', 'claude/claude-9'] }]
    const found = await json<Explained>('/api/candidates', { model: 'gpt-5', routes })
    assert.deepEqual([found.by, found.route], ['route', 0])
    assert.deepEqual(
      found.candidates.map(({ upstream, id, skipped }) => [upstream, id, skipped]),
      [
        ['groq', 'gpt-5', 'no_key'],
        ['one', 'quick-1', 'keys_resting'],
        ['claude', 'claude-9', null],
      ],
    )
    assert.equal(running.gateway.loaded.config.routes.length, 1)
    const wrong = await request('/api/candidates', { model: 'gpt-5', routes: [{ model: 'x', to: ['nobody'] }] })
    assert.match(await wrong.text(), /routes\.0\.to\.0: unknown upstream nobody/)
  })

  it('are checked with all else, by one run for all who ask', async () => {
    one.on('/models', double.json(401, {}))
    const [first, second] = await Promise.all([json<Findings>('/api/doctor'), json<Findings>('/api/doctor')])
    assert.deepEqual(first, second)
    assert.equal(first.healthy, false)
    const found = Object.fromEntries(first.items.map((item) => [item.name, item]))
    assert.equal(found.store?.verdict, 'ok')
    assert.deepEqual([found['upstream one']?.verdict, found['upstream one']?.settings], ['fail', 'upstreams.one'])
    assert.match(
      found['upstream one']?.text ?? '',
      /check its key \(GAZEWAY_UPSTREAM_ONE_API_KEYS?, or upstreams\.one\.api_keys\)/,
    )
    assert.doesNotMatch(JSON.stringify(first), /key-of-one/)
  })

  it('are read from the last run by those to whom its age will do, until the configuration changes', async () => {
    const { at } = await json<Findings>('/api/doctor')
    const asked = one.received.length
    assert.equal((await json<Findings>('/api/doctor?max_age=600')).at, at)
    assert.equal(one.received.length, asked, 'no upstream is asked')
    assert.notEqual((await json<Findings>('/api/doctor')).at, at)
    await running.gateway.config.set({ 'audit.retention_days': 77 })
    await json<Findings>('/api/doctor?max_age=600')
    assert.ok(one.received.length > asked)
    assert.equal((await request('/api/doctor?max_age=-1')).status, 422)
  })

  it('are for admins', async () => {
    for (const path of ['/api/upstreams/one/try', '/api/candidates'])
      assert.equal((await request(path, { model: 'm' }, running.key)).status, 403)
    assert.equal((await request('/api/doctor', undefined, running.key)).status, 403)
    for (const path of ['/api/upstreams', '/api/candidates?model=m'])
      assert.equal((await request(path, undefined, running.key)).status, 403)
    assert.equal((await request('/api/upstreams/one/test', { model: 'quick' }, running.key)).status, 403)
  })
})
