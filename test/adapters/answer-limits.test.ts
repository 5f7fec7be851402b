import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  type Behaviour,
  chunks,
  completion,
  json,
  response,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

/** Limits as OpenRouter lists them. */
const LISTED = {
  data: [
    { id: 'long', context_length: 400_000, top_provider: { context_length: 400_000, max_completion_tokens: 64_000 } },
    { id: 'short', context_length: 400_000, top_provider: { context_length: 400_000, max_completion_tokens: 2000 } },
    { id: 'narrow', context_length: 6000, top_provider: { context_length: 6000, max_completion_tokens: 6000 } },
    { id: 'unlisted', top_provider: { max_completion_tokens: null } },
  ],
}
const LISTING = {
  provider: 'openrouter',
  api_keys: ['secret-of-the-double'],
  models: ['long', 'short', 'narrow', 'unlisted'],
}
/** A word of output, answered whole or streamed as asked. */
const answers: Behaviour = (reply, request) => {
  const { stream } = request.body as { stream?: boolean }
  return (stream ? sse(chunks(['Hello'])) : json(200, completion('Hello')))(reply, request)
}

let upstream: UpstreamDouble
let local: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  local = await startUpstream()
  upstream.on('/models', json(200, LISTED))
  running = await startPlatform(upstream.url, {
    document: {
      wallet: { wait_ms: 0 },
      upstreams: {
        router: { ...LISTING, base_url: upstream.url },
        own: { provider: 'vllm', base_url: local.url, models: ['own', 'priced'] },
      },
      routes: [{ model: 'either', to: ['own/own', 'router/long'] }],
      pricing: {
        models: { priced: { input: 3, output: 3 }, kept: { input: 1, output: 1, cache_write: 2, cache_write_1h: 4 } },
      },
    },
  })
})
beforeEach(() => {
  upstream.on('/chat/completions', answers)
  local.on('/chat/completions', answers)
})
after(async () => {
  await running.close()
  await Promise.all([upstream.close(), local.close()])
})

async function newKey(usd: number | null) {
  const { key, record } = await running.gateway.keys.create({
    name: 'caller',
    scopes: ['inference'],
    billing: 'recorded',
    ...(usd !== null && { limits: { budgets: [{ usd, per: 'day' as const }] } }),
  })
  return { key, id: record.id }
}
const ask = (key: string, body: object, path = '/chat/completions') =>
  fetch(`${running.gatewayUrl}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }),
  })
const last = (double: UpstreamDouble) =>
  double.received.filter(({ path }) => !path.startsWith('/v1/models')).at(-1)?.body as Record<string, unknown>

/** The limit that the upstream is sent for a call, by the budget of its key. */
async function limitSent(usd: number | null, body: object, double = upstream): Promise<unknown> {
  const { key } = await newKey(usd)
  const reply = await ask(key, body)
  assert.equal(reply.status, 200, await reply.clone().text())
  await reply.text()
  return last(double).max_tokens
}

describe('a call whose client leaves the length of its answer open', () => {
  for (const stream of [false, true])
    describe(stream ? 'streamed' : 'whole', () => {
      it('is sent what the model can give at most, by the list of its upstream', async () => {
        assert.equal(await limitSent(10, { model: 'long', stream }), 64_000)
        assert.equal(await limitSent(10, { model: 'short', stream }), 2000)
      })

      it('is sent the setting where the list does not know the most', async () => {
        assert.equal(await limitSent(10, { model: 'unlisted', stream }), 8192)
        assert.equal(await limitSent(10, { model: 'other', stream }), 8192)
      })

      it('is sent what the prompt leaves of the context', async () => {
        const content = 'word '.repeat(1000)
        const limit = Number(await limitSent(10, { model: 'narrow', stream, messages: [{ role: 'user', content }] }))
        assert.ok(limit > 4000 && limit < 5000, `${limit}`)
      })

      it('is sent a quarter of what is free, and reserves it', async () => {
        const limit = Number(await limitSent(0.4, { model: 'long', stream }))
        // A quarter of 0.4 USD at 3 micro-dollars a token, less the prompt.
        assert.ok(limit > 32_000 && limit < 33_334, `${limit}`)
      })

      it('is sent no less than 8,192 while the budget reaches for them', async () => {
        assert.equal(await limitSent(0.03, { model: 'long', stream }), 8192)
        const { key } = await newKey(0.02)
        assert.equal((await ask(key, { model: 'long', stream })).status, 402)
      })

      it("is sent none at a server of one's own without a price, on any way there", async () => {
        assert.equal(await limitSent(1, { model: 'own', stream }, local), undefined)
        assert.equal(await limitSent(1, { model: 'either', stream }, local), undefined)
        assert.equal(await limitSent(1, { model: 'priced', stream }, local), 8192)
      })
    })

  it('is sent none for a key without limits', async () => {
    assert.equal(await limitSent(null, { model: 'long' }), undefined)
  })
})

it('sends the limit of a client unchanged, reserves it whole, and refuses what does not fit, with the amount', async () => {
  assert.equal(await limitSent(1, { model: 'short', max_tokens: 100_000 }), 100_000)
  const { key } = await newKey(0.2)
  const refused = await ask(key, { model: 'short', max_tokens: 100_000 })
  assert.equal(refused.status, 402)
  assert.match(await refused.text(), /may cost 0\.300\d+ USD/)
})

it('reserves cache writes at the rate of an hour where the request asks for an hour', async () => {
  const { key } = await newKey(0.0001)
  const mostOf = async (ttl: string): Promise<number> => {
    const content = [{ type: 'text', text: 'word '.repeat(1000), cache_control: { type: 'ephemeral', ttl } }]
    const refused = await ask(key, { model: 'kept', max_tokens: 1, messages: [{ role: 'user', content }] })
    return Number(/may cost (0\.\d+) USD/.exec(await refused.text())?.[1])
  }
  const [minutes, hour] = [await mostOf('5m'), await mostOf('1h')]
  // But for the token of the answer.
  assert.equal(Math.round((hour - 1e-6) * 1e6), 2 * Math.round((minutes - 1e-6) * 1e6), `${minutes}, ${hour}`)
})

describe('a limit that the upstream refuses', () => {
  /** Refuses limits above 3,000, as OpenAI does. */
  const refuses: Behaviour = (reply, request) => {
    const { max_tokens } = request.body as { max_tokens: number }
    const message = `max_tokens is too large: ${max_tokens}. This model supports at most 3000 completion tokens.`
    return (max_tokens > 3000 ? json(400, { error: { message, param: 'max_tokens' } }) : answers)(reply, request)
  }
  const sent = () =>
    upstream.received.flatMap(({ path, body }) =>
      path.endsWith('/chat/completions') ? [(body as { max_tokens?: number }).max_tokens] : [],
    )

  for (const stream of [false, true])
    it(`is retried once, lower, and remembered for the key that met it alone: ${stream ? 'streamed' : 'whole'}`, async () => {
      upstream.on('/chat/completions', refuses)
      const before = sent().length
      const keys = await Promise.all([newKey(10), newKey(10), newKey(10)])
      const [one, two, other] = keys.map(({ key }) => key) as [string, string, string]
      for (const key of [one, one, two, other]) {
        const reply = await ask(key, { model: `small-${stream}`, stream })
        assert.equal(reply.status, 200, await reply.text())
      }
      assert.deepEqual(sent().slice(before), [8192, 3000, 3000, 8192, 3000, 8192, 3000])
    })

  it('is lowered for one call where it depends on the prompt, the minute or the credit', async () => {
    for (const message of [
      "This model's maximum context length is 9000 tokens. However, you requested 14192 tokens (6000 in the messages, 8192 in the completion).",
      'This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens, but can only afford 3000.',
    ]) {
      const refuse = json(400, { error: { message } })
      upstream.on('/chat/completions', (reply, request) =>
        ((request.body as { max_tokens: number }).max_tokens > 3000 ? refuse : answers)(reply, request),
      )
      const before = sent().length
      const { key } = await newKey(10)
      for (let call = 0; call < 2; call++) assert.equal((await ask(key, { model: 'moment' })).status, 200)
      assert.deepEqual(sent().slice(before), [8192, 3000, 8192, 3000], message)
    }
  })

  it('teaches nothing where the lower one is refused too', async () => {
    const refuse = json(400, { error: { message: 'max_tokens: at most 1 completion tokens' } })
    upstream.on('/chat/completions', refuse, refuse, answers)
    const before = sent().length
    const { key } = await newKey(10)
    assert.equal((await ask(key, { model: 'liar' })).status, 400)
    assert.equal((await ask(key, { model: 'liar' })).status, 200)
    assert.deepEqual(sent().slice(before), [8192, 1, 8192])
  })

  it('is retried once alone', async () => {
    const never: Behaviour = json(400, { error: { message: 'max_tokens is invalid' } })
    upstream.on('/chat/completions', never)
    const before = sent().length
    const { key } = await newKey(10)
    assert.equal((await ask(key, { model: 'never' })).status, 400)
    assert.deepEqual(sent().slice(before), [8192, 4096])
  })

  it('is passed on where the client set it', async () => {
    upstream.on('/chat/completions', refuses)
    const before = sent().length
    const { key } = await newKey(10)
    assert.equal((await ask(key, { model: 'small', max_tokens: 5000 })).status, 400)
    assert.deepEqual(sent().slice(before), [5000])
  })

  it('is lowered in a Response too', async () => {
    upstream.on('/responses', (reply, request) => {
      const { max_output_tokens: limit } = request.body as { max_output_tokens: number }
      const message = `max_output_tokens: ${limit} > 3000, which is the maximum number of output tokens.`
      return (limit > 3000 ? json(400, { error: { message } }) : json(200, response('Hello')))(reply, request)
    })
    const { key } = await newKey(10)
    assert.equal((await ask(key, { model: 'gpt-small', input: 'Hello' }, '/responses')).status, 200)
    assert.equal(last(upstream).max_output_tokens, 3000)
  })
})
