import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { KEY, startGemini } from '../doubles/gemini.ts'
import { chunks, completion, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

/** Rates in USD for 1,000,000 tokens: text 0.3 and 2.5, images 30. */
const PAINTER = 'gemini-2.5-flash-image'
const CONTENTS = [{ role: 'user', parts: [{ text: 'Paint a cat.' }] }]
const IMAGE = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
/** An image, a caption and thoughts, as Google counts them. */
const PAINTED = {
  promptTokenCount: 10,
  candidatesTokenCount: 1300,
  thoughtsTokenCount: 200,
  totalTokenCount: 1510,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
}
/** 10 × 0.3 + 1290 × 30 + (10 + 200) × 2.5 micro-dollars. */
const PAINTED_USD = 0.039228

// biome-ignore lint/suspicious/noExplicitAny: replies, as they are read here
type Json = any

describe('images in answers', () => {
  let google: Awaited<ReturnType<typeof startGemini>>
  let router: UpstreamDouble
  let platform: RunningPlatform

  before(async () => {
    google = await startGemini()
    router = await startUpstream()
    const pricing = { prompt: '0.0000003', completion: '0.0000025', image_output: '0.00003' }
    router.on('/models', json(200, { data: [{ id: 'maker/painter', pricing }] }))
    platform = await startPlatform('sandbox', {
      document: {
        upstreams: {
          google: { provider: 'gemini', base_url: google.url, api_keys: [KEY] },
          router: { provider: 'openrouter', base_url: router.url, api_keys: ['secret-of-the-double'] },
        },
      },
    })
  })
  after(async () => {
    await platform?.close()
    await Promise.all([google?.close(), router?.close()])
  })

  const newKey = (usd: number) =>
    platform.gateway.keys.create({
      name: 'painter',
      scopes: ['platform', 'inference'],
      billing: 'cost',
      limits: { credit_limit_usd: usd, budgets: [{ usd, per: 'day' }] },
    })
  const post = (path: string, key: string, body: object) =>
    fetch(platform.gatewayUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
  const paint = (key: string, method = 'generateContent') =>
    post(`/v1beta/models/google/${PAINTER}:${method}`, key, {
      contents: CONTENTS,
      generationConfig: { maxOutputTokens: 2000 },
    })
  const receiptsOf = async (key: string, accept = 'application/json') =>
    ask(platform, 'GET', '/api/wallet/metered/usage', { key, headers: { accept } })
  const pieces = (usageMetadata: object) => [
    { candidates: [{ content: { role: 'model', parts: [IMAGE] }, finishReason: 'STOP', index: 0 }], usageMetadata },
  ]

  it('are reserved at their own rate, which is the dearest that may come', async () => {
    google.on({ pieces: pieces(PAINTED) })
    const { key } = await newKey(0.05)
    const refused = await paint(key)
    assert.equal(refused.status, 402, await refused.clone().text())
    // 2,000 tokens at 30, and the prompt.
    assert.match(await refused.text(), /This may cost 0\.060\d+ USD/)
    assert.equal((await paint((await newKey(0.07)).key)).status, 200)
  })

  it('cost their own rate, and text and thoughts beside them that of text: whole, streamed, on the receipt and its CSV', async () => {
    for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
      google.on({ pieces: pieces(PAINTED) })
      const { key, record } = await newKey(1)
      await (await paint(key, method)).text()
      const { items: receipts } = (await (await receiptsOf(key)).json()) as Json
      const [receipt] = receipts
      assert.equal(receipt.billing.upstream_cost_usd, PAINTED_USD, method)
      assert.deepEqual(receipt.price.image, { input_tokens: 0, cached_input_tokens: 0, output_tokens: 1290 })
      assert.deepEqual([receipt.price.output, receipt.price.image_output], [2.5, 30])
      const [header = '', line = ''] = (await (await receiptsOf(key, 'text/csv')).text()).split('\r\n')
      const names = header.split(',')
      // From the end: the source of the price has a comma, too.
      const cell = (name: string) => line.split(',').at(names.indexOf(name) - names.length)
      assert.deepEqual([cell('image_output_tokens'), cell('image_output_usd_per_1m')], ['1290', '30'])
      const { items } = await platform.gateway.keys.list({ limit: 100 })
      assert.equal(items.find(({ id }) => id === record.id)?.spend.day_usd, PAINTED_USD)
      const statement = (await (
        await ask(platform, 'GET', `/api/wallet/statements?period=${new Date().toISOString().slice(0, 7)}`, { key })
      ).json()) as Json
      const [charge] = statement.charges
      assert.deepEqual([charge.price.image_output, charge.price.image], [30, undefined])
    }
    await platform.gateway.calls.flush()
    assert.deepEqual(await callFaults(platform.gateway.store), [])
  })

  it('cost the dearest rate where the answer does not count them', async () => {
    google.on({ pieces: pieces({ promptTokenCount: 10, candidatesTokenCount: 1290, totalTokenCount: 1300 }) })
    const { key } = await newKey(1)
    await (await paint(key)).text()
    const { items: receipts } = (await (await receiptsOf(key)).json()) as Json
    assert.equal(receipts[0].billing.upstream_cost_usd, 0.038703)
  })

  it('have the rate that the list of OpenRouter states, in reservations and answers', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 1300,
      total_tokens: 1310,
      completion_tokens_details: { image_tokens: 1290 },
    }
    const body = { model: 'router/maker/painter', messages: [{ role: 'user', content: 'A cat.' }], max_tokens: 2000 }
    for (const stream of [false, true]) {
      router.on('/chat/completions', stream ? sse(chunks(['Here.'], usage)) : json(200, completion('Here.', usage)))
      const small = await newKey(0.05)
      const of = (key: string) => post('/v1/chat/completions', key, { ...body, stream })
      assert.match(await (await of(small.key)).text(), /This may cost 0\.060\d+ USD/)
      const { key } = await newKey(1)
      await (await of(key)).text()
      const { items: receipts } = (await (await receiptsOf(key)).json()) as Json
      assert.equal(receipts[0].billing.upstream_cost_usd, 0.038728) // 3 + 1290 × 30 + 10 × 2.5
    }
  })

  it('and videos to embed are reserved at their own rate', async () => {
    const film = { inlineData: { mimeType: 'video/mp4', data: 'A'.repeat(4000) } }
    const embed = (key: string, part: object) =>
      post('/v1beta/models/google/gemini-embedding-2:embedContent', key, { content: { parts: [part] } })
    const { key } = await newKey(0.01)
    // A medium is 1,100 tokens at least, at 12 USD for 1,000,000; as text they would cost 0.2.
    assert.equal((await embed(key, film)).status, 402)
    assert.equal((await embed(key, { text: 'A'.repeat(4000) })).status, 200)
  })
})
