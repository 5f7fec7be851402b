import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import OpenAI, { toFile } from 'openai'
import type { CallRecord } from '../../src/calls/call-record.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const EMBED = '/embeddings'
const EMBEDDED = double.json(200, {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 8, total_tokens: 8 },
})
const part = (text: string, more = {}) => ({ object: 'text_completion', choices: [{ text, index: 0 }], ...more })
const USED = { ...part(''), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }

describe('a passed path with several candidates', () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let settings = 5000
  let running: RunningGateway

  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    running = await startGateway(
      one.url,
      {},
      {
        upstream: { timeout_ms: 2000, first_byte_timeout_ms: 1500 },
        upstreams: { two: { provider: two.url, api_keys: ['key-of-two-number-1', 'key-of-two-number-2'] } },
        routes: [
          { model: 'any', to: ['default', 'two/their-model'] },
          {
            model: 'drawn',
            to: [
              { upstream: 'default', weight: 1 },
              { upstream: 'two', weight: 3 },
            ],
            strategy: 'weighted',
          },
        ],
        pricing: { models: { 'their-model': { input: 1000, output: 1000 } } },
      },
    )
  })
  beforeEach(async () => {
    for (const upstream of [one, two]) {
      upstream.received.length = 0
      upstream.on(EMBED, EMBEDDED)
    }
    settings++
    await running.gateway.config.set({
      'upstream.connect_timeout_ms': settings,
      'upstreams.two.connect_timeout_ms': settings,
    })
    await running.gateway.calls.flush()
    for (const table of ['calls', 'call_rollups', 'call_totals'] as const)
      await running.gateway.store.db.deleteFrom(table).execute()
  })
  after(async () => {
    await running.close()
    await one.close()
    await two.close()
  })

  const post = (body: object, path = EMBED, key = running.key) =>
    fetch(`${running.url}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'any', ...body }),
    })
  /** Oldest first. */
  const records = async (): Promise<CallRecord[]> =>
    (await running.gateway.calls.history({ limit: 50 })).items.reverse()
  const asked = () => [one.received.length, two.received.length]
  const originOf = ({ headers }: Response) => [headers.get('x-gazeway-upstream'), headers.get('x-gazeway-attempts')]

  for (const [what, behaviour] of [
    ['drops the connection', double.drops],
    ['is silent before its first byte', double.hangs],
    ...[401, 403, 404, 408, 409, 425, 429, 500, 503].map(
      (status) => [`answers ${status}`, double.fails(status)] as const,
    ),
  ] as const)
    it(`is answered by the second where the first ${what}`, async () => {
      one.on(EMBED, behaviour)
      const reply = await post({ input: 'x' })
      assert.deepEqual([reply.status, ...originOf(reply)], [200, 'two', '2'])
      assert.deepEqual(asked(), [1, 1])
      assert.match(two.received[0]?.text ?? '', /"model":"their-model"/)
      const [failed, answered] = await records()
      assert.deepEqual([failed?.status, failed?.fallback_from, failed?.path], ['error', null, '/v1/embeddings'])
      assert.deepEqual(
        [answered?.status, answered?.fallback_from, answered?.model],
        ['ok', failed?.call_id, 'their-model'],
      )
    })

  for (const status of [400, 413, 422])
    it(`stays the client's fault where the first answers ${status}`, async () => {
      one.on(EMBED, double.json(status, { detail: 'no' }))
      const reply = await post({ input: 'x' })
      assert.deepEqual([reply.status, await reply.json()], [status, { detail: 'no' }])
      assert.deepEqual(asked(), [1, 0])
    })

  it('gets the reply of the first, as it is, where all fail', async () => {
    one.on(EMBED, double.json(503, { detail: 'busy with upstream-secret-key' }, { 'retry-after': '7' }))
    two.on(EMBED, double.fails(500))
    const reply = await post({ input: 'x' })
    assert.deepEqual([reply.status, await reply.json()], [503, { detail: 'busy with ***' }])
    assert.deepEqual([...originOf(reply), reply.headers.get('retry-after')], ['default', '2', '7'])
    one.on(EMBED, double.drops)
    const dropped = await post({ input: 'x' })
    assert.equal(dropped.status, 502)
    assert.match(await dropped.text(), /upstream_unreachable/)
    assert.deepEqual(originOf(dropped), ['default', '2'])
  })

  it('is never asked of another once a whole reply has begun', async () => {
    one.on(EMBED, (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"data"')
      setImmediate(() => response.socket?.destroy())
    })
    assert.equal((await post({ input: 'x' })).status, 502)
    assert.deepEqual(asked(), [1, 0])
  })

  for (const [what, behaviour] of [
    ['breaks off', double.sse([part('')], 'break')],
    ['ends', double.sse([], 'none')],
    ['reports an error', double.sse([{ error: { message: 'Overloaded.', code: 503 } }])],
  ] as const)
    it(`is answered by the second where the stream of the first ${what} before its first output`, async () => {
      one.on('/completions', behaviour)
      two.on('/completions', double.sse([part('Hello.'), USED]))
      const reply = await post({ prompt: 'Say hello', stream: true }, '/completions')
      const text = await reply.text()
      assert.deepEqual(originOf(reply), ['two', '2'])
      assert.match(text, /^data: \{[^\n]*"Hello\."[^\n]*\n\ndata: \[DONE\]\n\n$/, 'nothing of the first stream goes on')
    })

  it('is never asked of another once output has come', async () => {
    one.on('/completions', double.sse([part('Hel')], 'break'))
    const text = await (await post({ prompt: 'Say hello', stream: true }, '/completions')).text()
    assert.match(text, /"Hel"[\s\S]*"error"/)
    assert.deepEqual(asked(), [1, 0])
  })

  it('has an empty stream passed on', async () => {
    one.on('/completions', double.sse([part(''), USED]))
    const text = await (await post({ prompt: 'Say nothing', stream: true }, '/completions')).text()
    assert.match(text, /"text":""[\s\S]*\[DONE\]/)
    assert.deepEqual(asked(), [1, 0])
  })

  it('is a form that the second gets whole, under its own id of the model', async () => {
    const path = '/audio/transcriptions'
    one.on(path, double.fails(503))
    two.on(path, double.json(200, { text: 'hi', usage: { input_tokens: 9, output_tokens: 1 } }))
    const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 })
    const sound = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256))
    const { text } = await client.audio.transcriptions.create({ model: 'any', file: await toFile(sound, 'a.wav') })
    assert.equal(text, 'hi')
    assert.ok(two.received[0]?.bytes.includes(sound), 'the recording is whole')
    assert.ok(two.received[0]?.bytes.includes('their-model'))
  })

  it('stays with the upstream that has stored what it counts on', async () => {
    one.on('/responses/compact', double.fails(503))
    const reply = await post({ previous_response_id: 'resp_of_nobody' }, '/responses/compact')
    assert.equal(reply.status, 503)
    assert.deepEqual(asked(), [1, 0])
  })

  it('draws the first by weight', async () => {
    for (let i = 0; i < 30; i++) assert.equal((await post({ input: 'x', model: 'drawn' })).status, 200)
    const [first = 0, second = 0] = asked()
    assert.ok(first > 0 && second > first, `${first} and ${second} of 30 with weights 1 and 3`)
  })

  it('has the dearest candidate set aside, and pays for the one that answers', async () => {
    const held = { scopes: ['inference' as const], billing: 'cost' as const }
    const poor = await running.gateway.keys.create({ name: 'poor', ...held, limits: { credit_limit_usd: 0.01 } })
    const broke = await post({ input: 'Hello there' }, EMBED, poor.key)
    assert.equal(broke.status, 402, 'the cheap one alone would cost less')
    assert.deepEqual(asked(), [0, 0])
    const rich = await running.gateway.keys.create({ name: 'rich', ...held, limits: { credit_limit_usd: 10 } })
    const cheap = await post({ input: 'Hello there' }, EMBED, rich.key)
    assert.equal(cheap.headers.get('x-gazeway-cost-usd'), '0.000024')
    one.on(EMBED, double.fails(503))
    const dear = await post({ input: 'Hello there' }, EMBED, rich.key)
    assert.equal(dear.headers.get('x-gazeway-cost-usd'), '0.008')
    assert.equal((await running.gateway.wallet.usage({ caller_id: rich.record.id, limit: 10 })).total, 2)
  })
})
