import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { VERSION } from '../../src/config/version.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const ASK = { messages: [{ role: 'user', content: 'Say hello.' }] }
const CHAT = '/v1/chat/completions'

describe('the metrics of the gateway over HTTP', () => {
  let server: double.UpstreamDouble
  let running: RunningGateway
  let admin: string

  beforeEach(async () => {
    server = await double.startUpstream()
    const upstream = { aliases: { 'llm-3-fast': 'double-chat' }, models: { chat: 'llm-3-fast', fallback: 'llm-think' } }
    running = await startGateway(server.url, {}, { upstream: { ...upstream, timeout_ms: 5000 } })
    admin = (await running.gateway.keys.create({ name: 'collector', scopes: ['inference', 'admin'] })).key
  })
  afterEach(async () => {
    await running.close()
    await server.close()
  })

  const request = (method: string, path: string, body?: unknown, signal?: AbortSignal) =>
    fetch(running.url + path, {
      method,
      headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  const post = (path: string, body: unknown, signal?: AbortSignal) => request('POST', path, body, signal)

  /** All samples for an admin whose name begins with `gazeway_`, by name and labels as they are written. */
  async function scrape(): Promise<Record<string, number>> {
    const text = await (await fetch(`${running.url}/metrics`, { headers: { authorization: `Bearer ${admin}` } })).text()
    const lines = text.split('\n').filter((line) => line.startsWith('gazeway_'))
    return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
  }

  /** Scrapes until the samples named have these values; undefined is a sample that is not there. */
  async function expect(samples: Record<string, number | undefined>): Promise<Record<string, number>> {
    const deadline = Date.now() + 5000
    for (;;) {
      const scraped = await scrape()
      const found = Object.fromEntries(Object.keys(samples).map((name) => [name, scraped[name]]))
      if (JSON.stringify(found) === JSON.stringify(samples)) return scraped
      if (Date.now() > deadline) assert.deepEqual(found, samples)
    }
  }

  const requests = (route: string, method: string, status: number) =>
    `gazeway_http_requests_total{service="gateway",route="${route}",method="${method}",status="${status}"}`
  const AT = 'upstream="default",provider="other"'
  const calls = (path: string, outcome: string, model = 'llm-3-fast') =>
    `gazeway_upstream_calls_total{${AT},model="${model}",path="${path}",outcome="${outcome}"}`
  const errors = (path: string, status: string) =>
    `gazeway_upstream_errors_total{${AT},path="${path}",http_status="${status}"}`
  const tokens = (model: string, kind: string) => `gazeway_tokens_total{${AT},model="${model}",kind="${kind}"}`
  const ofModel = (name: string, model = 'llm-3-fast') => `${name}{${AT},model="${model}",operation="chat"}`
  const named = (samples: Record<string, number>, name: string) =>
    Object.entries(samples).filter(([sample]) => sample.startsWith(`${name}{`))

  it('are open to this machine without a key, with the version and the event loop’s lag', async () => {
    const reply = await fetch(`${running.url}/metrics`)
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    const text = await reply.text()
    assert.ok(text.includes(`gazeway_build_info{version="${VERSION}"} 1`))
    assert.match(text, /^nodejs_eventloop_lag_p99_seconds \d/m)
    assert.match(text, /^gazeway_http_requests_in_flight 1$/m)
  })

  it('ask for an admin’s key by any name but this machine’s own, which a page that was rebound and a proxy do not send', async () => {
    const open = await startGateway(server.url, { GAZEWAY_HOST: '0.0.0.0' })
    const listed = await startGateway(server.url, {}, { http: { allowed_hosts: ['gate.example'] } })
    try {
      for (const { url, key, gateway } of [open, listed]) {
        const { port } = new URL(url)
        const { key: ofAdmin } = await gateway.keys.create({ name: 'collector', scopes: ['admin'] })
        assert.equal(await statusByHost(url, `gate.example:${port}`), 401)
        assert.equal(await statusByHost(url, `gate.example:${port}`, key), 403)
        assert.equal(await statusByHost(url, `gate.example:${port}`, ofAdmin), 200)
        for (const own of [`localhost:${port}`, '127.0.0.1', '[::1]:1']) assert.equal(await statusByHost(url, own), 200)
      }
    } finally {
      await Promise.all([open.close(), listed.close()])
    }
  })

  it('count a chat completion once, with its tokens, cost and time', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    await (await post(CHAT, ASK)).text()
    const samples = await expect({
      [requests(CHAT, 'POST', 200)]: 1,
      [`gazeway_http_request_duration_seconds_count{service="gateway",route="${CHAT}",method="POST",status_class="2xx"}`]: 1,
      [calls(CHAT, 'ok')]: 1,
      [tokens('llm-3-fast', 'prompt')]: 10,
      [tokens('llm-3-fast', 'completion')]: 5,
      [`gazeway_upstream_cost_usd_total{${AT},model="llm-3-fast"}`]: 0.000045,
      [`gazeway_call_duration_seconds_count{${AT},model="llm-3-fast",operation="chat",outcome="ok"}`]: 1,
      'gazeway_key_calls_total{key="test",upstream="default",outcome="ok"}': 1,
      'gazeway_key_cost_usd_total{key="test",upstream="default"}': 0.000045,
      'gazeway_client_calls_total{client="other"}': 1,
      'gazeway_client_cost_usd_total{client="other"}': 0.000045,
      gazeway_http_requests_in_flight: 1,
      gazeway_fallbacks_total: 0,
    })
    assert.deepEqual(named(samples, 'gazeway_upstream_errors_total'), [])
    assert.deepEqual(named(samples, 'gazeway_first_token_seconds_count'), [], 'nothing was streamed')
  })

  it('count what a metered call cost above its reservation, and log it', async () => {
    const { record } = await running.gateway.keys.create({ name: 'payer', scopes: ['platform'] })
    const used = { prompt_tokens: 1_999_999, completion_tokens: 1, total_tokens: 2_000_000 }
    server.on('/chat/completions', double.json(200, double.completion('Long', used)))
    const call = { model: 'llm-4-1-fast-reasoning', prompt: 'Hello', max_tokens: 100 }
    const context = { surface: 'platform' as const, callerId: record.id }
    const { call_id } = await running.gateway.metering.call(call, { callerId: record.id, context })
    // 6 USD less 360 tokens that were reserved.
    await expect({
      gazeway_charge_overruns_total: 1,
      gazeway_charge_overrun_usd_total: 5.99892,
      gazeway_charge_absorbed_usd_total: 5.99892,
    })
    const lines = running.logged.filter((line) => line.includes('cost more than was reserved'))
    assert.equal(lines.length, 1)
    assert.ok(lines[0]?.includes(call_id))
  })

  it('count a stream when it ends, and for as long as it took', async () => {
    let goOn = () => {}
    const told = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const [first, ...rest] = double.chunks(['Hel', 'lo.']).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    server.on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(first)
      await told
      response.end(`${rest.join('')}data: [DONE]\n\n`)
    })
    const reply = await post(CHAT, { ...ASK, stream: true })
    const reader = reply.body?.getReader() ?? assert.fail()
    await reader.read()
    const began = performance.now()
    await expect({ gazeway_http_requests_in_flight: 2, [requests(CHAT, 'POST', 200)]: undefined })
    const held = (performance.now() - began) / 1000
    goOn()
    while (!(await reader.read()).done);
    const samples = await expect({
      [requests(CHAT, 'POST', 200)]: 1,
      [calls(CHAT, 'ok')]: 1,
      [tokens('llm-3-fast', 'prompt')]: 10,
      [tokens('llm-3-fast', 'completion')]: 5,
      [ofModel('gazeway_first_token_seconds_count')]: 1,
      gazeway_http_requests_in_flight: 1,
    })
    const [[, seconds] = assert.fail()] = named(samples, 'gazeway_http_request_duration_seconds_sum').filter(([name]) =>
      name.includes(CHAT),
    )
    assert.ok(seconds >= held, 'the whole stream is measured')
    const [[, firstToken] = assert.fail()] = named(samples, 'gazeway_first_token_seconds_sum')
    assert.ok(firstToken < seconds, 'the first token came before the end')
  })

  it('count refusals of the upstream by status, and missing replies as none', async () => {
    server.on('/chat/completions', double.fails(429), double.drops)
    await (await post(CHAT, ASK)).text()
    await (await post(CHAT, ASK)).text()
    const samples = await expect({
      [requests(CHAT, 'POST', 429)]: 1,
      [requests(CHAT, 'POST', 502)]: 1,
      [calls(CHAT, 'error')]: 2,
      [errors(CHAT, '429')]: 1,
      [errors(CHAT, 'none')]: 1,
    })
    assert.deepEqual(named(samples, 'gazeway_tokens_total'), [])
  })

  it('count a fallback as one request and two calls, and its tokens once', async () => {
    server.on('/responses', double.fails(500))
    server.on('/chat/completions', double.json(200, double.completion('Found.')))
    await (await post('/v1/responses', { input: 'Find it.', model: 'llm-3-fast' })).text()
    const samples = await expect({
      [requests('/v1/responses', 'POST', 200)]: 1,
      [calls('/v1/responses', 'error')]: 1,
      [errors('/v1/responses', '500')]: 1,
      [calls(CHAT, 'ok', 'llm-think')]: 1,
      gazeway_fallbacks_total: 1,
      [tokens('llm-think', 'completion')]: 5,
    })
    assert.equal(named(samples, 'gazeway_tokens_total').length, 2)
  })

  it('count a client that leaves: 499 before its reply, the status that it had after it', async () => {
    server.on('/chat/completions', double.hangs, double.sse(double.chunks(['Hel', 'lo.']).slice(0, 2), 'hang'))
    const early = new AbortController()
    const waiting = post(CHAT, ASK, early.signal)
    await expect({ gazeway_http_requests_in_flight: 2 })
    early.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    await expect({ [requests(CHAT, 'POST', 499)]: 1, [calls(CHAT, 'aborted')]: 1, gazeway_http_requests_in_flight: 1 })

    const late = new AbortController()
    const reply = await post(CHAT, { ...ASK, stream: true }, late.signal)
    await reply.body?.getReader().read()
    late.abort()
    await expect({
      [requests(CHAT, 'POST', 200)]: 1,
      [calls(CHAT, 'aborted')]: 2,
      [calls(CHAT, 'error')]: undefined,
      gazeway_http_requests_in_flight: 1,
    })
  })

  it('name models that have a price or that the upstream lists, as far as 200 of them', async () => {
    const many = Array.from({ length: 205 }, (_, i) => ({ id: `listed-${i}` }))
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    server.on('/models', double.json(200, { data: many }))
    const priced = await startGateway(server.url, {}, { pricing: { models: { 'priced-1': { input: 1, output: 2 } } } })
    /** Labels of models, once this number of calls is counted. */
    const labels = (calls: number): Promise<string[]> =>
      until(async () => {
        const text = await (await fetch(`${priced.url}/metrics`)).text()
        const counted = [...text.matchAll(/^gazeway_upstream_calls_total\{.*outcome="ok"\} (\d+)/gm)]
        if (counted.reduce((sum, [, count]) => sum + Number(count), 0) < calls) return null
        return [...text.matchAll(/^gazeway_tokens_total\{.*model="(.+?)",kind="prompt"\}/gm)].map(
          ([, model]) => model ?? '',
        )
      })
    const ask = async (model: string) => {
      const headers = { authorization: `Bearer ${priced.key}`, 'content-type': 'application/json' }
      const reply = await fetch(priced.url + CHAT, { method: 'POST', headers, body: JSON.stringify({ ...ASK, model }) })
      assert.equal(reply.status, 200)
      await reply.text()
    }
    try {
      for (const model of ['priced-1', 'listed-0']) await ask(model)
      assert.deepEqual((await labels(2)).sort(), ['other', 'priced-1'])
      // The list is fetched after a scrape that finds an unknown model.
      await priced.gateway.upstream.routing.upstreams[0].listed({ surface: 'http', callerId: null })
      for (const { id } of many) await ask(id)
      const models = await labels(207)
      assert.equal(models.filter((model) => model.startsWith('listed-')).length, 199, 'with the priced one, 200')
      assert.ok(models.includes('listed-0') && models.includes('priced-1') && models.includes('other'))
      assert.equal(server.received.filter(({ path }) => path === '/v1/models').length, 1)
    } finally {
      await priced.close()
    }
  })

  it('have a bounded number of labels, for any request', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    server.on('/models', double.json(200, { data: [{ id: 'any' }] }))
    for (let i = 0; i < 5; i += 1) {
      await (await post(CHAT, { ...ASK, model: `made-up-${i}` })).text()
      await (await request('GET', `/nowhere/${i}`)).text()
      await (await request('GET', `/v1/models/made/up/${i}`)).text()
      await (await request('GET', CHAT)).text()
      await running.gateway.upstream.directCall(
        { method: 'GET', path: `/models/${i}` },
        { surface: 'stdio', callerId: null },
      )
    }
    await (await post(CHAT, { ...ASK, model: 'double-chat' })).text()
    const samples = await expect({
      [tokens('other', 'prompt')]: 50,
      [tokens('double-chat', 'prompt')]: 10,
      [requests('unmatched', 'GET', 404)]: 5,
      [requests('/v1/models/:id', 'GET', 404)]: 5,
      [requests(CHAT, 'GET', 405)]: 5,
      [calls('/v1/models', 'ok', 'none')]: undefined,
      [calls('/v1/models', 'error', 'none')]: 5,
    })
    assert.equal(named(samples, 'gazeway_tokens_total').length, 4)
  })
})

/** Status of `/metrics` under a Host header, which `fetch` cannot set. */
async function statusByHost(url: string, host: string, key?: string): Promise<number | undefined> {
  const { port } = new URL(url)
  const headers = { host, ...(key && { authorization: `Bearer ${key}` }) }
  const [reply] = await once(httpRequest({ host: '127.0.0.1', port, path: '/metrics', headers }).end(), 'response')
  reply.resume()
  return reply.statusCode
}
