import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic, { type ClientOptions } from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { message, messageStream, named, refuses } from '../doubles/anthropic.ts'
import { chunks, completion, drops, fails, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const ask = { model: 'claude-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] }
const look = { name: 'look', description: 'Looks.', input_schema: { type: 'object' as const, properties: {} } }
const called = (id: string, args: string) => ({ id, type: 'function', function: { name: 'look', arguments: args } })
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  model: 'double-chat',
  choices: [{ index: 0, delta, finish_reason }],
})

let upstream: UpstreamDouble
let running: RunningGateway

/** A client of the gateway with its key as `x-api-key`. */
const connect = (options: ClientOptions = {}) =>
  new Anthropic({ baseURL: running.url, apiKey: running.key, maxRetries: 0, ...options })
const lastBody = () => upstream.received.at(-1)?.body as Record<string, unknown>

async function refusalOf(work: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
  const error = await work.then(
    () => assert.fail('it was answered'),
    (fault: unknown) => fault,
  )
  assert.ok(error instanceof Anthropic.APIError, String(error))
  return error
}

/** The record of the next call that ends. */
function nextRecord(): Promise<CallRecord> {
  return new Promise((resolve) => {
    const stop = running.gateway.calls.listen((record) => {
      stop()
      resolve(record)
    })
  })
}

function startWith(document: Record<string, unknown> = {}) {
  before(async () => {
    upstream = await startUpstream()
    running = await startGateway(upstream.url, {}, document)
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })
}

describe('Messages of an upstream that speaks chat completions', () => {
  startWith({ upstream: { aliases: { 'claude-x': 'double-chat' } } })

  it('are answered to a key in either header, with the usage that was cached', async () => {
    upstream.on(
      '/chat/completions',
      json(
        200,
        completion('Hi.', {
          prompt_tokens: 20,
          completion_tokens: 5,
          total_tokens: 25,
          prompt_tokens_details: { cached_tokens: 12 },
        }),
      ),
    )
    const bearer = connect({ apiKey: null, authToken: running.key })
    for (const client of [connect(), bearer]) {
      const { data, response } = await client.messages.create(ask).withResponse()
      assert.deepEqual(data.content, [{ type: 'text', text: 'Hi.' }])
      assert.deepEqual(
        [data.stop_reason, data.usage.input_tokens, data.usage.cache_read_input_tokens],
        ['end_turn', 8, 12],
      )
      assert.equal(response.headers.get('request-id'), response.headers.get('x-request-id'))
      assert.match(response.headers.get('x-gazeway-call-id') ?? '', /^call_/)
    }
    assert.deepEqual(lastBody(), { messages: ask.messages, max_tokens: 100, model: 'double-chat' })
    const headers = upstream.received.at(-1)?.headers
    assert.equal(headers?.['anthropic-version'], undefined)
    assert.equal(headers?.['x-api-key'], undefined)
  })

  it('stream, by the stream helper of the client, with tools that are called in parallel', async () => {
    upstream.on(
      '/chat/completions',
      sse([
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'I ' }),
        chunk({ content: 'look.' }),
        chunk({ tool_calls: [{ index: 0, ...called('a', '') }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"at":1}' } }] }),
        chunk({ tool_calls: [{ index: 1, ...called('b', '{"at":2}') }] }),
        chunk({}, 'tool_calls'),
        {
          id: 'chatcmpl-1',
          model: 'double-chat',
          choices: [],
          usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
        },
      ]),
    )
    const recorded = nextRecord()
    const stream = connect().messages.stream({ ...ask, tools: [look], tool_choice: { type: 'any' } })
    const texts: string[] = []
    stream.on('text', (text) => texts.push(text))
    const final = await stream.finalMessage()
    assert.deepEqual(texts, ['I ', 'look.'])
    assert.deepEqual(final.content, [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
      { type: 'tool_use', id: 'b', name: 'look', input: { at: 2 } },
    ])
    assert.deepEqual([final.stop_reason, final.usage.input_tokens, final.usage.output_tokens], ['tool_use', 20, 9])
    assert.deepEqual([lastBody().tool_choice, lastBody().stream], ['required', true])
    const record = await recorded
    assert.deepEqual([record.status, record.usage?.total_tokens, record.requested_model], ['ok', 29, 'claude-x'])
  })

  it('carry pictures, and numbers of tool inputs that JavaScript cannot hold', async () => {
    upstream.on('/chat/completions', json(200, completion('A cat.')))
    const body = {
      ...ask,
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: { at: 'BIG' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'there' }] },
      ],
    }
    const reply = await fetch(`${running.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': running.key },
      body: JSON.stringify(body).replace('"BIG"', '12345678901234567890'),
    })
    assert.equal(reply.status, 200)
    const [picture, call] = lastBody().messages as { content: object; tool_calls: { function: object }[] }[]
    assert.deepEqual(picture?.content, [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }])
    assert.deepEqual(call?.tool_calls[0]?.function, { name: 'look', arguments: '{"at":12345678901234567890}' })
  })

  it('are answered by an upstream that never streams, or that always does', async () => {
    upstream.on('/chat/completions', json(200, completion('Whole.')))
    const final = await connect().messages.stream(ask).finalMessage()
    assert.deepEqual(final.content, [{ type: 'text', text: 'Whole.' }])
    upstream.on('/chat/completions', sse(chunks(['In ', 'parts.'])))
    const whole = await connect().messages.create(ask)
    assert.deepEqual(whole.content, [{ type: 'text', text: 'In parts.' }])
  })

  it('end with an error event where the stream breaks off, and a cut call is not ended', async () => {
    const begun = [chunk({ content: 'Hm.' }), chunk({ tool_calls: [{ index: 0, ...called('a', '{"at') }] })]
    upstream.on('/chat/completions', sse(begun, 'break'))
    const recorded = nextRecord()
    const types: string[] = []
    const error = await refusalOf(
      (async () => {
        for await (const event of await connect().messages.create({ ...ask, stream: true })) types.push(event.type)
      })(),
    )
    assert.deepEqual(types.slice(-3), ['content_block_stop', 'content_block_start', 'content_block_delta'])
    assert.equal(error.type, 'api_error')
    assert.match(error.message, /was cut off/)
    const record = await recorded
    assert.equal(record.status, 'error')
  })

  it('are refused in the shape that the client reads, by their status', async () => {
    const client = connect()
    const cases: [() => Promise<unknown>, number, string, RegExp][] = [
      [() => connect({ apiKey: 'gzw_none' }).messages.create(ask), 401, 'authentication_error', /API key/],
      [() => client.messages.create({ ...ask, max_tokens: 0 }), 400, 'invalid_request_error', /max_tokens/],
      [
        () => client.messages.create({ ...ask, ...{ mcp_servers: [{ url: 'https://x.invalid' }] } }),
        400,
        'invalid_request_error',
        /^400 .*mcp_servers: /,
      ],
      [
        () => client.messages.create({ ...ask, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
        400,
        'invalid_request_error',
        /tools\.0: the tool .{0,2}web_search/,
      ],
    ]
    for (const [work, status, type, words] of cases) {
      const error = await refusalOf(work())
      assert.deepEqual([error.status, error.type], [status, type])
      assert.match(error.message, words)
      assert.match(error.requestID ?? '', /^req_/)
    }
    upstream.on('/chat/completions', fails(429, { 'retry-after': '7' }))
    const limited = await refusalOf(client.messages.create(ask))
    assert.deepEqual([limited.status, limited.type], [429, 'rate_limit_error'])
    assert.match(limited.message, /double says 429/)
    assert.equal(limited.headers?.get('retry-after'), '7')
    upstream.on('/chat/completions', drops)
    for (const stream of [false, true]) {
      const gone = await refusalOf(client.messages.create({ ...ask, stream }) as Promise<unknown>)
      assert.deepEqual([gone.status, gone.type], [502, 'api_error'])
    }
    upstream.on('/chat/completions', json(200, { ...completion(''), choices: [cutCall('tool_calls')] }))
    assert.equal((await refusalOf(client.messages.create(ask))).status, 502)
  })

  it('are refused where they are nested too deeply to be written', async () => {
    const deep = JSON.stringify({
      ...ask,
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: { at: 'DEEP' } }] }],
    }).replace('"DEEP"', '['.repeat(50_000) + ']'.repeat(50_000))
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const headers = { 'content-type': 'application/json', 'x-api-key': running.key }
      const reply = await fetch(running.url + path, { method: 'POST', headers, body: deep })
      const { error } = (await reply.json()) as { error: { message: string } }
      assert.deepEqual([reply.status, /nested too deeply/.test(error.message)], [400, true], path)
    }
  })

  it('share the key of x-api-key with the list of models alone', async () => {
    const headers = { 'x-api-key': running.key }
    assert.equal((await fetch(`${running.url}/v1/models`, { headers })).status, 200)
    const reply = await fetch(`${running.url}/v1/files`, { headers })
    assert.equal(reply.status, 401)
    assert.ok('code' in ((await reply.json()) as { error: object }).error, 'errors keep their own shape there')
  })

  it('are counted without asking the upstream', async () => {
    const before = upstream.received.length
    const few = await connect().messages.countTokens({ model: 'claude-x', messages: ask.messages })
    const long = [{ role: 'user' as const, content: 'word '.repeat(1000) }]
    const many = await connect().messages.countTokens({ model: 'claude-x', messages: long, tools: [look] })
    assert.ok(few.input_tokens > 0 && few.input_tokens < 50, `${few.input_tokens} of a few`)
    assert.ok(many.input_tokens > 900 && many.input_tokens < 2500, `${many.input_tokens} of many`)
    assert.equal(upstream.received.length, before)
    const error = await refusalOf(connect().messages.countTokens({ model: 'claude-x', messages: [] }))
    assert.deepEqual([error.status, error.type], [400, 'invalid_request_error'])
  })
})

describe('an upstream that speaks Messages', () => {
  startWith({ upstream: { protocol: 'anthropic' } })

  it('gets the bytes and the anthropic headers of its clients, and their replies come back unchanged', async () => {
    const answer = message('Hi.', { container: null, unknown_field: { a: 1 } })
    upstream.on('/messages', json(200, answer, { 'request-id': 'req_upstream' }))
    const recorded = nextRecord()
    const text =
      '{ "model": "claude-x", "max_tokens":100, "top_k": 4,  "messages":[{"role":"user","content":"Hello"}] }'
    const reply = await fetch(`${running.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': running.key,
        'anthropic-version': '2024-01-01',
        'anthropic-beta': 'some-beta',
      },
      body: text,
    })
    assert.equal(await reply.text(), JSON.stringify(answer))
    assert.equal(reply.headers.get('request-id'), 'req_upstream')
    const { text: sent, headers } = upstream.received.at(-1) ?? assert.fail('nothing was sent')
    assert.equal(sent, text)
    assert.equal(headers['x-api-key'], 'upstream-secret-key')
    assert.deepEqual([headers['anthropic-version'], headers['anthropic-beta']], ['2024-01-01', 'some-beta'])
    assert.equal(headers.authorization, undefined)
    const record = await recorded
    assert.deepEqual(record.usage, { prompt_tokens: 14, completion_tokens: 5, total_tokens: 19, cached_tokens: 4 })
    assert.equal(record.path, '/v1/messages')
  })

  it('streams unchanged, thoughts and all', async () => {
    const events = [
      ...messageStream([]).slice(0, 1),
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
      { type: 'content_block_stop', index: 0 },
      ...messageStream(['never']).slice(-2),
    ]
    upstream.on('/messages', named(events))
    const got: object[] = []
    for await (const event of await connect().messages.create({ ...ask, stream: true })) got.push(event)
    assert.deepEqual(got, events)
    upstream.on('/messages', named(messageStream(['Hel', 'lo.'])))
    const recorded = nextRecord()
    const final = await connect().messages.stream(ask).finalMessage()
    assert.deepEqual([final.content, final.usage.output_tokens], [[{ type: 'text', text: 'Hello.' }], 5])
    const record = await recorded
    assert.deepEqual([record.status, record.usage?.prompt_tokens, record.usage?.completion_tokens], ['ok', 14, 5])
  })

  it('refuses in its own words, before a stream and in it', async () => {
    upstream.on(
      '/messages',
      refuses(400, 'invalid_request_error', 'prompt is too long: 9 > 5', { 'x-should-retry': 'false' }),
    )
    for (const stream of [false, true]) {
      const error = await refusalOf(connect().messages.create({ ...ask, stream }) as Promise<unknown>)
      assert.deepEqual(error.error, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 9 > 5' },
        request_id: 'req_upstream',
      })
    }
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    upstream.on('/messages', named([overloaded]))
    const first = await refusalOf(connect().messages.create({ ...ask, stream: true }))
    assert.deepEqual([first.status, first.error], [529, overloaded])
    upstream.on('/messages', named([...messageStream([]).slice(0, 1), overloaded]))
    const early = await refusalOf(connect().messages.stream(ask).finalMessage())
    assert.deepEqual([early.status, early.type, early.error], [undefined, 'overloaded_error', overloaded])
    upstream.on('/messages', named([...messageStream(['Hel']).slice(0, 4), overloaded]))
    const recorded = nextRecord()
    const late = await refusalOf(connect().messages.stream(ask).finalMessage())
    assert.equal(late.type, 'overloaded_error')
    const record = await recorded
    assert.equal(record.status, 'error')
    upstream.on('/messages', named(messageStream(['Hel']).slice(0, 4), 'break'))
    const cut = nextRecord()
    assert.match((await refusalOf(connect().messages.stream(ask).finalMessage())).message, /was cut off/)
    // What it told as it began is not what it has used.
    assert.equal((await cut).usage?.estimated, true)
  })

  it('is charged what was cached, written and read apart', async () => {
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 10,
    }
    const cost = (100 * 4 + 1000 * 0.4 + 200 * 5 + 100 * 8 + 10 * 20) / 1e6
    upstream.on('/messages', json(200, message('Hi', {}, usage)))
    const { key, record } = await running.gateway.keys.create({
      name: 'c',
      scopes: ['inference'],
      billing: 'cost',
      limits: { credit_limit_usd: 1 },
    })
    const prices = { input: 4, output: 20, cached_input: 0.4, cache_write: 5, cache_write_1h: 8 }
    await running.gateway.config.set({ 'pricing.models.double-claude': prices })
    const content = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const asked = { model: 'double-claude', max_tokens: 50, messages: [{ role: 'user', content }] }
    const post = (path: string, body: object) =>
      fetch(running.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      })
    const whole = await post('/v1/messages', asked)
    assert.equal(whole.headers.get('x-gazeway-cost-usd'), String(cost))
    const chat = await post('/v1/chat/completions', asked)
    assert.equal(chat.headers.get('x-gazeway-cost-usd'), String(cost), 'converted, too')
    const events = messageStream(['Hi'])
    Object.assign(events[0] as object, { message: message([], { stop_reason: null }, usage) })
    upstream.on('/messages', named(events))
    const stream = await (await post('/v1/messages', { ...asked, stream: true })).text()
    assert.match(stream, new RegExp(`x-gazeway-cost-usd=${cost - 5 * 20e-6}\\b`), 'its end says 5 tokens of output')
    await running.gateway.calls.flush()
    const { items } = await running.gateway.calls.history({ caller_id: record.id, limit: 1 })
    const { cached_tokens, cache_write_tokens } = items[0]?.usage ?? {}
    assert.deepEqual([cached_tokens, cache_write_tokens], [1000, 300])
    await running.gateway.config.set({ 'pricing.models.double-claude': null })
  })

  it('counts prompts itself', async () => {
    upstream.on('/messages/count_tokens', json(200, { input_tokens: 77 }))
    assert.deepEqual(await connect().messages.countTokens({ model: 'claude-x', messages: ask.messages }), {
      input_tokens: 77,
    })
    upstream.on('/messages/count_tokens', refuses(404, 'not_found_error', 'model: claude-x'))
    const recorded = nextRecord()
    const error = await refusalOf(connect().messages.countTokens({ model: 'claude-x', messages: ask.messages }))
    assert.deepEqual([error.status, error.type], [404, 'not_found_error'])
    const record = await recorded
    assert.deepEqual([record.path, record.status], ['/v1/messages/count_tokens', 'error'])
  })

  it('counts no file that another key has made', async () => {
    upstream.on('/files', json(200, { id: 'file-of-another', object: 'file' }))
    upstream.on('/messages/count_tokens', json(200, { input_tokens: 77 }))
    const form = new FormData()
    form.append('purpose', 'user_data')
    form.append('file', new Blob(['text']), 'a.txt')
    const headers = { authorization: `Bearer ${running.key}` }
    assert.equal((await fetch(`${running.url}/v1/files`, { method: 'POST', headers, body: form })).status, 200)
    const { key: stranger } = await running.gateway.keys.create({ name: 'stranger', scopes: ['inference'] })
    const source = { type: 'file', file_id: 'file-of-another' }
    const body = { model: 'claude-x', messages: [{ role: 'user', content: [{ type: 'document', source }] }] }
    for (const [key, status] of [
      [running.key, 200],
      [stranger, 404],
    ] as const) {
      const reply = await fetch(`${running.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify(body),
      })
      assert.equal(reply.status, status)
    }
  })

  it('lists all of its models, whose usual list is short', async () => {
    upstream.on('/models', json(200, { data: [{ id: 'claude-x', type: 'model', display_name: 'X' }], has_more: false }))
    const { data } = await chat().models.list()
    assert.ok(
      data.some(({ id }) => id === 'claude-x'),
      'it is in the list',
    )
    assert.equal(upstream.received.at(-1)?.path, '/v1/models?limit=1000')
    assert.equal(upstream.received.at(-1)?.headers['x-api-key'], 'upstream-secret-key')
  })

  const chat = () => new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 })

  it('answers chat completions, whole and streamed, with tools', async () => {
    const uses = [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
    ]
    upstream.on('/messages', json(200, message(uses, { stop_reason: 'tool_use' })))
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    const asked = { model: 'claude-x', messages: [{ role: 'user' as const, content: 'Hello' }], tools }
    const whole = await chat().chat.completions.create(asked)
    assert.deepEqual(whole.choices[0]?.message, {
      role: 'assistant',
      content: 'I look.',
      refusal: null,
      reasoning_content: 'Hm.',
      tool_calls: [called('toolu_1', '{"at":1}')],
    })
    assert.equal(whole.choices[0]?.finish_reason, 'tool_calls')
    assert.deepEqual([whole.usage?.prompt_tokens, whole.usage?.prompt_tokens_details?.cached_tokens], [14, 4])
    assert.deepEqual(lastBody(), {
      max_tokens: 8192,
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      model: 'claude-x',
    })
    upstream.on('/messages', named(messageStream(['Hel', 'lo.'])))
    const recorded = nextRecord()
    const stream = chat().chat.completions.stream({ ...asked, stream_options: { include_usage: true } })
    const final = await stream.finalChatCompletion()
    assert.deepEqual([final.choices[0]?.message.content, final.usage?.total_tokens], ['Hello.', 19])
    const record = await recorded
    assert.deepEqual([record.status, record.usage?.total_tokens], ['ok', 19])
  })

  it('answers responses, whole and streamed', async () => {
    upstream.on('/messages', json(200, message('Hi.')))
    const whole = await chat().responses.create({ model: 'claude-x', input: 'Hello' })
    assert.deepEqual([whole.output_text, whole.usage?.input_tokens], ['Hi.', 14])
    upstream.on('/messages', named(messageStream(['Hel', 'lo.'])))
    const final = await chat().responses.stream({ model: 'claude-x', input: 'Hello' }).finalResponse()
    assert.deepEqual([final.output_text, final.status], ['Hello.', 'completed'])
  })

  it('returns errors to chat clients in the shape of chat completions', async () => {
    upstream.on('/messages', refuses(429, 'rate_limit_error', 'slow down'))
    const asked = { model: 'claude-x', messages: [{ role: 'user' as const, content: 'Hello' }] }
    await assert.rejects(chat().chat.completions.create(asked), { status: 429, message: '429 slow down' })
    await assert.rejects(chat().chat.completions.create({ ...asked, n: 2 }), { status: 400, param: 'n' })
    upstream.on(
      '/messages',
      named([...messageStream(['Hel']).slice(0, 4), { type: 'error', error: { type: 'api_error', message: 'died' } }]),
    )
    await assert.rejects(chat().chat.completions.stream(asked).finalChatCompletion(), /died/)
    upstream.on('/messages', named(messageStream(['Hel']).slice(0, 4)))
    await assert.rejects(chat().chat.completions.stream(asked).finalChatCompletion(), /ended before the answer/)
  })
})

describe('Messages through the platform', () => {
  let platform: RunningPlatform
  before(async () => {
    upstream = await startUpstream()
    platform = await startPlatform(upstream.url)
  })
  after(async () => {
    await platform.close()
    await upstream.close()
  })
  const connectTo = (baseURL: string, apiKey: string) => new Anthropic({ baseURL, apiKey, maxRetries: 0 })

  it('are charged before they end, on both ports, and refused in their own shape without credit', async () => {
    upstream.on('/chat/completions', sse(chunks(['Hel', 'lo.'])))
    const limits = { credit_limit_usd: 1 }
    const scopes = ['inference' as const, 'platform' as const]
    const { key, record } = await platform.gateway.keys.create({ name: 'payer', scopes, billing: 'cost', limits })
    for (const url of [platform.gatewayUrl, platform.url]) {
      const stream = connectTo(url, key).messages.stream(ask)
      const final = await stream.finalMessage()
      assert.deepEqual([final.content, final.stop_reason], [[{ type: 'text', text: 'Hello.' }], 'end_turn'])
    }
    const { total_usd } =
      (await platform.gateway.keys.list({ limit: 100 })).items.find(({ id }) => id === record.id)?.spend ??
      assert.fail('the key is there')
    assert.equal(total_usd, 0.00009)

    const poor = await platform.gateway.keys.create({
      name: 'poor',
      scopes,
      billing: 'cost',
      limits: { credit_limit_usd: 0.0001 },
    })
    for (const url of [platform.gatewayUrl, platform.url])
      for (const stream of [false, true]) {
        const error = await refusalOf(connectTo(url, poor.key).messages.create({ ...ask, stream }) as Promise<unknown>)
        assert.deepEqual([error.status, error.type], [402, 'billing_error'])
      }
    const unknown = await refusalOf(connectTo(platform.url, 'gzw_none').messages.create(ask))
    assert.deepEqual([unknown.status, unknown.type], [401, 'authentication_error'])
  })

  it('are sent on with one limit of their answer, the one that is billed', async () => {
    upstream.on('/messages', json(200, message('Hi.')))
    upstream.on('/chat/completions', json(200, completion('Hi.')))
    const limits = { credit_limit_usd: 1 }
    const { key } = await platform.gateway.keys.create({
      name: 'twice',
      scopes: ['inference'],
      billing: 'cost',
      limits,
    })
    const text = '{"model":"m","max_tokens":90000,"messages":[{"role":"user","content":"Hello"}],"max_tokens":10}'
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      const reply = await fetch(platform.gatewayUrl + path, { method: 'POST', headers, body: text })
      assert.equal(reply.status, 200, await reply.text())
      assert.deepEqual(
        [...(upstream.received.at(-1)?.text ?? '').matchAll(/"max_tokens":(\d+)/g)].map(([, n]) => n),
        ['10'],
      )
    }
  })

  it('end with an error event where the answer outgrows the budget', async () => {
    upstream.on('/chat/completions', sse(chunks(Array.from({ length: 400 }, () => 'many words of an answer. '))))
    const { key } = await platform.gateway.keys.create({
      name: 'short',
      scopes: ['inference'],
      billing: 'recorded',
      limits: { budgets: [{ usd: 0.0015, per: 'day' }] },
    })
    const stream = connectTo(platform.gatewayUrl, key).messages.stream({ ...ask, max_tokens: 10 })
    const error = await refusalOf(stream.finalMessage())
    assert.match(error.message, /cut off/)
    assert.equal(error.type, 'billing_error')
  })
})

const cutCall = (finish_reason: string) => ({
  index: 0,
  message: { role: 'assistant', content: null, tool_calls: [called('a', '{"at')] },
  finish_reason,
})
