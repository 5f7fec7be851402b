import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { until } from '../doubles/until.ts'
import { type Behaviour, chunks, completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

/** US dollars per million tokens: a token costs a micro-dollar, or ten. */
const PRICES = { input: 1, output: 10 }
const READ_ON_MS = 1000
const BUDGET: Partial<z.input<typeof NewKey>> = {
  billing: 'recorded',
  limits: { budgets: [{ usd: 1, per: 'month' }] },
}

let server: UpstreamDouble
let running: RunningPlatform
before(async () => {
  server = await startUpstream()
  const at = { base_url: server.url, api_keys: ['upstream-secret-key'] }
  running = await startPlatform(server.url, {
    document: {
      wallet: { read_on_ms: READ_ON_MS, absorbed_usd_per_day: 0.001 },
      pricing: { models: { any: PRICES, 'stops-any': PRICES, 'router-any': PRICES, 'claude-any': PRICES } },
      upstreams: {
        stops: { provider: 'openai', models: ['stops-*'], ...at },
        router: { provider: 'openrouter', models: ['router-*'], ...at },
        claude: { provider: 'anthropic', models: ['claude-*'], ...at },
      },
    },
  })
})
beforeEach(() => {
  server.received.length = 0
})
after(async () => {
  await running.close()
  await server.close()
})

/** Events of a stream up to its last visible word. The rest of the stream comes when `rest` is called. */
function stopsBeforeUsage(events: unknown[], headers: Record<string, string> = {}) {
  let open: ((end: string) => void)[] = []
  const behaviour: Behaviour = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
    open.push((end) => response.end(end))
  }
  return {
    behaviour,
    rest(last: unknown[]) {
      for (const end of open)
        end([...last.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'].join(''))
      open = []
    },
  }
}

async function newKey(input: Partial<z.input<typeof NewKey>>) {
  const { key, record } = await running.gateway.keys.create({ name: 'thief', scopes: ['inference'], ...input })
  return { key, id: record.id }
}
/** Asks, reads until `word` has come, and leaves. */
async function askAndLeave(key: string, body: object, word: string | null, path = '/v1/chat/completions') {
  const client = new AbortController()
  const asked = server.received.length
  const reply = fetch(running.gatewayUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1000, stream: true, ...body }),
    signal: client.signal,
  })
  if (word === null) await until(() => server.received.length > asked)
  else {
    const reader = (await reply).body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes(word)) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      assert.equal(done, false, `The answer ended before ${word}: ${text}`)
      text += value
    }
  }
  client.abort()
  await reply.catch(() => {})
}
async function spent(id: string): Promise<number> {
  await running.gateway.calls.flush()
  const keys = await running.gateway.keys.list({ limit: 1000 })
  return Math.round((keys.items.find((key) => key.id === id)?.spend.month_usd ?? 0) * 1e6)
}
const recordsOf = async (id: string) => (await running.gateway.calls.history({ limit: 100, caller_id: id })).items
const [role, word, finish] = chunks(['Hello'], null) as [object, object, object]
const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  ...role,
  choices: [],
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
})

describe('leaving an answer early', () => {
  it('costs all that was generated, time after time, where closing does not stop the bill', async () => {
    const { key, id } = await newKey(BUDGET)
    const stream = stopsBeforeUsage([role, word])
    server.on('/chat/completions', stream.behaviour)
    for (let time = 0; time < 5; time++) await askAndLeave(key, { model: 'any' }, 'Hello')
    stream.rest([finish, usageOf(10, 900)])
    await until(async () => (await recordsOf(id)).length === 5)
    assert.equal(await spent(id), 5 * (10 + 9000))
    assert.ok((await recordsOf(id)).some(({ status }) => status === 'aborted'))
  })

  it('costs a whole answer that nobody waited for', async () => {
    const { key, id } = await newKey(BUDGET)
    let answer = () => {}
    server.on('/chat/completions', async (response, request) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      json(200, completion('Hi', { prompt_tokens: 10, completion_tokens: 700, total_tokens: 710 }))(response, request)
    })
    await askAndLeave(key, { model: 'any', stream: false }, null)
    answer()
    await until(async () => (await recordsOf(id)).length === 1)
    assert.equal(await spent(id), 10 + 7000)
  })

  it('costs nothing of a request that the provider refuses, and is not sent in another form', async () => {
    const { key, id } = await newKey(BUDGET)
    let refuse = () => {}
    server.on('/chat/completions', async (response, request) => {
      await new Promise<void>((resolve) => {
        refuse = resolve
      })
      json(400, { error: { message: "Unsupported parameter: 'top_k'", param: 'top_k' } })(response, request)
    })
    await askAndLeave(key, { model: 'any', top_k: 5 }, null)
    // By the end of another request the gateway knows that the client has left.
    await fetch(`${running.gatewayUrl}/health`)
    refuse()
    await until(async () => (await recordsOf(id)).length === 1)
    const [record] = await recordsOf(id)
    assert.deepEqual([record?.status, record?.http_status, record?.upstream_cost_usd], ['aborted', 400, 0])
    assert.deepEqual([await spent(id), server.received.length], [0, 1])
  })

  it('costs the whole reservation of an answer in the background whose reply nobody waited for', async () => {
    const { key, id } = await newKey(BUDGET)
    server.on('/responses', () => {})
    await askAndLeave(
      key,
      { model: 'stops-any', input: 'Hello', max_output_tokens: 1000, background: true, stream: false },
      null,
      '/v1/responses',
    )
    await until(async () => (await recordsOf(id)).length === 1)
    assert.ok((await spent(id)) >= 10 * 1000, `${await spent(id)}`)
  })

  it('waits for the usage, then ends the upstream and counts the time of hidden reasoning', async () => {
    const { key, id } = await newKey(BUDGET)
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(role)}\n\n`)
    })
    await askAndLeave(key, { model: 'stops-any' }, null)
    await server.received[0]?.aborted
    const [record] = await until(async () => {
      const records = await recordsOf(id)
      return records.length === 1 && records
    })
    assert.equal(record?.usage?.estimated, true)
    assert.ok((record?.usage?.completion_tokens ?? 0) > 0.03 * READ_ON_MS, JSON.stringify(record?.usage))
    assert.equal(await spent(id), Math.round((record?.upstream_cost_usd ?? 0) * 1e6))
    assert.ok((await spent(id)) <= 10_000 + 500, 'never above the reservation')
  })

  it('counts the time of reasoning of which only a summary is shown', async () => {
    const thinking = (text: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: text },
    })
    const usage = { input_tokens: 10, output_tokens: 1 }
    const begun = {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage },
    }
    const summary = (type: string, more: object) => ({ type: `response.${type}`, ...more })
    const SUMMARIES: Array<[model: string, path: string, events: object[]]> = [
      ['claude-any', '/messages', [begun, thinking('A'), thinking(' plan')]],
      [
        'stops-any',
        '/responses',
        [
          summary('created', { response: { id: 'resp_1', status: 'in_progress' } }),
          summary('reasoning_summary_text.delta', { item_id: 'rs_1', output_index: 0, delta: 'A' }),
          summary('reasoning_summary_text.delta', { item_id: 'rs_1', output_index: 0, delta: ' plan' }),
        ],
      ],
    ]
    for (const [model, path, events] of SUMMARIES) {
      const { key, id } = await newKey(BUDGET)
      server.on(path, stopsBeforeUsage(events).behaviour)
      await askAndLeave(key, { model, input: 'Hello' }, ' plan', `/v1${path}`)
      await until(async () => (await recordsOf(id)).length === 1)
      const [record] = await recordsOf(id)
      assert.ok((record?.usage?.completion_tokens ?? 0) > 0.03 * READ_ON_MS, JSON.stringify(record?.usage))
    }
  })

  it('takes the usage that comes within the time, where closing stops the bill', async () => {
    const { key, id } = await newKey(BUDGET)
    const stream = stopsBeforeUsage([role, word])
    server.on('/chat/completions', stream.behaviour)
    await askAndLeave(key, { model: 'stops-any' }, 'Hello')
    stream.rest([finish, usageOf(10, 800)])
    await until(async () => (await recordsOf(id)).length === 1)
    assert.equal(await spent(id), 10 + 8000)
  })

  it('asks OpenRouter what the answer has cost', async () => {
    const { key, id } = await newKey(BUDGET)
    server.on('/chat/completions', stopsBeforeUsage([role, word], { 'x-generation-id': 'gen-1' }).behaviour)
    const generation = { total_cost: 0.0083, native_tokens_prompt: 10, native_tokens_completion: 600 }
    server.on('/generation', json(404, { error: { message: 'not yet' } }), json(200, { data: generation }))
    await askAndLeave(key, { model: 'router-any' }, 'Hello')
    await server.received[0]?.aborted
    await until(async () => (await recordsOf(id)).length === 1)
    assert.equal(await spent(id), 8300)
    assert.ok(server.received.some(({ path }) => path.endsWith('/generation?id=gen-1')))
  })

  it('takes the prompt of a message from its beginning', async () => {
    const { key, id } = await newKey(BUDGET)
    const usage = { input_tokens: 20_000, output_tokens: 1 }
    const events = [
      { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    ]
    server.on('/messages', stopsBeforeUsage(events).behaviour)
    await askAndLeave(key, { model: 'claude-any' }, 'Hello', '/v1/messages')
    await server.received[0]?.aborted
    await until(async () => (await recordsOf(id)).length === 1)
    const [record] = await recordsOf(id)
    assert.equal(record?.usage?.prompt_tokens, 20_000)
  })

  it('charges customers what they received, and counts estimates in their budgets alone', async () => {
    const limits = { ...BUDGET.limits, credit_limit_usd: 1 }
    const { key, id } = await newKey({ billing: 'cost', limits })
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(role)}\n\n`)
    })
    await askAndLeave(key, { model: 'stops-any' }, null)
    await until(async () => (await recordsOf(id)).length === 1)
    assert.ok((await spent(id)) > 0)
    await until(async () => (await running.gateway.wallet.balances(id)).available_usd === 0)
  })

  it('is borne by the operator up to a bound a day, beyond which a charged key may ask no model', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(role)}\n\n`)
    })
    await askAndLeave(key, { model: 'stops-any' }, null)
    await until(async () => (await spent(id)) > 0)
    await until(async () => (await recordsOf(id)).length === 1)
    for (const model of ['stops-any', 'any']) {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10 })
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      const refused = await fetch(`${running.gatewayUrl}/v1/chat/completions`, { method: 'POST', headers, body })
      const { error } = (await refused.json()) as { error: { code: string; message: string } }
      assert.deepEqual([refused.status, error.code], [403, 'limit_not_kept'])
      assert.match(error.message, /left before their end.*wallet\.absorbed_usd_per_day/)
    }
  })

  it('ends the upstream at once for a key without limits', async () => {
    const [limited, free] = await Promise.all([newKey(BUDGET), newKey({ billing: 'recorded' })])
    server.on('/chat/completions', stopsBeforeUsage([role, word]).behaviour)
    const ask = (content: string, key: string) =>
      askAndLeave(key, { model: 'stops-any', messages: [{ role: 'user', content }] }, 'Hello')
    await Promise.all([ask('limited', limited.key), ask('free', free.key)])
    const ended: string[] = []
    await Promise.all(
      server.received.map(async ({ aborted, text }) => {
        await aborted
        ended.push(text.includes('limited') ? 'limited' : 'free')
      }),
    )
    assert.deepEqual(ended, ['free', 'limited'])
  })

  it('costs nothing when the client of a key without limits goes away before a word, and ends the upstream at once', async () => {
    const { key, id } = await newKey({ billing: 'recorded' })
    for (const stream of [false, true]) {
      server.received.length = 0
      server.on('/chat/completions', () => {})
      await askAndLeave(key, { model: 'any', stream }, null)
      // It never answers: only the end of its connection lets this go on.
      await server.received[0]?.aborted
    }
    const records = await until(async () => {
      const all = await recordsOf(id)
      return all.length === 2 && all
    })
    for (const record of records)
      assert.deepEqual([record.status, record.usage, record.upstream_cost_usd], ['aborted', null, 0])
    assert.equal(await spent(id), 0)
  })

  it('reads 64 answers to their end, and reserves the others whole', async () => {
    const { key, id } = await newKey({ ...BUDGET, limits: { budgets: [{ usd: 100, per: 'month' }] } })
    const stream = stopsBeforeUsage([role, word])
    server.on('/chat/completions', stream.behaviour)
    await Promise.all(Array.from({ length: 65 }, () => askAndLeave(key, { model: 'any' }, 'Hello')))
    await until(async () => (await recordsOf(id)).length === 1)
    const whole = await spent(id)
    assert.ok(whole >= 10_000, `${whole}`)
    stream.rest([finish, usageOf(10, 900)])
    await until(async () => (await recordsOf(id)).length === 65)
    assert.equal(await spent(id), whole + 64 * (10 + 9000))
  })
})
