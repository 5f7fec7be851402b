import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openrouter } from '../../src/providers/openrouter.ts'
import { statedCost } from '../../src/providers/stated-cost.ts'
import { xai } from '../../src/providers/xai.ts'
import { chunks, completion, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = '/chat/completions'
const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }

describe('the cost that a provider states', () => {
  let upstream: UpstreamDouble
  let running: RunningGateway
  const addresses = [xai, openrouter].map((preset) => [preset, preset.baseUrl] as const)
  before(async () => {
    upstream = await startUpstream()
    // The known providers themselves answer; here they are on this machine.
    for (const [preset] of addresses) preset.baseUrl = upstream.url
    const key = { api_keys: ['a-key-of-a-provider'] }
    running = await startGateway(
      upstream.url,
      {},
      {
        pricing: { models: { m: { input: 2, output: 10 } } },
        upstreams: {
          xai: { provider: 'xai', ...key },
          openrouter: { provider: 'openrouter', ...key },
          proxied: { provider: 'xai', base_url: upstream.url, ...key },
        },
      },
    )
  })
  after(async () => {
    for (const [preset, baseUrl] of addresses) preset.baseUrl = baseUrl
    await running.close()
    await upstream.close()
  })

  async function ask(model: string, usage: object, stream = false) {
    const { gateway, url } = running
    const events = [...chunks(['Hello.'], USAGE).slice(0, -1), { choices: [], usage: { ...USAGE, ...usage } }]
    upstream.on(CHAT, stream ? sse([...events, '[DONE]']) : json(200, completion('Hello.', { ...USAGE, ...usage })))
    const { key, record } = await gateway.keys.create({ name: 'caller', scopes: ['inference'], billing: 'cost' })
    const reply = await fetch(`${url}/v1${CHAT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'Hello. '.repeat(300) }],
        max_tokens: 1000,
        stream,
      }),
    })
    assert.equal(reply.status, 200, await reply.text())
    await gateway.calls.flush()
    const { items } = await gateway.calls.history({ caller_id: record.id, limit: 1, offset: 0 })
    const [receipt] = (await gateway.wallet.usage({ caller_id: record.id, limit: 1 })).items
    assert.deepEqual(
      [receipt?.billing.upstream_cost_usd, receipt?.stated ? 'stated' : receipt?.price?.from],
      [items[0]?.upstream_cost_usd, items[0]?.price_from],
    )
    return [items[0]?.upstream_cost_usd, items[0]?.price_from]
  }

  // Our own price of 1,000 + 100 tokens of grok-4.3 is 0.0015 USD.
  it('is charged in place of ours, rounded up to a micro-dollar, streamed or not', async () => {
    for (const stream of [false, true]) {
      assert.deepEqual(await ask('xai/grok-4.3', { cost_in_usd_ticks: 43_120_001 }, stream), [0.004313, 'stated'])
      assert.deepEqual(await ask('openrouter/x-ai/grok-4.3', { cost: 0.0021 }, stream), [0.0021, 'stated'])
    }
    assert.deepEqual(await ask('xai/grok-4.3', { cost_in_usd_ticks: 100 }), [0.000001, 'stated'], 'a lower one, too')
  })

  it('counts for a refusal, too, after which the request is mended', async () => {
    const message = "Unsupported parameter: 'temperature'."
    const usage = { ...USAGE, cost_in_usd_ticks: 5_000_000_000 }
    const { gateway, url } = running
    upstream.on(CHAT, json(400, { error: { message, param: 'temperature' }, usage }), json(200, completion('Hello.')))
    const { key, record } = await gateway.keys.create({ name: 'caller', scopes: ['inference'] })
    const reply = await fetch(`${url}/v1${CHAT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'xai/grok-4.3', messages: [{ role: 'user', content: 'Hi' }], temperature: 0.2 }),
    })
    assert.equal(reply.status, 200, await reply.text())
    await gateway.calls.flush()
    const { items } = await gateway.calls.history({ caller_id: record.id, limit: 1 })
    assert.ok((items[0]?.upstream_cost_usd ?? 0) >= 0.5, `${items[0]?.upstream_cost_usd}`)
  })

  it('of OpenRouter includes what the provider behind it bills for a key of one’s own', async () => {
    const own = { cost: 0.0001, is_byok: true, cost_details: { upstream_inference_cost: 0.0019 } }
    assert.deepEqual(await ask('openrouter/x-ai/grok-4.3', own), [0.002, 'stated'])
    assert.deepEqual(await ask('openrouter/x-ai/grok-4.3', { ...own, is_byok: false }), [0.0001, 'stated'])
  })

  it('is not believed when it is 0 for a model with a price, or comes from another address', async () => {
    assert.deepEqual(await ask('xai/grok-4.3', { cost_in_usd_ticks: 0 }), [0.0015, 'catalogue'])
    assert.deepEqual(await ask('openrouter/x-ai/grok-4.3', { cost: 0 }), [0.0015, 'catalogue'])
    assert.deepEqual(await ask('proxied/grok-4.3', { cost_in_usd_ticks: 1 }), [0.0015, 'catalogue'])
    assert.deepEqual(await ask('m', { cost: 0.000001, cost_in_usd_ticks: 1 }), [0.003, 'configuration'])
  })

  it('is read as none when it is no amount', () => {
    for (const cost of [-1, Number.NaN, Number.POSITIVE_INFINITY, '0.1', null, 1e9])
      assert.equal(statedCost({ cost }), null)
    assert.equal(statedCost({ cost_in_usd_ticks: -1, cost: 0.5 }), 500_000)
    assert.equal(statedCost(null), null)
    assert.equal(statedCost({ cost: 0.0000011 }), 2)
    assert.equal(statedCost({ cost: 0.07 }), 70_000, 'and not 70,001 by the binary fraction')
  })
})
