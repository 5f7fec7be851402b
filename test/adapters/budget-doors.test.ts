import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, beforeEach, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { message, messageStream } from '../doubles/anthropic.ts'
import { until } from '../doubles/until.ts'
import {
  type Behaviour,
  chunks,
  completion,
  json,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey } from './socket-client.ts'

/** Usage of each answer: 900 micro-dollars at the flat price. */
const USED = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 }
const MICROS = 900
const CHAT = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  running = await startPlatform(upstream.url, {
    document: {
      wallet: { wait_ms: 0 },
      upstreams: {
        claude: {
          provider: upstream.url,
          protocol: 'anthropic',
          api_keys: ['key-of-the-double'],
          models: ['claude-*'],
        },
      },
      pricing: { models: { 'claude-x': { input: 3, output: 3 } } },
    },
  })
})
beforeEach(() => {
  upstream.received.length = 0
})
after(async () => {
  await running.close()
  await upstream.close()
})

async function newKey(input: Partial<z.input<typeof NewKey>>) {
  const { key, record } = await running.gateway.keys.create({
    name: 'thief',
    scopes: ['inference', 'platform'],
    ...input,
  })
  return { key, id: record.id }
}
const post = (url: string, body: object, key: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  })
const answers: Behaviour = (reply, request) => {
  const { stream } = request.body as { stream?: boolean }
  return (stream ? sse(chunks(['Hi.'], USED)) : json(200, completion('Hi.', USED)))(reply, request)
}
/** Asks over a socket, and waits until its answer or refusal has ended. */
async function overSocket(url: string, key: string): Promise<void> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } })
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hello', max_output_tokens: 100 }))
  for await (const [data] of on(socket)) if (/response\.(?:completed|failed)|"error"/.test(String(data))) break
  socket.terminate()
}
async function* on(socket: WebSocket) {
  const signal = AbortSignal.timeout(30_000)
  for (;;) yield await once(socket, 'message', { signal })
}

describe('a budget', () => {
  it('of a group holds over every door at once: both gateways, the agent socket and both sockets of Responses', async () => {
    upstream.on('/chat/completions', answers)
    upstream.on('/responses', json(404, { error: { message: 'No such endpoint.' } }))
    const usd = 0.02
    const group = await running.gateway.groups.create({ name: 'team', budgets: [{ usd, per: 'day' }] })
    const keys = await Promise.all(
      ['recorded', 'recorded', 'cost'].map((billing) =>
        newKey({ group: group.id, billing: billing as 'cost', limits: { credit_limit_usd: 1 } }),
      ),
    )
    const round = ({ key }: { key: string }) => [
      post(`${running.gatewayUrl}/v1/chat/completions`, CHAT, key).then((reply) => reply.text()),
      post(`${running.url}/v1/chat/completions`, CHAT, key).then((reply) => reply.text()),
      overSocket(`${running.gatewayUrl.replace('http', 'ws')}/v1/responses`, key),
      overSocket(`${running.url.replace('http', 'ws')}/v1/responses`, key),
      (async () => {
        const socket = await connectWithKey(running, key)
        socket.send({ type: 'chat', content: 'Hello' })
        let frame = await socket.next()
        while (frame.type === 'chat_delta' || frame.type === 'delta') frame = await socket.next()
        socket.ws.close()
        await socket.closed
      })(),
    ]
    for (let rounds = 0; rounds < 2; rounds++) await Promise.all(keys.flatMap(round))
    const billed = () => upstream.received.filter(({ path }) => path.endsWith('/chat/completions')).length * MICROS
    await running.gateway.calls.flush()
    const counted = async () => {
      const { items } = await running.gateway.keys.list({ limit: 1000 })
      const sum = items
        .filter(({ id }) => keys.some((one) => one.id === id))
        .reduce((all, { spend }) => all + spend.day_usd, 0)
      return Math.round(sum * 1e6)
    }
    await until(async () => (await counted()) === billed())
    assert.ok(billed() <= usd * 1e6 && billed() >= 5 * MICROS, `${billed()}`)
  })

  it('pays once for an Idempotency-Key, or refuses it clearly, whatever the door and the body', async () => {
    upstream.on('/chat/completions', answers)
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    const other = { ...CHAT, max_tokens: 50 }
    const seen: string[] = []
    for (const [url, path, body] of [
      [running.gatewayUrl, '/v1/chat/completions', CHAT],
      [running.gatewayUrl, '/v1/chat/completions', CHAT],
      [running.url, '/v1/chat/completions', CHAT],
      [running.gatewayUrl, '/v1/chat/completions', other],
      [running.url, '/v1/chat/completions', other],
      [running.gatewayUrl, '/v1/messages', CHAT],
      [running.url, '/v1/messages', CHAT],
    ] as const) {
      const reply = await post(url + path, body, key, { 'idempotency-key': 'once' })
      const text = await reply.text()
      seen.push(`${reply.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? reply.headers.get('idempotent-replayed')}`)
    }
    // Messages has errors of another form: its own words say what was wrong.
    const [reused, kept] = ['422 idempotency_key_reused', '200 true']
    assert.deepEqual(seen, ['200 null', kept, kept, reused, reused, '422 null', '422 null'])
    const { items } = await running.gateway.wallet.usage({ caller_id: id, limit: 10 })
    assert.deepEqual(
      items.map(({ billing }) => billing.total_usd),
      [MICROS / 1e6],
    )
    assert.equal(upstream.received.length, 1)
  })

  it('is not asked for counts of prompts, which are never charged, and never pass for an answer', async () => {
    const limits = { credit_limit_usd: 0, budgets: [{ usd: 0.001, per: 'day' as const }] }
    const { key, id } = await newKey({ billing: 'cost', limits })
    const asked = { model: 'claude-x', messages: CHAT.messages, max_tokens: 500, stream: true }
    const count = { input_tokens: 77, usage: { input_tokens: 77, output_tokens: 0 } }
    const replies: Array<[Behaviour, number, RegExp]> = [
      [json(200, count), 200, /"input_tokens":77/],
      [json(200, message('A free answer.')), 502, /does not count a prompt, but answers it/],
      [sse(messageStream(['A free answer.'])), 502, /does not count a prompt, but answers it/],
    ]
    for (const url of [running.gatewayUrl, running.url])
      for (const [reply, status, says] of replies) {
        upstream.on('/messages/count_tokens', reply)
        const got = await post(`${url}/v1/messages/count_tokens`, asked, key)
        const text = await got.text()
        assert.equal(got.status, status, text)
        assert.match(text, says)
        assert.doesNotMatch(text, /free answer/)
      }
    assert.deepEqual((await running.gateway.wallet.usage({ caller_id: id, limit: 10 })).items, [])
  })

  it('that does not reach names the field of the caller’s own API that limits an answer', async () => {
    const { key } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.0001 } })
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
    const { messages } = CHAT
    const asked: Array<[path: string, body: object, advice: string]> = [
      ['/v1/responses', { model: 'm', input: 'Hello', max_output_tokens: 9000 }, 'lower max_output_tokens'],
      ['/v1/responses', { model: 'm', input: 'Hello' }, 'lower max_output_tokens'],
      ['/v1/chat/completions', { model: 'm', messages, max_completion_tokens: 9000 }, 'lower max_completion_tokens'],
      ['/v1/chat/completions', { model: 'm', messages }, 'lower max_tokens'],
      ['/v1/messages', { model: 'claude-x', messages, max_tokens: 9000 }, 'lower max_tokens'],
      ['/v1beta/models/m:generateContent', { contents }, 'lower maxOutputTokens'],
      ['/v1/embeddings', { model: 'm', input: 'Hello '.repeat(2000) }, 'ask for less'],
    ]
    for (const url of [running.gatewayUrl, running.url])
      for (const [path, body, advice] of asked) {
        const reply = await post(url + path, body, key)
        const text = await reply.text()
        assert.equal(reply.status, 402, text)
        assert.ok(text.includes(`Deposit funds, ${advice}, or`), `${path}: ${text}`)
      }
    const socket = new WebSocket(`${running.gatewayUrl.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hello' }))
    const [told] = await once(socket, 'message')
    assert.match(String(told), /"status":402.*lower max_output_tokens/)
    socket.terminate()
  })
})
