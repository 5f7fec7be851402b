import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type * as z from 'zod'
import { MODEL_ENDPOINTS } from '../../adapters/http/endpoints.ts'
import type { pageOf } from '../../adapters/platform/list-page.ts'
import type { NewKey } from '../../src/identity/keys.ts'
import { asksModel, VERBATIM_PATHS } from '../../src/inference/api/verbatim-paths.ts'
import { textOf } from '../../src/inference/observe/generated-text.ts'
import type { Burn } from '../../src/wallet/burn/burn.ts'
import { until } from '../doubles/until.ts'
import {
  type Behaviour,
  chunks,
  completion,
  json,
  response,
  responseEvents,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey } from './socket-client.ts'

const CHAT = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 }

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  const free = { input: 0, output: 0 }
  running = await startPlatform(upstream.url, {
    document: { pricing: { models: { 'free-test': free } }, wallet: { wait_ms: 0 } },
  })
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
    const { available_usd, held_usd } = await running.gateway.wallet.balances(id)
    assert.deepEqual([available_usd, held_usd], [-0.080045, 0], 'nothing stays set aside once no call is made')
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

  for (const billing of ['cost', 'recorded'] as const)
    it(`costs the margin too as a metered call, of a key with the billing ${billing}`, async () => {
      const { key, id } = await newKey({ billing })
      const body = { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt: 'Hello', max_tokens: 20 }
      assert.equal((await post(`${running.url}/api/wallet/metered/call`, body, key)).status, 200)
      assert.deepEqual(
        (await receiptsOf(id)).map((receipt) => receipt.billing.margin_usd),
        [0.08],
      )
    })

  it('sends the cost of a stream in a last comment, once the charge is durable', async () => {
    const { key, id } = await newKey({})
    upstream.on('/chat/completions', sse(chunks(['Hello', ' back'])))
    const text = await (await chat(key, { stream: true })).text()
    const [receipt] = await receiptsOf(id)
    assert.match(text, /data: \[DONE\]\n\n: x-gazeway-call-id=call_[0-9a-f]+ x-gazeway-cost-usd=0\.080045\n\n$/)
    assert.equal(receipt?.billing.total_usd, 0.080045)
  })

  it('costs its prompt where the model says nothing, and no usage is reported', async () => {
    const { key, id } = await newKey({ billing: 'cost' })
    const messages = [{ role: 'user', content: 'word '.repeat(2000) }]
    upstream.on('/chat/completions', sse([{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]))
    await (await chat(key, { messages, stream: true })).text()
    const total = (await receiptsOf(id))[0]?.billing.total_usd ?? 0
    assert.ok(total > 0.005, `${total}`)
  })

  it('costs the text sent before its client disconnects, not the usage reported at the start', async () => {
    const { key, id } = await newKey({ billing: 'cost' })
    const [first, ...words] = chunks(Array(100).fill('word '), null).slice(0, -1)
    const usage = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }
    let breakOff = () => {}
    upstream.on('/chat/completions', async (response, request) => {
      breakOff = () => response.socket?.destroy()
      await sse([{ ...first, usage }, ...words], 'hang')(response, request)
    })
    const reader = (await chat(key, { stream: true })).body?.getReader()
    let read = ''
    while (read.split('word').length <= 100) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      assert.equal(done, false, `The answer ended early: ${read}`)
      read += Buffer.from(value ?? []).toString()
    }
    await reader?.cancel()
    breakOff()
    await until(async () => (await receiptsOf(id)).length === 1)
    const [receipt] = await receiptsOf(id)
    assert.ok((receipt?.billing.total_usd ?? 0) >= 0.0003, `${receipt?.billing.total_usd} USD for 100 words`)
  })

  it('is answered where it costs nothing', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    for (const stream of [false, true]) {
      if (stream) upstream.on('/chat/completions', sse(chunks(['Hello', ' back'])))
      const reply = await chat(key, { model: 'free-test', stream })
      const text = await reply.text()
      assert.deepEqual([reply.status, text.includes('error')], [200, false], text)
    }
    assert.deepEqual(
      (await receiptsOf(id)).map(({ billing }) => billing.total_usd),
      [0, 0],
    )
    assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
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

  it('has a stream cut off where its budget does not reach for more, and pays what was delivered', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.03 } })
    const many = Array.from({ length: 4000 }, () => 'word and word and more of it ')
    upstream.on('/chat/completions', sse(chunks(many, null)))
    const text = await (await chat(key, { stream: true, max_tokens: undefined })).text()
    assert.ok(text.includes('budget_reached'), text.slice(-500))
    const [receipt] = await receiptsOf(id)
    assert.ok((receipt?.billing.total_usd ?? 0) > 0.02, `${receipt?.billing.total_usd}`)
    // What was reserved is a quarter more than its tokens, in case the provider counts more of them.
    assert.ok((receipt?.billing.total_usd ?? 1) < 0.026, `${receipt?.billing.total_usd}`)
  })

  /** Cost of the words in 64 KiB of the shortest events below, in micro-dollars. */
  const ONE_READ = Math.ceil((64 * 1024) / 49) * 2 * 3
  const LONG = Array.from({ length: 10_000 }, (_, i) => ` word${i % 977}`)
  const finished = { type: 'response.completed', response: { status: 'completed', output: [], usage: null } }
  /** A long answer, all at once: as a stream, or as a whole reply to a request for a stream. */
  const AT_ONCE: [string, [string, Behaviour]][] = [
    ['chat', ['/chat/completions', atOnce(chunks(LONG, null))]],
    ['chat, whole', ['/chat/completions', json(200, { ...completion(LONG.join('')), usage: undefined })]],
    ['responses', ['/responses', atOnce([...responseEvents(LONG).slice(0, -1), finished])]],
    ['responses, whole', ['/responses', json(200, { ...response(LONG.join('')), usage: undefined })]],
    ['completions', ['/completions', atOnce(LONG.map((text) => ({ choices: [{ index: 0, text }] })))]],
    ['completions, whole', ['/completions', json(200, { choices: [{ index: 0, text: LONG.join('') }] })]],
  ]
  for (const billing of ['cost', 'recorded'] as const)
    for (const [name, [path, answer]] of AT_ONCE)
      it(`hands out no part of an answer that is not paid for, however it comes: ${name}, ${billing}`, async () => {
        upstream.on(path, answer)
        const body = { model: 'm', prompt: 'Hello', input: 'Hello', messages: CHAT.messages, stream: true }
        const limits = (usd: number) =>
          billing === 'cost' ? { credit_limit_usd: usd } : { budgets: [{ usd, per: 'day' as const }] }
        const ask = async (usd: number) => {
          const { key, id } = await newKey({ billing, limits: limits(usd) })
          const text = await (await post(`${running.gatewayUrl}/v1${path}`, body, key)).text()
          let micros = 0
          await until(async () => {
            await running.gateway.calls.flush()
            const { items } = await running.gateway.keys.list({ limit: 1000 })
            micros = (items.find((record) => record.id === id)?.spend.total_usd ?? 0) * 1e6
            return micros > 0
          })
          const said = text.startsWith('{') ? text : textOf(Buffer.from(text))
          const paid = billing === 'cost' ? ((await receiptsOf(id))[0]?.billing.total_usd ?? 0) : 0
          return { text, words: said.split('word').length - 1, micros, paid }
        }
        const poor = await ask(0.03)
        assert.ok(poor.text.includes('budget_reached'), poor.text.slice(-300))
        // 3 micro-dollars a token, and at least one token a word.
        // What was generated is billed by its provider, although the client does not get it: all of a whole answer, and
        // the part of a stream that was read when it was cut off. A charged key pays no more than its credit.
        const most = 30_000 + (name.includes('whole') ? 32_000 : ONE_READ)
        assert.ok(poor.words * 3 <= poor.micros && poor.micros <= most, `${poor.words} words for ${poor.micros}`)
        assert.ok(poor.paid <= 0.03, `${poor.paid} paid`)
        const rich = await ask(1)
        assert.ok(!rich.text.includes('budget_reached'), rich.text.slice(-300))
        assert.ok(rich.words >= LONG.length && rich.words * 3 <= rich.micros, `${rich.words} words for ${rich.micros}`)
      })
})

/** Sends all events of a stream in one piece. */
function atOnce(events: unknown[]): Behaviour {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return (reply) => void reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${text}data: [DONE]\n\n`)
}

describe('what is set aside cannot be evaded by how a request is written', () => {
  const sent = () => upstream.received.at(-1)?.body as Record<string, unknown>
  const limit = () => running.gateway.loaded.config.wallet.max_output_tokens

  it('with a limit of the answer that another endpoint takes', async () => {
    const { key } = await newKey({})
    await (await chat(key, { max_tokens: undefined, max_output_tokens: 1 })).text()
    assert.equal(sent().max_tokens, limit())
    await (await post(`${running.gatewayUrl}/v1/responses`, { model: 'm', input: 'Hello', max_tokens: 1 }, key)).text()
    assert.equal(sent().max_output_tokens, limit())
  })

  it('with counts that servers read differently', async () => {
    const held = await newKey({ billing: 'recorded', limits: { budgets: [{ usd: 1, per: 'day' }] } })
    for (const body of [{ max_tokens: -1 }, { max_tokens: 0 }, { n: '128' }, { n: 1.5 }, { best_of: [9] }]) {
      const refused = await chat(held.key, body)
      assert.deepEqual(
        [refused.status, (await errorOf(refused)).code],
        [422, 'validation_failed'],
        JSON.stringify(body),
      )
    }
    const free = await newKey({ billing: 'recorded' })
    assert.equal((await chat(free.key, { max_tokens: -1 })).status, 200)
  })

  it('with names in escapes, of what the provider reads more', async () => {
    const { key } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.05 } })
    const text = JSON.stringify({ model: 'm', input: 'Hello', previous_response_id: 'r', max_output_tokens: 10 })
    for (const body of [text, text.replace('previous', '\\u0070revious')]) {
      const reply = await fetch(`${running.gatewayUrl}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body,
      })
      assert.equal(reply.status, 402, body)
    }
  })

  it('with an answer in the background, which costs what was set aside', async () => {
    const { key, id } = await newKey({ billing: 'cost' })
    upstream.on('/responses', json(200, { ...response(''), status: 'queued', output: [], usage: null }))
    const body = { model: 'm', input: 'Work.', background: true, max_output_tokens: 100_000 }
    assert.equal((await post(`${running.gatewayUrl}/v1/responses`, body, key)).status, 200)
    const total = (await receiptsOf(id))[0]?.billing.total_usd ?? 0
    assert.ok(total >= 0.3, `${total}`)
    // It is asked for until it has ended. Other tests count what is asked.
    upstream.on(`/responses/${response('').id}`, json(200, { ...response(''), status: 'cancelled', usage: null }))
    await until(async () => upstream.received.some(({ path }) => path.includes('/responses/')))
  })
})

describe('200 streams at once on a budget for 50', () => {
  it('are answered 50 times, and nothing stays set aside', async () => {
    const { pricing } = running.gateway.loaded.config
    const body = { ...CHAT, max_tokens: 1000, stream: true }
    const each = (Buffer.byteLength(JSON.stringify(body)) + 256 + 1000) * pricing.price_per_1k_tokens_usd * 1e3
    const { key, id } = await newKey({
      billing: 'recorded',
      limits: { budgets: [{ usd: Number(((50 * each) / 1e6).toFixed(6)), per: 'day' }] },
    })
    let asked = 0
    let goOn = () => {}
    const all = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.on('/chat/completions', async (reply, request) => {
      asked += 1
      await all
      await sse(chunks(['Hello']))(reply, request)
    })
    const replies = Array.from({ length: 200 }, () => chat(key, body))
    let refused = 0
    for (const reply of replies)
      reply.then(({ status }) => {
        if (status === 402) refused += 1
      })
    await until(async () => refused === 150)
    assert.equal(asked, 50)
    goOn()
    const statuses = await Promise.all(
      replies.map(async (reply) => {
        const { status } = await reply
        await (await reply).text()
        return status
      }),
    )
    assert.equal(statuses.filter((status) => status === 200).length, 50)
    const left = () => running.gateway.store.db.selectFrom('allowances').select('id').where('key_id', '=', id).execute()
    await until(async () => (await left()).length === 0)
    const [row] = (await running.gateway.keys.list({ limit: 1000 })).items.filter((record) => record.id === id)
    assert.equal(row?.spend.day_usd, (50 * 45) / 1e6)
  })
})

const CONTENTS = { contents: [{ parts: [{ text: 'Hello' }] }] }

/** Each way to a model by its route, as the OpenAPI document names it where it is the platform's. */
const WAYS: Record<string, (key: string) => Promise<number>> = {
  'gateway POST /v1/chat/completions': async (key) => (await chat(key)).status,
  'gateway POST /v1/chat/completions, streamed': async (key) => (await chat(key, { stream: true })).status,
  'gateway POST /v1/responses': async (key) =>
    (await post(`${running.gatewayUrl}/v1/responses`, { model: 'm', input: 'Hello' }, key)).status,
  'gateway POST /v1/responses, streamed': async (key) =>
    (await post(`${running.gatewayUrl}/v1/responses`, { model: 'm', input: 'Hello', stream: true }, key)).status,
  'gateway POST /v1/messages': async (key) => (await post(`${running.gatewayUrl}/v1/messages`, CHAT, key)).status,
  'gateway POST /v1/messages, streamed': async (key) =>
    (await post(`${running.gatewayUrl}/v1/messages`, { ...CHAT, stream: true }, key)).status,
  'gateway POST /v1beta/models/{model}': async (key) =>
    (await post(`${running.gatewayUrl}/v1beta/models/m:generateContent`, CONTENTS, key)).status,
  'gateway POST /v1beta/models/{model}, streamed': async (key) =>
    (await post(`${running.gatewayUrl}/v1beta/models/m:streamGenerateContent?alt=sse`, CONTENTS, key)).status,
  'gateway POST /v1/chat/completions, under an Idempotency-Key': async (key) => {
    const once = { 'idempotency-key': 'once' }
    const statuses = []
    for (let i = 0; i < 2; i++)
      statuses.push((await post(`${running.gatewayUrl}/v1/chat/completions`, CHAT, key, once)).status)
    return Math.min(...statuses)
  },
  'POST /v1/{path}': async (key) => (await post(`${running.url}/v1/chat/completions`, CHAT, key)).status,
  'POST /v1/{path}, streamed': async (key) =>
    (await post(`${running.url}/v1/chat/completions`, { ...CHAT, stream: true }, key)).status,
  'POST /v1/{path}, a response': async (key) =>
    (await post(`${running.url}/v1/responses`, { model: 'm', input: 'Hello' }, key)).status,
  'POST /v1/{path}, a message': async (key) => (await post(`${running.url}/v1/messages`, CHAT, key)).status,
  'POST /api/wallet/metered/call': async (key) =>
    (
      await post(
        `${running.url}/api/wallet/metered/call`,
        { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt: 'Hello' },
        key,
      )
    ).status,
  'POST /api/sessions/{id}/chat': async (key) =>
    (await post(`${running.url}/api/sessions/${await newSession(key)}/chat`, { message: 'Hello' }, key)).status,
  'POST /api/sessions/{id}/chat/stream': async (key) => {
    const path = `/api/sessions/${await newSession(key)}/chat/stream`
    const text = await (await post(`${running.url}${path}`, { message: 'Hello' }, key)).text()
    return text.includes('insufficient_credit') ? 402 : 0
  },
  'POST /api/tasks/swarm': async (key) =>
    (await post(`${running.url}/api/tasks/swarm`, { goal: 'Do much', dry_run: true }, key)).status,
  'POST /api/gaze/analyze': async (key) => {
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
  'socket chat': async (key) => {
    const socket = await connectWithKey(running, key)
    socket.send({ type: 'chat', content: 'Hello' })
    const frame = await socket.next()
    socket.ws.close()
    await socket.closed
    return frame.code === 'insufficient_credit' ? 402 : 0
  },
  'socket /v1/responses': async (key) => {
    const url = `${running.url.replace('http', 'ws')}/v1/responses`
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hello' }))
    const [first] = await once(socket, 'message')
    socket.terminate()
    return JSON.parse(String(first)).status ?? 200
  },
}
const newSession = async (key: string) => {
  const reply = await post(`${running.url}/api/sessions`, {}, key)
  return ((await reply.json()) as { id: string }).id
}

/** Routes with a request body that ask no model for whoever could be charged. A new route is put here, or among the ways. */
const ASK_NO_MODEL = [
  ...[
    'POST /api/keys',
    'PATCH /api/keys/{id}',
    'POST /api/keys/{id}/rotate',
    'POST /api/groups',
    'PATCH /api/groups/{id}',
    'POST /api/keys/{id}/forgive',
    'POST /api/keys/{id}/release',
    'POST /api/groups/{id}/forgive',
    'POST /api/groups/{id}/release',
  ],
  ...['facts', 'stop', 'resume'].map((what) => `POST /api/coding-sessions/{id}/${what}`),
  ...['POST /api/connections', 'POST /api/wallet/metered/deposit', 'POST /api/wallet/withdraw', 'POST /api/tasks'],
  ...['POST /api/tasks/{id}/claim', 'POST /api/tasks/{id}/heartbeat', 'POST /api/tasks/{id}/complete'],
  ...['POST /api/wallet/escrow', 'POST /api/wallet/escrow/release', 'POST /api/wallet/escrow/{id}/refund'],
  ...[
    'POST /api/config',
    'PATCH /api/config',
    'POST /api/config/model',
    'POST /api/gaze/store',
    'POST /api/verify-session',
  ],
  ...[
    'POST /api/reviews',
    'POST /api/reviews/verify',
    'POST /api/reviews/{id}/evidence',
    'POST /api/reviews/{id}/decision',
  ],
  'POST /api/wallet/periods/{period}/close',
  ...['POST /api/memory', 'POST /api/memory/search', 'POST /api/sessions', 'PATCH /api/sessions/{id}'],
  // For admins alone, whom a call costs nothing.
  ...[
    'POST /api/upstreams/{name}/test',
    'POST /api/upstreams/{name}/try',
    'POST /api/candidates',
    'POST /api/callers/{id}/forget',
  ],
  // What asks a model there is a POST.
  ...['PUT /v1/{path}', 'PATCH /v1/{path}'],
]

/** Requests to the passed paths that call a model. */
const INPUTS: Record<string, object> = {
  '/embeddings': { input: 'Hello' },
  '/moderations': { input: 'Hello' },
  '/rerank': { query: 'Hello', documents: ['Hello'] },
  '/completions': { prompt: 'Hello', max_tokens: 10 },
  '/images/generations': { prompt: 'Hello' },
  '/audio/speech': { input: 'Hello', voice: 'x' },
  '/responses/compact': { input: 'Hello' },
}
const FORMS = ['/audio/transcriptions', '/audio/translations', '/audio/{name}']
async function askPassed(url: string, path: string, key: string): Promise<number> {
  const target = `${url}/v1${path.replace('{name}', 'isolations')}`
  if (!FORMS.includes(path)) return (await post(target, { model: 'm', ...INPUTS[path] }, key)).status
  const body = new FormData()
  body.set('model', 'm')
  body.set('file', new Blob(['sound']), 'a.wav')
  return (await fetch(target, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })).status
}
for (const { path } of VERBATIM_PATHS.filter(asksModel)) {
  WAYS[`gateway POST /v1${path}`] = (key) => askPassed(running.gatewayUrl, path, key)
  WAYS[`POST /v1/{path}, ${path}`] = (key) => askPassed(running.url, path, key)
}

/** Counts a prompt, and asks no model. */
const COSTS_NOTHING = '/v1/messages/count_tokens'

/** Files outside `src/inference` that call a model, with the path that each call takes. */
const ASKED_IN: Record<string, string> = {
  'adapters/http/http.ts': 'gateway POST /v1/chat/completions',
  'adapters/platform/proxy/live-proxy.ts': 'POST /v1/{path}',
  'adapters/platform/responses-door.ts': 'socket /v1/responses',
  'src/agent/agent.ts': 'socket chat',
  'src/gaze/gaze.ts': 'POST /api/gaze/analyze',
  'src/metering/ask-model.ts': 'POST /api/wallet/metered/call',
  'src/tasks/swarm-ask.ts': 'POST /api/tasks/swarm',
  // On stdio, where nobody has a key: the operator's own.
  'src/research/research.ts': 'stdio',
  'tools/chat-completion.ts': 'stdio',
  'tools/gateway.ts': 'stdio',
}
const ASKS = /\bupstream\s*\.(?:chat|respond|directCall|callAgentGateway|openCalls|openBy)\(|\bpassOn: \(/

describe('every way to a model', () => {
  it('is listed: each route that takes a body is a way, or asks none', async () => {
    const { paths } = (await (await fetch(`${running.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch'].includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    )
    const ways = Object.keys(WAYS).filter((way) => /^[A-Z]+ [^,]+$/.test(way))
    assert.deepEqual(routes.toSorted(), [...ASK_NO_MODEL, ...ways].toSorted())
    for (const path of Object.keys(MODEL_ENDPOINTS))
      assert.ok(path === COSTS_NOTHING || WAYS[`gateway POST ${path}`], path)
    for (const { path } of VERBATIM_PATHS.filter(asksModel)) assert.ok(path in INPUTS || FORMS.includes(path), path)
  })

  it('is listed: each file that asks a model belongs to one', () => {
    const asking = ['src', 'adapters', 'tools'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
        .filter((name) => name.endsWith('.ts') && !name.startsWith('src/inference/'))
        .filter((name) => ASKS.test(readFileSync(name, 'utf8'))),
    )
    assert.deepEqual(asking.toSorted(), Object.keys(ASKED_IN).toSorted())
    for (const way of Object.values(ASKED_IN)) assert.ok(way === 'stdio' || WAYS[way], way)
  })

  for (const [name, way] of Object.entries(WAYS)) {
    it(`refuses a key without credit before the upstream is asked: ${name}`, async () => {
      const { key } = await newKey({ billing: 'metered', limits: { credit_limit_usd: 0 } })
      const before = upstream.received.length
      assert.equal(await way(key), 402)
      await delay(20)
      assert.equal(upstream.received.length, before)
    })

    it(`asks it for a key with credit: ${name}`, async () => {
      const { key } = await newKey({ billing: 'metered' })
      const before = upstream.received.length
      await way(key)
      await until(async () => upstream.received.length > before)
    })
  }

  it('costs an admin nothing', async () => {
    const { key, id } = await newKey({ scopes: ['admin'], limits: { credit_limit_usd: 0 } })
    const before = upstream.received.length
    for (const [name, way] of Object.entries(WAYS))
      if (name !== 'POST /api/wallet/metered/call') assert.notEqual(await way(key), 402, name)
    assert.ok(upstream.received.length >= before + Object.keys(WAYS).length - 2)
    assert.deepEqual(await receiptsOf(id), [])
  })

  it('costs nothing and is not refused where it only lists models', async () => {
    const { key, id } = await newKey({ billing: 'metered', limits: { credit_limit_usd: 0 } })
    upstream.on('/models', json(200, { object: 'list', data: [{ id: 'gpt-test', object: 'model' }] }))
    const headers = { authorization: `Bearer ${key}` }
    for (const url of [
      `${running.gatewayUrl}/v1/models`,
      `${running.url}/v1/models`,
      `${running.url}/api/available-models`,
    ])
      assert.equal((await fetch(url, { headers })).status, 200, url)
    assert.deepEqual(await receiptsOf(id), [])
  })

  it('charges an answer under an Idempotency-Key once, however often it is repeated', async () => {
    const { key, id } = await newKey({ billing: 'metered', limits: { credit_limit_usd: 0.1 } })
    const before = upstream.received.length
    for (let i = 0; i < 3; i++) {
      const reply = await post(`${running.gatewayUrl}/v1/chat/completions`, CHAT, key, { 'idempotency-key': 'again' })
      assert.deepEqual([reply.status, reply.headers.get('idempotent-replayed')], [200, i === 0 ? null : 'true'])
    }
    assert.equal(upstream.received.length, before + 1)
    assert.equal((await receiptsOf(id)).length, 1)
  })
})
