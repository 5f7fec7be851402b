import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { z } from 'zod'
import type { pageOf } from '../../adapters/platform/list-page.ts'
import type { NewKey } from '../../src/identity/keys.ts'
import type { Burn } from '../../src/wallet/burn.ts'
import { chunks, completion, json, response, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey } from './socket-client.ts'

const CHAT = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 }

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  running = await startPlatform(upstream.url)
})
beforeEach(() => {
  upstream.on('/chat/completions', json(200, completion('Hello back')))
  upstream.on('/responses', json(200, response('Hello back')))
})
after(async () => {
  await running.close()
  await upstream.close()
})

async function newKey(input: Partial<z.input<typeof NewKey>>) {
  const { key, record } = await running.gateway.keys.create({
    name: 'caller',
    scopes: ['inference', 'platform'],
    ...input,
  })
  return { key, id: record.id }
}
const post = (url: string, body: unknown, key: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  })
const chat = (key: string, body: object = {}) =>
  post(`${running.gatewayUrl}/v1/chat/completions`, { ...CHAT, ...body }, key)
const errorOf = async (reply: Response) => ((await reply.json()) as { error: { code: string; message: string } }).error
const receiptsOf = async (id: string) => (await running.gateway.wallet.usage({ caller_id: id, limit: 100 })).items

describe('a charged call on /v1', () => {
  it('costs its inference and the margin, has a receipt, and says so', async () => {
    const { key, id } = await newKey({})
    const reply = await chat(key)
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('x-gazeway-cost-usd'), '0.080045')
    const [receipt, ...others] = await receiptsOf(id)
    assert.equal(others.length, 0)
    assert.equal(receipt?.call_id, reply.headers.get('x-gazeway-call-id'))
    assert.equal(receipt?.path, '/v1/chat/completions')
    assert.deepEqual(receipt?.billing, {
      upstream_cost_usd: 0.000045,
      margin_usd: 0.08,
      total_usd: 0.080045,
      token: 'pathUSD',
    })
    assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
  })

  it('costs the inference alone where the key is billed the cost', async () => {
    const { key, id } = await newKey({ billing: 'cost' })
    assert.equal((await chat(key)).headers.get('x-gazeway-cost-usd'), '0.000045')
    assert.equal((await receiptsOf(id))[0]?.billing.total_usd, 0.000045)
  })

  it('tells the cost of a stream in a comment at its end, after it is durable', async () => {
    const { key, id } = await newKey({})
    upstream.on('/chat/completions', sse(chunks(['Hello', ' back'])))
    const text = await (await chat(key, { stream: true })).text()
    const [receipt] = await receiptsOf(id)
    assert.match(text, /data: \[DONE\]\n\n: x-gazeway-call-id=call_[0-9a-f]+ x-gazeway-cost-usd=0\.080045\n\n$/)
    assert.equal(receipt?.billing.total_usd, 0.080045)
  })

  it('is not charged where the upstream fails', async () => {
    const { key, id } = await newKey({})
    upstream.on('/chat/completions', json(500, { error: { message: 'broken' } }))
    assert.equal((await chat(key)).status, 500)
    assert.deepEqual(await receiptsOf(id), [])
  })

  it('never costs more than was reserved, whatever usage the upstream reports', async () => {
    const { key, id } = await newKey({ billing: 'cost' })
    upstream.on(
      '/chat/completions',
      json(200, { ...completion('x'), usage: { prompt_tokens: 5, completion_tokens: 2e6, total_tokens: 2000005 } }),
    )
    const reply = await chat(key)
    const [receipt] = await receiptsOf(id)
    assert.equal(reply.status, 200)
    assert.ok((receipt?.billing.total_usd ?? 1) < 0.002, `${receipt?.billing.total_usd}`)
  })
})

describe('a key', () => {
  it('is held to its models, requests, tokens and calls at a time', async () => {
    const limited = await newKey({ models: ['gpt-*'], limits: { requests_per_minute: 2 } })
    const other = await chat(limited.key, { model: 'claude-x' })
    assert.deepEqual([other.status, (await errorOf(other)).code], [403, 'model_not_allowed'])
    const reply = await chat(limited.key)
    assert.equal(reply.headers.get('x-ratelimit-limit-requests'), '2')
    assert.equal(reply.headers.get('x-ratelimit-remaining-requests'), '1')
    await chat(limited.key)
    const third = await chat(limited.key)
    assert.deepEqual([third.status, (await errorOf(third)).code], [429, 'too_many_requests'])
    assert.ok(Number(third.headers.get('retry-after')) > 0)
    assert.equal(third.headers.get('x-ratelimit-remaining-requests'), '0')
    const thirsty = await newKey({ limits: { tokens_per_minute: 60 } })
    assert.equal((await chat(thirsty.key)).status, 200)
    for (let i = 0; i < 3; i++) await (await chat(thirsty.key)).arrayBuffer()
    assert.equal((await chat(thirsty.key)).status, 429)
  })

  it('is refused beyond its budget, with a record of the refusal', async () => {
    const { key, id } = await newKey({ billing: 'recorded', limits: { budgets: [{ usd: 0.002, per: 'day' }] } })
    const first = await chat(key)
    assert.equal(first.status, 200)
    let refused = await chat(key)
    for (let i = 0; i < 200 && refused.status === 200; i++) refused = await chat(key)
    assert.equal(refused.status, 402)
    const { code, message } = await errorOf(refused)
    assert.equal(code, 'budget_reached')
    assert.match(message, /budget per day of this key, 0\.002 USD\. It resets at .*T00:00:00\.000Z/)
    const { items } = await running.gateway.calls.history({ caller_id: id, status: 'refused', limit: 10 })
    assert.deepEqual(
      items.map(({ path, http_status }) => [path, http_status]),
      [['/v1/chat/completions', 402]],
    )
    const [row] = (await running.gateway.keys.list({ limit: 1000 })).items.filter((record) => record.id === id)
    assert.ok((row?.spend.day_usd ?? 1) <= 0.002)
  })

  it('counts for its group, and is listed with it by the time that is left', async () => {
    const group = await running.gateway.groups.create({ name: 'team', budgets: [{ usd: 1, per: 'total' }] })
    const { key, id } = await newKey({ billing: 'cost', group: group.id })
    await (await chat(key)).arrayBuffer()
    await running.gateway.calls.flush()
    assert.equal((await running.gateway.groups.find('team'))?.spend.total_usd, 0.000045)
    const reply = await fetch(`${running.url}/api/keys/burn?limit=1000`, {
      headers: { authorization: `Bearer ${running.admin}` },
    })
    const { items } = (await reply.json()) as z.infer<ReturnType<typeof pageOf<typeof Burn>>>
    const [first, second] = items.filter((item) => [id, group.id].includes(item.id))
    assert.deepEqual([first?.burned_24h_usd, second?.burned_24h_usd], [0.000045, 0.000045])
    assert.deepEqual([first?.budget?.owner, first?.budget?.left_usd], [group.id, 0.999955])
    assert.equal(
      (await fetch(`${running.url}/api/keys/burn`, { headers: { authorization: `Bearer ${key}` } })).status,
      403,
    )
  })

  it('has a stream cut off where its budget does not reach for more', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.03 } })
    const many = Array.from({ length: 4000 }, () => 'word and word and more of it ')
    upstream.on('/chat/completions', sse(chunks(many, null)))
    const text = await (await chat(key, { stream: true, max_tokens: undefined })).text()
    assert.ok(text.includes('budget_reached'), text.slice(-500))
    const [receipt] = await receiptsOf(id)
    assert.ok((receipt?.billing.total_usd ?? 0) > 0.02, `${receipt?.billing.total_usd}`)
    assert.ok((receipt?.billing.total_usd ?? 1) <= 0.03, `${receipt?.billing.total_usd}`)
  })
})

describe('without credit, a key is refused before the upstream is asked', () => {
  const session = async (key: string) => {
    const reply = await post(`${running.url}/api/sessions`, {}, key)
    return ((await reply.json()) as { id?: string; session_id?: string }).id
  }
  const ways: Record<string, (key: string) => Promise<number>> = {
    'chat completions on 8811': async (key) => (await chat(key)).status,
    'responses on 8811': async (key) =>
      (await post(`${running.gatewayUrl}/v1/responses`, { model: 'm', input: 'Hello' }, key)).status,
    'chat completions on 8812': async (key) => (await post(`${running.url}/v1/chat/completions`, CHAT, key)).status,
    'responses on 8812': async (key) =>
      (await post(`${running.url}/v1/responses`, { model: 'm', input: 'Hello' }, key)).status,
    'a metered call': async (key) =>
      (
        await post(
          `${running.url}/api/wallet/metered/call`,
          { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt: 'Hello' },
          key,
        )
      ).status,
    'a chat in a session': async (key) =>
      (await post(`${running.url}/api/sessions/${await session(key)}/chat`, { message: 'Hello' }, key)).status,
    'a streamed chat in a session': async (key) => {
      const path = `/api/sessions/${await session(key)}/chat/stream`
      const text = await (await post(`${running.url}${path}`, { message: 'Hello' }, key)).text()
      return text.includes('insufficient_credit') ? 402 : 0
    },
    'a swarm plan': async (key) =>
      (await post(`${running.url}/api/tasks/swarm`, { goal: 'Do much', dry_run: true }, key)).status,
    'a gaze narrative': async (key) => {
      const records = [
        {
          at: new Date().toISOString(),
          dwell_ms: 500,
          source: 'ide',
          confidence: 1,
          cog: { focus: 0.5, load: 0.5 },
          emo: { valence: 0, arousal: 0 },
          env: { path: 'a.ts' },
        },
      ]
      const stored = await post(`${running.url}/api/gaze/store`, { records }, key)
      assert.equal(stored.status, 201, await stored.text())
      const told = await (await post(`${running.url}/api/gaze/analyze`, { narrate: true }, key)).text()
      return told.includes('"narrative_error":"insufficient_credit') ? 402 : 0
    },
    'a chat on the socket': async (key) => {
      const socket = await connectWithKey(running, key)
      socket.send({ type: 'chat', content: 'Hello' })
      const frame = await socket.next()
      socket.ws.close()
      await socket.closed
      return frame.code === 'insufficient_credit' ? 402 : 0
    },
  }
  for (const [name, way] of Object.entries(ways))
    it(name, async () => {
      const { key } = await newKey({ billing: 'metered', limits: { credit_limit_usd: 0 } })
      const before = upstream.received.length
      assert.equal(await way(key), 402)
      await delay(20)
      assert.equal(upstream.received.length, before)
    })
})
