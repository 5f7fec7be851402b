import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { until } from '../doubles/until.ts'
import { chunks, completion, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = '/chat/completions'
const MESSAGES = '/messages'
const GROK = 'router/x-ai/grok-4.3'
const OPUS = 'claude/claude-opus-5-5'
const BUDGET: Partial<z.input<typeof NewKey>> = { limits: { budgets: [{ usd: 5, per: 'day' }] } }
const BY_PIECE = {
  painter: { input: 0, output: 0, units: { image: 0.04 } },
  artist: { input: 1, output: 1, units: { image: 0.04 } },
  scribe: { input: 0, output: 0, units: { audio_second: 0.0001 } },
}
/** Too small for any call: the refusal then says what the call may cost. */
const TINY: Partial<z.input<typeof NewKey>> = { limits: { budgets: [{ usd: 0.000001, per: 'day' }] } }

let upstream: UpstreamDouble
let running: RunningGateway

before(async () => {
  upstream = await startUpstream()
  const at = (provider: string, more: object = {}) => ({ provider, base_url: upstream.url, api_keys: ['key'], ...more })
  running = await startGateway(
    upstream.url,
    {},
    {
      alerts: { webhook_url: 'http://127.0.0.1:9/', webhook_secret: `whsec_${'A'.repeat(32)}` },
      pricing: {
        unknown: null,
        models: { plain: { input: 1, output: 1 }, 'x-ai/dear': { input: 50, output: 100 }, ...BY_PIECE },
      },
      upstreams: {
        router: at('openrouter'),
        claude: at('anthropic'),
        american: at('anthropic', { project_region: 'us' }),
        gpt: at('openai'),
        gem: at('gemini'),
        groq: at('groq'),
        fast: at('openai', { project_tier: 'priority' }),
      },
    },
  )
})
after(async () => {
  await running.close()
  await upstream.close()
})
beforeEach(() => {
  upstream.received.length = 0
  upstream.on(
    CHAT,
    json(200, completion('Hello.', { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 })),
  )
  upstream.on(
    '/completions',
    json(200, { choices: [{ text: 'Hello.' }], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  )
  upstream.on('/embeddings', json(200, { usage: { prompt_tokens: 1000 } }))
  upstream.on(MESSAGES, json(200, message({ input_tokens: 1000, output_tokens: 100 })))
})

const message = (usage: object, model = 'claude-opus-5-5') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage,
})

const INPUTS: Readonly<Record<string, object>> = {
  [CHAT]: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1000 },
  [MESSAGES]: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1000 },
  '/responses': { input: 'Hello', max_output_tokens: 1000 },
  '/completions': { prompt: 'Hello', max_tokens: 1000 },
  '/embeddings': { input: 'Hello' },
  '/images/generations': { prompt: 'A cat' },
}

async function ask(key: Partial<z.input<typeof NewKey>>, model: string, fields: object, path = CHAT) {
  const { gateway, url } = running
  const { key: secret, record } = await gateway.keys.create({ name: 'caller', scopes: ['inference'], ...key })
  const reply = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model, ...INPUTS[path], ...fields }),
  })
  await reply.text()
  await gateway.calls.flush()
  const { items } = await gateway.calls.history({ caller_id: record.id, limit: 1, offset: 0 })
  const [code = '', message = ''] = items[0]?.error?.split(/: (.*)/s) ?? []
  return { status: reply.status, code, message, record: items[0] }
}
const sent = () => upstream.received.filter(({ method }) => method === 'POST')
/** The preferences in the first request. */
const providerSent = () => (sent().map(({ body }) => body)[0] as { provider?: object }).provider

/** Most that a call may cost, in USD, as its refusal says. */
async function bound(model: string, fields: object, path = CHAT): Promise<number> {
  const { message: refusal } = await ask(TINY, model, fields, path)
  const cost = /This may cost ([\d.]+) USD/.exec(refusal)?.[1]
  assert.ok(cost, refusal)
  return Number(cost)
}

describe('a model that a field of the request names', () => {
  const key = { models: ['router/x-ai/grok-4.3', 'claude/claude-opus-5-5'] }
  const naming: ReadonlyArray<readonly [model: string, path: string, of: (id: string) => object]> = [
    [GROK, CHAT, (id) => ({ models: ['x-ai/grok-4.3', id] })],
    [GROK, CHAT, (id) => ({ plugins: [{ id: 'fusion', model: 'x-ai/grok-4.3', analysis_models: [id] }] })],
    [GROK, CHAT, (id) => ({ tools: [{ type: 'openrouter:advisor', parameters: { model: id } }] })],
    [GROK, CHAT, (id) => ({ tools: [{ type: 'openrouter:image_generation', parameters: { model: id } }] })],
    [GROK, '/completions', (id) => ({ models: [id] })],
    [OPUS, MESSAGES, (id) => ({ fallbacks: [{ model: id }] })],
    [OPUS, MESSAGES, (id) => ({ tools: [{ type: 'advisor_20260301', name: 'advisor', model: id }] })],
  ]

  it('is refused where the key may not use it, and nothing is sent', async () => {
    for (const [model, path, of] of naming) {
      const { status, code } = await ask(key, model, of('openai/dear'), path)
      assert.deepEqual([status, code], [403, 'model_not_allowed'], JSON.stringify(of('openai/dear')))
    }
    assert.equal(sent().length, 0)
  })

  it('passes where the key may', async () => {
    for (const [model, path, of] of naming) {
      const id = model === GROK ? 'x-ai/grok-4.3' : 'claude-opus-5-5'
      assert.equal((await ask(key, model, of(id), path)).status, 200, JSON.stringify(of(id)))
    }
  })

  it('must have a price for a key with a budget, and is reserved at its own', async () => {
    for (const [model, path, of] of naming)
      assert.equal((await ask(BUDGET, model, of('x-ai/invented'), path)).code, 'model_not_priced')
    const alone = await bound(GROK, {})
    assert.ok((await bound(GROK, { models: ['x-ai/dear'] })) > 30 * alone, 'in place of the requested one')
    const beside = { plugins: [{ id: 'fusion', model: 'x-ai/dear' }] }
    assert.ok((await bound(GROK, beside)) > 30 * alone, 'beside it')
  })

  it('must be named where the provider would choose it', async () => {
    for (const [model, path, fields] of [
      [GROK, CHAT, { plugins: [{ id: 'fusion' }] }],
      [GROK, CHAT, { tools: [{ type: 'openrouter:subagent' }] }],
      [GROK, CHAT, { preset: 'mine' }],
      [`${GROK}@preset/mine`, CHAT, {}],
      [OPUS, MESSAGES, { fallbacks: 'default' }],
    ] as const) {
      const { status, code } = await ask(BUDGET, model, fields, path)
      assert.deepEqual([status, code], [400, 'field_not_allowed'], JSON.stringify(fields))
    }
    assert.equal(sent().length, 0)
  })
})

describe('a member that is not known in a listed field', () => {
  const unknown: ReadonlyArray<readonly [model: string, path: string, fields: object, param: string]> = [
    [GROK, CHAT, { provider: { order: ['x-ai'], best: true } }, 'provider.best'],
    [GROK, CHAT, { plugins: [{ id: 'new-thing' }] }, 'plugins.0.id'],
    [GROK, CHAT, { tools: [{ type: 'openrouter:new_thing' }] }, 'tools.0.type'],
    [GROK, '/completions', { provider: { best: true } }, 'provider.best'],
    [GROK, '/embeddings', { provider: { best: true } }, 'provider.best'],
    [GROK, '/responses', { provider: { best: true } }, 'provider.best'],
    [GROK, MESSAGES, { provider: { best: true } }, 'provider.best'],
    [OPUS, MESSAGES, { fallbacks: [{ model: 'claude-opus-5-5', effort: 9 }] }, 'fallbacks.0.effort'],
    [OPUS, MESSAGES, { tools: [{ type: 'new_thing_20261101', name: 'x' }] }, 'tools.0.type'],
    [
      'gpt/gpt-5',
      '/responses',
      { tools: [{ type: 'code_interpreter', container: { memory_limit: '64g' } }] },
      'tools.0.container.memory_limit',
    ],
    ['plain', CHAT, { provider: { best: true } }, 'provider.best'],
  ]

  it('is refused to keys with budgets, charges or models, on every way', async () => {
    for (const [model, path, fields, param] of unknown) {
      const { status, code, message: refusal } = await ask(BUDGET, model, fields, path)
      assert.deepEqual([status, code], [400, 'field_not_allowed'], `${path} ${param}`)
      assert.equal(refusal.split(': ')[0], param)
    }
    const others: Partial<z.input<typeof NewKey>>[] = [{ billing: 'cost' }, { models: [GROK] }]
    for (const key of others)
      assert.equal((await ask(key, GROK, { provider: { best: true } })).code, 'field_not_allowed')
    assert.equal(sent().length, 0)
  })

  it('passes for other keys, and unknown fields beside the listed ones pass for all', async () => {
    assert.equal((await ask({}, GROK, { provider: { best: true } })).status, 200)
    assert.deepEqual(providerSent(), { best: true })
    assert.equal((await ask(BUDGET, GROK, { verbosity_of_thought: { deep: 1 } })).status, 200)
  })

  it('passes where it is a tool of another provider, which costs nothing here', async () => {
    upstream.on('/responses', json(200, { object: 'response', status: 'completed', output: [], usage: null }))
    assert.equal((await ask(BUDGET, 'gpt/gpt-5', { tools: [{ type: 'x_search' }] }, '/responses')).status, 200)
  })

  it('cannot hide in a second field of the same name, nor behind another case', async () => {
    const { key } = await running.gateway.keys.create({ name: 'twice', scopes: ['inference'], ...BUDGET })
    const post = (body: string) =>
      fetch(`${running.url}/v1${CHAT}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body,
      })
    const start = `{"model":"${GROK}","messages":[{"role":"user","content":"Hi"}],"max_tokens":10`
    assert.equal((await post(`${start},"models":["x-ai/invented"],"models":["x-ai/grok-4.3"]}`)).status, 200)
    assert.equal(sent()[0]?.text.includes('invented'), false)
    assert.equal((await post(`${start},"Models":["x-ai/invented"]}`)).status, 422)
  })
})

it('names that an object has twice reach no provider, whichever it would read', async () => {
  const post = async (limits: Partial<z.input<typeof NewKey>>, tool: string) => {
    const { key } = await running.gateway.keys.create({ name: 'twice', scopes: ['inference'], ...limits })
    upstream.on(MESSAGES, json(200, message({ input_tokens: 1, output_tokens: 1 })))
    const reply = await fetch(`${running.url}/v1${MESSAGES}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: `{"model":"${OPUS}", "max_tokens":10,"messages":[{"role":"user","content":"Hi"}],"tools":[${tool}]}`,
    })
    assert.equal(reply.status, 200, await reply.text())
    return sent().at(-1)?.text ?? ''
  }
  const searching = '"type":"web_search_20260318","name":"web_search"'
  const custom = '"type":"custom","name":"web_search","input_schema":{"type":"object"}'
  const models = { models: [OPUS] }
  for (const tool of [`{${searching},"max_uses":900,"max_uses":1}`, `{${searching},"max_us\\u0065s":900,"max_uses":1}`])
    for (const limits of [BUDGET, models]) assert.equal((await post(limits, tool)).includes('900'), false, tool)
  const advisor = `{"type":"advisor_20260301","model":"dear",${custom},"model":null}`
  assert.equal(/advisor|dear/.test(await post(models, advisor)), false)
  // A request without them has its own blanks, and so has one of a key without limits.
  assert.match(await post(BUDGET, `{ ${custom}}`), /\[\{ "type"/)
  assert.match(await post({}, advisor), /advisor/)
})

it('OpenRouter gets the rates that are reserved, and lower ones of the client are kept', async () => {
  const priceOf = async (fields: object, path = CHAT) => {
    upstream.received.length = 0
    assert.equal((await ask(BUDGET, GROK, fields, path)).status, 200)
    return providerSent()
  }
  assert.deepEqual(await priceOf({}), { max_price: { prompt: 1.25, completion: 2.5 } })
  assert.deepEqual(
    await priceOf({ provider: { order: ['x-ai'], max_price: { prompt: 1, completion: 9, image: 0.01 } } }),
    {
      order: ['x-ai'],
      max_price: { prompt: 1, completion: 2.5, image: 0.01 },
    },
  )
  assert.deepEqual(await priceOf({ models: ['x-ai/dear'] }), { max_price: { prompt: 50, completion: 100 } })
  for (const path of [MESSAGES, '/completions', '/embeddings'])
    assert.deepEqual(await priceOf({}, path), { max_price: { prompt: 1.25, completion: 2.5 } }, path)
  await ask({}, GROK, {})
  assert.equal(sent().at(-1)?.text.includes('max_price'), false, 'nothing for keys without limits')
})

describe('a tier, a speed or a region', () => {
  it('is reserved as the request names it, else as the project has it', async () => {
    const [standard, messages] = [await bound('gpt/gpt-5', {}), await bound(OPUS, {}, MESSAGES)]
    const times = async (factor: number, model: string, fields: object, path = CHAT) => {
      const plain = path === CHAT ? standard : messages
      const found = (await bound(model, fields, path)) / plain
      assert.ok(Math.abs(found - factor) < 0.05 * factor, `${model} ${JSON.stringify(fields)}: ${found}`)
    }
    await times(2, 'gpt/gpt-5', { service_tier: 'priority' })
    await times(2, 'fast/gpt-5', {})
    await times(2, 'fast/gpt-5', { service_tier: 'auto' })
    await times(1, 'fast/gpt-5', { service_tier: 'default' })
    await times(2, OPUS, { speed: 'fast' }, MESSAGES)
    await times(1.1, OPUS, { inference_geo: 'us' }, MESSAGES)
    await times(1.1, 'american/claude-opus-5-5', {}, MESSAGES)
    await times(1, 'american/claude-opus-5-5', { inference_geo: 'global' }, MESSAGES)
    await times(2, OPUS, { fallbacks: [{ model: 'claude-opus-5-5', speed: 'fast' }] }, MESSAGES)
  })

  it('is charged as the answer reports it, else as it was requested, else as the project has it', async () => {
    const usage = { input_tokens: 1000, output_tokens: 100 }
    const cost = async (model: string, fields: object, reported: object) => {
      upstream.on(MESSAGES, json(200, message({ ...usage, ...reported })))
      return (await ask(BUDGET, model, fields, MESSAGES)).record?.upstream_cost_usd
    }
    assert.equal(await cost(OPUS, {}, {}), 0.006) // 1000 × 4 + 100 × 20
    assert.equal(await cost(OPUS, { speed: 'fast' }, {}), 0.012)
    assert.equal(await cost(OPUS, { speed: 'fast' }, { speed: 'standard' }), 0.006)
    assert.equal(await cost(OPUS, {}, { inference_geo: 'us' }), 0.0066)
    assert.equal(await cost(OPUS, {}, { inference_geo: 'us', speed: 'fast' }), 0.0132)
    assert.equal(await cost('american/claude-opus-5-5', {}, {}), 0.0066)
    assert.equal(await cost('american/claude-opus-5-5', {}, { inference_geo: 'global' }), 0.006)
    assert.equal(await cost(OPUS, {}, { service_tier: 'batch' }), 0.003)
  })
})

describe('iterations of a Message', () => {
  /** 23,000 tokens of the answer, 180,000 of a compaction, and an advisor of another model. */
  const usage = {
    input_tokens: 20_000,
    output_tokens: 3000,
    iterations: [
      { type: 'compaction', input_tokens: 178_000, output_tokens: 2000 },
      { type: 'message', input_tokens: 20_000, output_tokens: 3000 },
      { type: 'advisor_message', model: 'claude-haiku-4-5', input_tokens: 1000, output_tokens: 500 },
    ],
  }
  // (178,000 + 20,000) × 4 + 5,000 × 20 + 1,000 × 1 + 500 × 5
  const COST = 0.8955

  it('are counted and priced each by its own model, streamed and whole, converted and not', async () => {
    const started = {
      type: 'message_start',
      message: { ...message({ input_tokens: 20_000, output_tokens: 1 }), content: [] },
    }
    const events = [
      started,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ]
    for (const [path, stream] of [
      [MESSAGES, false],
      [MESSAGES, true],
      [CHAT, false],
      [CHAT, true],
      ['/responses', false],
    ] as const) {
      upstream.on(MESSAGES, stream ? sse(events, 'none') : json(200, message(usage)))
      const { record } = await ask(BUDGET, OPUS, { stream }, path)
      const { prompt_tokens, completion_tokens } = record?.usage ?? {}
      const counted = [prompt_tokens, completion_tokens, record?.upstream_cost_usd]
      assert.deepEqual(counted, [199_000, 5500, COST], `${path} ${stream}`)
    }
  })
})

it('fees of tools are reserved', async () => {
  const plain = await bound(OPUS, {}, MESSAGES)
  const searching = { tools: [{ type: 'web_search_20260318', name: 'web_search', max_uses: 40 }] }
  const more = (await bound(OPUS, searching, MESSAGES)) - plain
  assert.ok(more >= 0.4, `40 searches at 0.01: ${more}`)
})

it('the rejected part of a prediction is reserved as output', async () => {
  const prediction = { type: 'content', content: 'x'.repeat(20_000) }
  const bytes = JSON.stringify(prediction).length
  const more = (await bound('gpt/gpt-4.1', { prediction })) - (await bound('gpt/gpt-4.1', {}))
  const [asPrompt, asOutput] = [bytes * 2e-6, bytes * 8e-6]
  assert.ok(more >= asOutput && more <= asOutput + asPrompt + 1e-3, `${more}`)
})

describe('speech', () => {
  const heard = { type: 'input_audio', input_audio: { data: 'A'.repeat(8000), format: 'wav' } }
  const read = { ...heard, type: 'text', text: '' }
  const sending = (part: object) => ({ messages: [{ role: 'user', content: [part] }] })
  const charged = async (part: object, details: object = {}) => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, ...details }
    upstream.on(CHAT, json(200, completion('Hello.', usage)))
    return (await ask(BUDGET, 'gem/gemini-2.5-flash', sending(part))).record?.upstream_cost_usd
  }

  it('is reserved at its own rate where a request has a recording', async () => {
    const prompt = async (part: object) => (await bound('gem/gemini-2.5-flash', sending(part))) - 0.0025 // 1000 × 2.5
    const ratio = (await prompt(heard)) / (await prompt(read))
    assert.ok(Math.abs(ratio - 1 / 0.3) < 0.05, `${ratio}`)
  })

  it('is charged at its own rate: as far as the answer counts it, else for the whole prompt', async () => {
    assert.equal(await charged(heard, { prompt_tokens_details: { audio_tokens: 100 } }), 0.00062) // 100 × 1 + 900 × 0.3 + 250
    assert.equal(await charged(heard), 0.00125)
    assert.equal(await charged(read), 0.00055)
  })
})

describe('what an answer names', () => {
  const usage = { input_tokens: 1000, output_tokens: 100 }

  it('is priced by the model that answered', async () => {
    const cost = async (model: string) => {
      upstream.on(MESSAGES, json(200, message(usage, model)))
      return (await ask(BUDGET, OPUS, {}, MESSAGES)).record?.upstream_cost_usd
    }
    assert.equal(await cost('claude-haiku-4-5-20251001'), 0.0015) // 1000 × 1 + 100 × 5
    assert.equal(await cost('claude-opus-5-5-20261101'), 0.006)
    assert.equal(await cost('invented'), 0.006, 'the requested one, where the other has no price')
  })

  it('counts searches with their fee, also of items of a Response', async () => {
    upstream.on(MESSAGES, json(200, message({ ...usage, server_tool_use: { web_search_requests: 3 } })))
    const { record } = await ask(BUDGET, OPUS, {}, MESSAGES)
    assert.equal(record?.upstream_cost_usd, 0.036)
    const search = (type: string) => ({ type: 'web_search_call', action: { type } })
    const output = [search('search'), search('open_page'), search('search')]
    const answer = { object: 'response', status: 'completed', output, usage: { ...usage, total_tokens: 1100 } }
    upstream.on('/responses', json(200, answer))
    const charged = async (tool: string) =>
      (await ask(BUDGET, 'gpt/gpt-5', { tools: [{ type: tool }] }, '/responses')).record?.upstream_cost_usd
    assert.equal(await charged('web_search'), 0.02225) // 1000 × 1.25 + 100 × 10 + 2 × 10,000
    assert.equal(await charged('web_search_preview'), 0.05225)
    const environment = { type: 'container_reference', container_id: 'cntr_1' }
    const shell = { type: 'shell_call', action: { commands: ['ls'] }, environment }
    upstream.on('/responses', json(200, { ...answer, output: [shell, shell] }))
    assert.equal(await charged('shell'), 0.03225)
  })

  it('counts tools that Groq ran and searches of Gemini, streamed and whole', async () => {
    const used = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
    const tools = { executed_tools: [{ index: 0, type: 'search' }] }
    const grounded = { extra_content: { google: { grounding_metadata: { web_search_queries: ['a', 'b'] } } } }
    const charged = async (model: string, more: object, stream: boolean, tool: string) => {
      const [first, ...others] = chunks(['Hello.'], used)
      const chunk = { ...first, choices: [{ index: 0, delta: more, finish_reason: null }] }
      const whole = completion('Hello.', used)
      const message = { ...whole.choices[0]?.message, ...more }
      const answer = { ...whole, choices: [{ ...whole.choices[0], message }] }
      upstream.on(CHAT, stream ? sse([first, chunk, chunk, ...others]) : json(200, answer))
      return (await ask(BUDGET, model, { stream, tools: [{ type: tool }] })).record?.upstream_cost_usd
    }
    for (const stream of [false, true]) {
      assert.equal(await charged('groq/openai/gpt-oss-120b', tools, stream, 'browser_search'), 0.00821) // 210 + 8000
      assert.equal(await charged('gem/gemini-3.8-flash', grounded, stream, 'google_search'), 0.029125) // 1125 + 2 × 14,000
    }
    assert.equal(
      await charged('gem/gemini-3.8-flash', {}, false, 'google_search'),
      0.015125,
      'one that it does not show',
    )
    assert.equal(await charged('gem/gemini-3.8-flash', grounded, false, 'function'), 0.029125)
  })

  it('alerts the operator when the list of the key lacks it, and the answer counts', async () => {
    const key = { models: ['claude/claude-opus-5-5', 'router/*'] }
    upstream.on(MESSAGES, json(200, message(usage, 'claude-haiku-4-5')))
    const { status, record } = await ask(key, OPUS, {}, MESSAGES)
    assert.deepEqual([status, record?.upstream_cost_usd], [200, 0.0015])
    const alertsOf = (of: typeof record) =>
      running.gateway.store.db
        .selectFrom('alert_messages')
        .select('body')
        .where('owner', '=', of?.caller_id ?? '')
        .execute()
    await until(async () => (await alertsOf(record)).length === 1)
    const { type, data } = JSON.parse((await alertsOf(record))[0]?.body ?? '')
    assert.deepEqual([type, data.requested, data.answered], ['model.not_allowed', OPUS, 'claude-haiku-4-5'])
    assert.ok(running.logged.some((line) => line.includes('A model answered that the key may not use.')))
    upstream.on(MESSAGES, json(200, message(usage, 'claude-opus-5-5-20261101')))
    const version = await ask(key, OPUS, {}, MESSAGES)
    upstream.on(CHAT, json(200, { ...completion('Hello.'), model: 'x-ai/anything' }))
    const listed = await ask(key, GROK, {})
    assert.deepEqual([...(await alertsOf(version.record)), ...(await alertsOf(listed.record))], [])
  })
})

it('images whose tokens are told are charged by the piece where tokens are free, and by their tokens where they are not', async () => {
  const path = '/images/generations'
  const usage = { input_tokens: 20, output_tokens: 4160, total_tokens: 4180 }
  const image = { type: 'image_generation.completed', b64_json: 'AA', usage }
  const costOf = async (model: string, n: number, stream: boolean) =>
    (await ask(BUDGET, model, { n, stream }, path)).record?.upstream_cost_usd
  for (const stream of [false, true]) {
    const whole = json(200, { created: 1, data: [{ b64_json: 'AA' }, { b64_json: 'AA' }], usage })
    upstream.on(path, stream ? sse([image, image], 'none') : whole)
    assert.equal(await costOf('painter', 2, stream), 0.08)
    assert.equal(await costOf('artist', 2, stream), (stream ? 2 : 1) * 0.00418)
  }
  upstream.on(path, sse([image], 'break'))
  assert.equal(await costOf('painter', 1, true), 0.04)
})

it('images and seconds of audio are reserved and charged by the piece where they have a price', async () => {
  const images = '/images/generations'
  upstream.on(images, json(200, { created: 1, data: [{ b64_json: 'AA' }, { b64_json: 'AA' }] }))
  assert.equal(await bound('painter', { n: 3 }, images), 0.12)
  assert.equal((await ask(BUDGET, 'painter', { n: 3 }, images)).record?.upstream_cost_usd, 0.08)
  const image = { type: 'image_generation.completed', b64_json: 'AA' }
  upstream.on(images, sse([image, image], 'none'))
  assert.equal((await ask(BUDGET, 'painter', { n: 2, stream: true }, images)).record?.upstream_cost_usd, 0.08)
  upstream.on('/audio/transcriptions', json(200, { text: 'Hello.', usage: { type: 'duration', seconds: 61.2 } }))
  const { key } = await running.gateway.keys.create({ name: 'caller', scopes: ['inference'], ...BUDGET })
  const body = new FormData()
  body.append('model', 'scribe')
  body.append('file', new Blob([new Uint8Array(40_000)]), 'speech.ogg')
  const headers = { authorization: `Bearer ${key}` }
  const reply = await fetch(`${running.url}/v1/audio/transcriptions`, { method: 'POST', headers, body })
  assert.equal(reply.status, 200)
  await reply.text()
  await running.gateway.calls.flush()
  const { items } = await running.gateway.calls.history({ path: '/v1/audio/transcriptions', limit: 1, offset: 0 })
  assert.equal(items[0]?.upstream_cost_usd, 0.0062) // 62 × 0.0001
})
