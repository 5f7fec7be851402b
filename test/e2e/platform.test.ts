import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { scriptArgs } from '../doubles/script.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, platformOf, startGatewayProcess, startProvider } from './gateway-process.ts'
import { connect, newPlace, run } from './server.ts'

const BOTH = ['--platform', '--platform-port', '0']
const ENDED_WELL = { code: 0, signal: null }

const post = (url: string, key: string, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('gazeway --http --platform', () => {
  let gateway: GatewayProcess
  let platform: string
  before(async () => {
    gateway = await startGatewayProcess(newPlace(), { args: [...BOTH, '--upstream', 'sandbox'] })
    platform = await platformOf(gateway)
  })
  after(async () => assert.deepEqual(await gateway.stop(), ENDED_WELL))

  it('serves OpenAI’s client through the platform, streaming and not', async () => {
    const { key } = (await (
      await post(`${platform}/api/keys`, gateway.key, { name: 'a', scopes: ['platform'] })
    ).json()) as {
      key: string
    }
    const client = new OpenAI({ baseURL: `${platform}/v1`, apiKey: key, maxRetries: 0 })
    const asked = { model: 'llm-3-fast', messages: [{ role: 'user' as const, content: 'Say hello.' }] }
    const whole = await client.chat.completions.create(asked)
    assert.match(whole.choices[0]?.message.content ?? '', /sandbox/i)
    let streamed = ''
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }))
      streamed += chunk.choices[0]?.delta.content ?? ''
    assert.equal(streamed, whole.choices[0]?.message.content)
    const models = await client.models.list()
    assert.ok(models.data.length > 0)
    await assert.rejects(client.chat.completions.create({ ...asked, messages: [] }), OpenAI.UnprocessableEntityError)
  })

  it('meters a call, and says nothing of keys', async () => {
    const call = {
      caller_id: gateway.key,
      model: 'llm-4.20-0309-reasoning',
      prompt: 'Say hello.',
      tools: ['web_search'],
    }
    const reply = await fetch(`${platform}/api/wallet/metered/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call),
    })
    const text = await reply.text()
    assert.equal(reply.status, 200, text)
    assert.equal(JSON.parse(text).billing.margin_usd, 0.08)
    assert.ok(!text.includes(gateway.key))
    assert.equal(gateway.stderr().split(gateway.key).length - 1, 1, 'it is shown once, at the start')
  })
})

describe('the end of gazeway --http --platform', () => {
  it('is announced to all who wait, gives back what was set aside, and is what records say', {
    timeout: 60_000,
  }, async () => {
    const upstream = await startProvider()
    const place = newPlace()
    const env = { GAZEWAY_DRAIN_MS: '3000' }
    const start = () => startGatewayProcess(place, { args: [...BOTH, '--upstream', upstream.url], env })
    const gateway = await start()
    const platform = await platformOf(gateway)
    const ask = (path: string, body: object) => post(platform + path, gateway.key, body)
    for (const id of ['whole', 'streamed']) assert.equal((await ask('/api/sessions', { id })).status, 201)
    upstream.on('/chat/completions', (response, request) => {
      const { stream } = request.body as { stream?: boolean }
      if (stream) return double.sse(double.chunks(['Half an ']).slice(0, 2), 'hang')(response, request)
    })
    const call = { caller_id: gateway.key, model: 'llm-4-1-fast-reasoning', prompt: 'Hello.', max_tokens: 20 }
    const chat = { messages: [{ role: 'user', content: 'Hello.' }] }
    const waiting = [
      ask('/api/wallet/metered/call', call),
      ask('/api/tasks/swarm', { goal: 'A cake.', reward_usd: 1 }),
      ask('/api/sessions/whole/chat', { message: 'Hello.' }),
      ask('/v1/chat/completions', chat),
    ]
    const streams = await Promise.all([
      ask('/api/sessions/streamed/chat/stream', { message: 'Hello.' }),
      ask('/v1/chat/completions', { ...chat, stream: true }),
    ])
    const asked = waiting.length + streams.length
    await until(() => upstream.received.filter(({ path }) => path === '/v1/chat/completions').length === asked)

    gateway.kill('SIGTERM')
    for (const reply of await Promise.all(waiting)) {
      const { error } = (await reply.json()) as { error: { code: string; type: string } }
      assert.deepEqual([reply.status, error.code, error.type], [503, 'service_stopping', 'server_error'])
    }
    for (const reply of streams) assert.match(await reply.text(), /Half an [\s\S]*"code":"service_stopping"/)
    assert.deepEqual(await gateway.exit, ENDED_WELL)

    const { call: tool } = await connect(place)
    const { structuredContent } = await tool('gateway_upstream_api_history')
    const ended = structuredContent.items.map(
      (item: { status: string; error: string }) => `${item.status}: ${item.error}`,
    )
    assert.deepEqual([ended.length, [...new Set(ended)].length], [asked, 1], ended.join('\n'))
    assert.match(ended[0], /^error: Gazeway stopped before the answer was complete/)

    const next = await start()
    const {
      ledger: { available_usd, held_usd, escrow_usd },
    } = (await (
      await fetch(`${await platformOf(next)}/api/wallet`, { headers: { authorization: `Bearer ${gateway.key}` } })
    ).json()) as { ledger: Record<string, number> }
    assert.deepEqual([available_usd, held_usd, escrow_usd], [0, 0, 0])
    assert.deepEqual(await next.stop(), ENDED_WELL)
    await upstream.close()
  })
})

describe('the demo of the platform', () => {
  it('shows a receipt and the usage, and ends well', () => {
    const demo = [...scriptArgs('scripts/demo.ts'), '--platform']
    const { status, stdout, stderr } = spawnSync(process.execPath, demo, { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /Its receipt:[\s\S]*"total_usd": 0\.08\d+[\s\S]*What was used[\s\S]*"calls": 1/)
    assert.ok(!/gzw_/.test(stdout + stderr))
  })
})

describe('the platform as a process', () => {
  it('lets a stream through the platform finish after SIGTERM', async () => {
    const upstream = await startProvider()
    const gateway = await startGatewayProcess(newPlace(), { args: [...BOTH, '--upstream', upstream.url] })
    const platform = await platformOf(gateway)
    // What writes config.json listens to signals, too.
    assert.equal((await post(`${platform}/api/config`, gateway.key, { 'gaze.min_score': 0.7 })).status, 200)
    let goOn = () => {}
    const told = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.on('/chat/completions', async (response) => {
      const [first, ...rest] = double.chunks(['Hel', 'lo.'])
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(first)}\n\n`)
      await told
      for (const chunk of rest) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
    const body = { messages: [{ role: 'user', content: 'Hello.' }], stream: true }
    const reply = await post(`${platform}/v1/chat/completions`, gateway.key, body)
    gateway.kill('SIGTERM')
    await until(() => gateway.stderr().includes('Stopping'), { what: gateway.stderr })
    goOn()
    assert.match(await reply.text(), /lo\..*data: \[DONE\]\n\n$/s)
    assert.deepEqual(await gateway.exit, ENDED_WELL)
    await upstream.close()
  })

  it('names the port that is in use and the flag that chooses another', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, stdout, stderr } = await run(newPlace(), ['--platform', '--platform-port', `${port}`])
    other.close()
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`Port ${port} .*in use.*--platform-port`))
  })

  it('refuses an invalid port', async () => {
    const { code, stderr } = await run(newPlace(), ['--platform', '--platform-port=http'])
    assert.equal(code, 2)
    assert.match(stderr, /^gazeway: .*--platform-port.*65535.*\n$/)
  })
})
