import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { checkCollector } from '../../adapters/http/collector.ts'
import { detect } from '../../src/agent-gateway/detect.ts'
import { postWebhook } from '../../src/alerts/webhook.ts'
import { openNode } from '../../src/chain/chain-node.ts'
import { startCollector } from '../doubles/collector.ts'
import { type ForwardProxy, startForwardProxy } from '../doubles/forward-proxy.ts'
import { freePort } from '../doubles/free-port.ts'
import * as double from '../doubles/upstream.ts'
import { startWebhook } from '../doubles/webhook.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const VARIABLES = [
  'http_proxy',
  'HTTP_PROXY',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
]
const CREDENTIALS = 'gateway:hunter2hunter2'
const CHAT = { messages: [{ role: 'user', content: 'Hello.' }] }

describe('a forward proxy', () => {
  const given = { ...process.env }
  let proxy: ForwardProxy
  let server: double.UpstreamDouble
  /** The upstream by a name that only the proxy resolves. */
  let named: string
  const ends: (() => Promise<unknown>)[] = []

  before(async () => {
    server = await double.startUpstream()
    named = server.url.replace('127.0.0.1', 'provider.test')
  })
  beforeEach(async () => {
    for (const name of VARIABLES) delete process.env[name]
    proxy = await startForwardProxy({ credentials: CREDENTIALS })
    server.received.length = 0
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
  })
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
    await proxy.close()
  })
  after(async () => {
    for (const name of VARIABLES) {
      delete process.env[name]
      if (given[name] !== undefined) process.env[name] = given[name]
    }
    await server.close()
  })

  async function start(document: Record<string, unknown> = {}, upstream = named): Promise<RunningGateway> {
    const running = await startGateway(upstream, {}, document)
    ends.push(running.close)
    return running
  }
  const ask = ({ url, key }: RunningGateway, body: object = {}, signal: AbortSignal | null = null) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, ...body }),
      signal,
    })
  async function errorOf(reply: Response): Promise<{ code: string; message: string }> {
    return ((await reply.json()) as { error: { code: string; message: string } }).error
  }

  it('of the environment takes model calls, with its credentials and without those of the provider', async () => {
    process.env.HTTP_PROXY = proxy.url
    const running = await start()
    assert.equal((await ask(running)).status, 200)
    assert.deepEqual(
      proxy.asked.map(({ method, target, refused }) => [method, target, refused]),
      [['POST', `${named}/chat/completions`, null]],
    )
    const [received] = server.received
    assert.equal(received?.headers.host, new URL(named).host)
    assert.equal(received?.headers.authorization, 'Bearer upstream-secret-key')
    assert.ok(!running.logged.join('').includes('hunter2'))
  })

  it('passes streams on as they arrive, and ends them when their client leaves', async () => {
    process.env.HTTP_PROXY = proxy.url
    const running = await start()
    server.on('/chat/completions', double.sse(double.chunks(['Hello', ' there.'])))
    const whole = await (await ask(running, { stream: true })).text()
    assert.match(whole, / there\.[\s\S]*\[DONE\]\n\n$/)
    server.received.length = 0
    server.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    const leaving = new AbortController()
    const reply = await ask(running, { stream: true }, leaving.signal)
    const reader = reply.body?.getReader()
    assert.match(Buffer.from((await reader?.read())?.value ?? []).toString(), /^data: /, 'before the stream has ended')
    leaving.abort()
    await server.received[0]?.aborted
  })

  it('is named without its credentials where it refuses them, and other upstreams are asked then', async () => {
    process.env.HTTP_PROXY = proxy.url.replace('hunter2hunter2', 'hunter3hunter3')
    const other = await double.startUpstream()
    ends.push(other.close)
    other.on('/chat/completions', double.json(200, double.completion('From the other.')))
    const upstreams = { other: { provider: other.url, api_keys: ['other-secret-key'] } }
    const running = await start({ upstreams, routes: [{ model: 'both', to: ['default', 'other'] }] })
    const reply = await ask(running)
    assert.equal(reply.status, 502)
    const { code, message } = await errorOf(reply)
    assert.equal(code, 'upstream_unreachable')
    assert.equal(
      message,
      `The proxy ${proxy.origin} (HTTP_PROXY) refused the connection (407). Check the name and password in HTTP_PROXY.`,
    )
    assert.equal(server.received.length, 0)
    assert.equal((await ask(running, { model: 'both' })).status, 200)
    assert.doesNotMatch(running.logged.join(''), /hunter3/)
  })

  it('is named where it is away or of another kind', async () => {
    const port = await freePort()
    process.env.HTTP_PROXY = `http://me:hunter2hunter2@127.0.0.1:${port}`
    assert.match(
      (await errorOf(await ask(await start()))).message,
      new RegExp(
        `^The proxy http://127\\.0\\.0\\.1:${port} \\(HTTP_PROXY\\) could not be reached \\(connect ECONNREFUSED`,
      ),
    )
    delete process.env.HTTP_PROXY
    process.env.ALL_PROXY = 'socks5://me:hunter2hunter2@127.0.0.1:1080'
    assert.match(
      (await errorOf(await ask(await start()))).message,
      /^ALL_PROXY names a SOCKS proxy, which is not supported/,
    )
  })

  it('is not taken by an upstream on this machine, one of NO_PROXY, or one whose proxy is none', async () => {
    process.env.HTTP_PROXY = proxy.url
    assert.equal((await ask(await start({}, server.url))).status, 200)
    assert.equal(
      (await ask(await start({ upstream: { proxy: 'none' } }))).status,
      502,
      'nothing else resolves its name',
    )
    process.env.NO_PROXY = '.test'
    assert.equal((await ask(await start())).status, 502)
    assert.deepEqual(proxy.asked, [])
  })

  it('of an upstream takes precedence, is secret in the configuration, and changes while Gazeway runs', async () => {
    process.env.HTTP_PROXY = `http://127.0.0.1:${await freePort()}`
    process.env.NO_PROXY = '*'
    const upstreams = { far: { provider: named, api_keys: ['far-secret-key'], proxy: proxy.url } }
    const running = await start({ upstream: { proxy: proxy.url }, upstreams })
    for (const model of ['m', 'far/m']) assert.equal((await ask(running, { model })).status, 200)
    assert.equal(proxy.asked.length, 2)
    const { redactConfig } = await import('../../src/config/redact.ts')
    const shown = redactConfig(running.gateway.loaded.config)
    assert.deepEqual([shown.upstream.proxy, shown.upstreams.far?.proxy], ['***', '***'])
    await running.gateway.config.set({
      'upstreams.far.weight': 2,
      'upstreams.far.proxy': '***',
      'upstream.proxy': '***',
    })
    assert.equal(running.gateway.loaded.config.upstreams.far?.proxy, proxy.url)
    assert.equal(running.gateway.loaded.config.upstream.proxy, proxy.url)
    await running.gateway.config.set({ 'upstream.proxy': 'none' })
    assert.equal((await ask(running)).status, 502)
    assert.equal(proxy.asked.length, 2)
  })

  it('takes webhooks, nodes of chains, spans and the agent gateway', async () => {
    process.env.ALL_PROXY = proxy.url
    const byName = (url: string) => url.replace('127.0.0.1', 'other.test')
    const receiver = await startWebhook()
    const collector = await startCollector()
    ends.push(receiver.close, collector.close)
    const message = { id: 'msg_1', body: '{"type":"test"}', at: new Date() }
    assert.equal(await postWebhook({ ...receiver, url: byName(receiver.url) }, message), null)
    server.on('/rpc', double.json(200, { jsonrpc: '2.0', id: 1, result: '0x7a69' }))
    await openNode({ chainId: 31_337, rpcUrl: `${byName(server.url)}/rpc`, timeoutMs: 5000 }).verify()
    const found = await checkCollector({ OTEL_EXPORTER_OTLP_ENDPOINT: byName(collector.url) })
    assert.equal(found, `spans go to ${byName(collector.url)}/v1/traces through the proxy ${proxy.origin} (ALL_PROXY)`)
    const gateway = byName(server.url).replace(/\/v1$/, '')
    assert.equal(
      (await detect({ url: gateway, key: null, isOwn: false }, AbortSignal.timeout(5000))).latencyMs !== null,
      true,
    )
    assert.ok(proxy.asked.length >= 4 && proxy.asked.every(({ refused }) => refused === null))
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = byName(collector.url)
    try {
      const running = await startGateway(server.url)
      await ask(running)
      await running.close()
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    }
    assert.equal(collector.spans.length, 2, 'of the request and of its call')
    assert.ok(collector.metrics.length > 0)
    process.env.ALL_PROXY = proxy.url.replace('hunter2hunter2', 'wrong-password')
    const refused = /^The proxy \S+ \(ALL_PROXY\) refused the connection \(407\)/
    assert.match((await postWebhook({ ...receiver, url: byName(receiver.url) }, message)) ?? '', refused)
  })

  it('that accepts and never answers is given up', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    ends.push(async () => silent.close())
    process.env.HTTPS_PROXY = `http://127.0.0.1:${port}`
    const running = await start({ upstream: { connect_timeout_ms: 200 } }, 'https://provider.test/v1')
    assert.match(
      (await errorOf(await ask(running))).message,
      /^The proxy http:\S+ \(HTTPS_PROXY\) could not be reached/,
    )
  })
})
