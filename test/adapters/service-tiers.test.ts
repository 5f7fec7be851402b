import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = '/chat/completions'
const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const ASK = { model: 'm', messages: [{ role: 'user', content: 'Say hello. '.repeat(300) }], max_tokens: 200 }

describe('a charged call', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await double.startUpstream()
    running = await startGateway(
      upstream.url,
      {},
      {
        pricing: {
          models: {
            m: {
              input: 2,
              output: 10,
              long_prompt: { above: 5000, input: 4, output: 15 },
              service_tiers: { flex: { input: 1, output: 5 }, priority: { input: 20, output: 100 } },
            },
          },
        },
      },
    )
  })
  beforeEach(() => {
    upstream.received.length = 0
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  async function ask(
    fields: object,
    credit = 10,
    path = CHAT,
  ): Promise<{ status: number; cost: number; text: string }> {
    const { key } = await running.gateway.keys.create({
      name: 'caller',
      scopes: ['inference'],
      billing: 'cost',
      limits: { credit_limit_usd: credit },
    })
    const reply = await fetch(`${running.url}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...ASK, ...fields }),
    })
    const text = await reply.text()
    const said = reply.headers.get('x-gazeway-cost-usd') ?? /cost-usd=([\d.]+)/.exec(text)?.[1]
    return { status: reply.status, cost: Number(said), text }
  }
  const answers = (service_tier?: string, usage = USAGE) =>
    upstream.on(
      CHAT,
      double.json(200, { ...double.completion('Hello.', usage), ...(service_tier && { service_tier }) }),
    )

  for (const [what, requested, replied, cost] of [
    ['of the tier that answered', 'priority', 'priority', 0.03],
    ['of the standard tier where that answered', 'priority', 'default', 0.003],
    ['of the requested tier where the reply names none', 'flex', undefined, 0.0015],
    ['of the standard tier where nobody names another', undefined, undefined, 0.003],
  ] as const)
    it(`has the price ${what}`, async () => {
      answers(replied)
      assert.equal((await ask(requested === undefined ? {} : { service_tier: requested })).cost, cost)
    })

  it('has it in a stream, and in a Response', async () => {
    const chunks = double.chunks(['Hello.'], USAGE).map((chunk) => ({ ...chunk, service_tier: 'flex' }))
    upstream.on(CHAT, double.sse(chunks))
    assert.equal((await ask({ stream: true, service_tier: 'flex' })).cost, 0.0015)
    const usage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 }
    upstream.on('/responses', double.json(200, { ...double.response('Hello.'), usage, service_tier: 'priority' }))
    const asked = { model: 'm', input: 'x '.repeat(2000), service_tier: 'priority', messages: undefined }
    assert.equal((await ask({ ...asked, max_tokens: undefined, max_output_tokens: 200 }, 10, '/responses')).cost, 0.03)
  })

  it('has the price of a long prompt for all of its tokens', async () => {
    const prompt = 'word '.repeat(6000)
    const messages = [{ role: 'user', content: prompt }]
    answers(undefined, { prompt_tokens: 6000, completion_tokens: 100, total_tokens: 6100 })
    assert.equal((await ask({ messages })).cost, 0.0255)
    answers(undefined, { prompt_tokens: 5000, completion_tokens: 100, total_tokens: 5100 })
    assert.equal((await ask({ messages })).cost, 0.011)
  })

  it('has the dearer tier set aside', async () => {
    answers('priority')
    assert.equal((await ask({ service_tier: 'priority' }, 0.02)).status, 402)
    assert.equal(upstream.received.length, 0)
    assert.equal((await ask({}, 0.02)).status, 200)
    answers('default')
    assert.equal((await ask({ service_tier: 'flex' }, 0.0035)).status, 402, 'the standard one may answer')
  })

  it('is sent with one service tier alone', async () => {
    answers('priority')
    const { key } = await running.gateway.keys.create({ name: 'b', scopes: ['inference'], billing: 'cost' })
    const body = `${JSON.stringify({ ...ASK, service_tier: 'priority' }).slice(0, -1)},"service_tier":"flex"}`
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
    const reply = await fetch(`${running.url}/v1${CHAT}`, { method: 'POST', headers, body })
    assert.equal(reply.status, 200)
    assert.deepEqual(upstream.received[0]?.text.match(/"service_tier":"\w+"/g), ['"service_tier":"flex"'])
  })
})
