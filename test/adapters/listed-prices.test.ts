import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { readListedPrices } from '../../src/providers/listed-prices.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = '/chat/completions'
/** Entries as OpenRouter lists them: US dollars for one token, as text. */
const LISTED = [
  { id: 'maker/new', pricing: { prompt: '0.000002', completion: '0.00001', input_cache_read: '0.0000002' } },
  { id: 'x-ai/grok-4.3', pricing: { prompt: '0.000003', completion: '0.00002', web_search: '0.004' } },
  { id: 'maker/zero', pricing: { prompt: '0', completion: '0' } },
  { id: 'openrouter/auto', pricing: { prompt: '-1', completion: '-1' } },
]

let upstream: UpstreamDouble
let running: RunningGateway

before(async () => {
  upstream = await startUpstream()
  upstream.on('/models', json(200, { data: LISTED }))
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  upstream.on(CHAT, json(200, completion('Hello.', usage)))
  running = await startGateway(
    upstream.url,
    {},
    {
      pricing: { unknown: null, models: { 'maker/set': { input: 1, output: 1 } } },
      upstreams: { router: { provider: 'openrouter', base_url: upstream.url, api_keys: ['key'] } },
    },
  )
})
after(async () => {
  await running.close()
  await upstream.close()
})

async function ask(model: string) {
  const { gateway, url } = running
  const limits = { budgets: [{ usd: 5, per: 'day' as const }] }
  const { key, record } = await gateway.keys.create({ name: 'caller', scopes: ['inference'], limits })
  const reply = await fetch(`${url}/v1${CHAT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: `router/${model}`, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }),
  })
  const { error } = (await reply.json()) as { error?: { code: string } }
  await gateway.calls.flush()
  const { items } = await gateway.calls.history({ caller_id: record.id, limit: 1, offset: 0 })
  return error?.code ?? [items[0]?.upstream_cost_usd, items[0]?.price_from]
}

it('the list of OpenRouter prices its models: after the configuration, before the preset and the catalogue', async () => {
  assert.deepEqual(await ask('maker/new'), [0.003, 'catalogue']) // 1000 × 2 + 100 × 10
  assert.deepEqual(await ask('maker/new:nitro'), [0.003, 'catalogue'])
  assert.deepEqual(await ask('x-ai/grok-4.3'), [0.005, 'catalogue'], 'the preset has 1.25 and 2.5')
  assert.deepEqual(await ask('maker/set'), [0.0011, 'configuration'])
})

it('a price of 0 or below is unknown, unless the model is named as free', async () => {
  assert.equal(await ask('maker/zero'), 'model_not_priced')
  assert.equal(await ask('openrouter/auto'), 'model_not_priced')
  const free = readListedPrices({ data: [{ id: 'maker/new:free', pricing: { prompt: '0', completion: '0' } }] })
  assert.deepEqual(free.get('maker/new:free'), { input: 0, output: 0 })
})

it('a price of 0 for media, or for the cache, leaves them the rates of the model', () => {
  const media = { image_token: '0', image_output: '0', audio: '0', audio_output: '0', input_cache_read: '0' }
  const listed = readListedPrices([
    { id: 'm', pricing: { prompt: '0.000001', completion: '0.000002', ...media } },
    { id: 'open', pricing: { input: 0.3, output: 1.2, cached_input: 0 } },
  ])
  assert.deepEqual(
    [listed.get('m'), listed.get('open')],
    [
      { input: 1, output: 2 },
      { input: 0.3, output: 1.2 },
    ],
  )
})

it('reads long prompts, hours of the day, reasoning and Together’s rates', () => {
  const pricing = {
    prompt: '0.000001',
    completion: '0.000002',
    internal_reasoning: '0.000003',
    input_cache_write: '0.00000125',
    overrides: [
      { min_prompt_tokens: 200_000, prompt: '0.000002' },
      { utc_start: 1, utc_end: 4, prompt: '0.0000015' },
    ],
  }
  const together = { id: 'open', pricing: { input: 0.3, output: 1.2, cached_input: 0.06, hourly: 0 } }
  const listed = readListedPrices([
    { id: 'm', pricing },
    together,
    { id: 'each', pricing: { ...pricing, request: '0.01' } },
  ])
  assert.deepEqual(listed.get('m'), {
    ...{ input: 1.5, output: 3, cache_write: 1.25 },
    long_prompt: { above: 199_999, input: 2, output: 3, cache_write: 1.25 },
  })
  assert.deepEqual(listed.get('open'), { input: 0.3, output: 1.2, cached_input: 0.06 })
  assert.equal(listed.has('each'), false, 'a fee for each request is not counted by tokens')
})
