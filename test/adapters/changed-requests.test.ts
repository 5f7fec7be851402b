import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { message, messageStream, named, refuses } from '../doubles/anthropic.ts'
import { type Behaviour, completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

let upstream: UpstreamDouble
let running: RunningGateway
/** A gateway whose Claude models answer at the double, too. */
const start = () =>
  startGateway(
    upstream.url,
    {},
    {
      upstreams: {
        claude: { provider: 'anthropic', base_url: upstream.url, api_keys: ['secret-of-claude'], models: ['claude-*'] },
      },
    },
  )
before(async () => {
  upstream = await startUpstream()
  running = await start()
  upstream.on('/chat/completions', json(200, completion('Hello')))
  upstream.on('/messages', json(200, message('Hello')))
})
after(async () => {
  await running.close()
  await upstream.close()
})

/** The header that names what was changed in a request. */
async function changedIn(path: string, body: object): Promise<string | null> {
  const reply = await fetch(`${running.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
    body: JSON.stringify(body),
  })
  assert.equal(reply.status, 200, await reply.text())
  return reply.headers.get('x-gazeway-changed')
}

describe('the header x-gazeway-changed', () => {
  const messages = [{ role: 'user', content: 'Hello' }]

  it('names the hints of a Messages request that chat completions cannot say', async () => {
    const asked = {
      model: 'double-chat',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      metadata: { user_id: 'one' },
      mcp_servers: [],
    }
    assert.equal(await changedIn('/messages', asked), 'context_management=dropped, cache_control=dropped')
  })

  it('names what Messages cannot say of a chat request', async () => {
    const asked = { model: 'claude-x', messages, temperature: 1.5, seed: 7, prompt_cache_key: 'one', store: false }
    assert.equal(
      await changedIn('/chat/completions', asked),
      'seed=dropped, prompt_cache_key=dropped, temperature=lowered',
    )
  })

  it('names what Messages cannot say of a Responses request in the words of Responses', async () => {
    const input = [...messages, { role: 'system', content: 'Be short.' }, ...messages]
    const asked = { model: 'claude-x', input, temperature: 1.5, text: { verbosity: 'low' }, metadata: { a: 'b' } }
    assert.equal(
      await changedIn('/responses', asked),
      'metadata=dropped, text.verbosity=dropped, temperature=lowered, input=rewritten',
    )
  })

  it('is absent when nothing was changed, and when the upstream speaks the same API', async () => {
    assert.equal(await changedIn('/messages', { model: 'double-chat', max_tokens: 100, messages }), null)
    assert.equal(await changedIn('/chat/completions', { model: 'double-chat', messages, seed: 7 }), null)
  })
})

describe('a request with parts that the API of its upstream cannot express', () => {
  const image = { type: 'image', source: { type: 'file', file_id: 'file_1' } }
  const asked = {
    model: 'double-chat',
    max_tokens: 100,
    container: 'one',
    messages: [
      { role: 'user', content: [image, { type: 'text', text: 'Hello' }, image] },
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }] },
      { role: 'user', content: 'Go on.' },
    ],
  }

  async function post(path: string, body: object, headers: Record<string, string>, key = running.key) {
    const reply = await fetch(`${running.url}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    })
    const { error } = (await reply.json()) as { error?: { message: string } }
    return { status: reply.status, changed: reply.headers.get('x-gazeway-changed'), error }
  }

  it('is refused with the field, and loses them where request or key is lenient', async () => {
    const { key } = await running.gateway.keys.create({ name: 'lenient', scopes: ['inference'], lenient: true })
    const lost =
      'container=dropped, messages.0.content.0=dropped, messages.0.content.2=dropped, messages.1.content.0=dropped'
    const refused = await post('/messages', asked, {})
    assert.equal(refused.status, 400)
    assert.match(refused.error?.message ?? '', /^container: .* With x-gazeway-lenient: true it is dropped/)
    assert.equal((await post('/messages', asked, { 'x-gazeway-lenient': 'true' })).changed, lost)
    assert.equal((await post('/messages', asked, {}, key)).changed, lost)
    const sent = upstream.received.at(-1)?.body as { messages: object[] } | undefined
    assert.deepEqual(sent?.messages, [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'Go on.' },
    ])
  })

  it('is refused where a long request would lose too many parts', async () => {
    const odd = Array.from({ length: 60 }, () => ({ type: 'odd' }))
    const sent = (fill: string) => {
      const messages = [{ role: 'user', content: [...odd, { type: 'text', text: `Hello${fill}` }] }]
      return post('/messages', { model: 'm', max_tokens: 10, messages }, { 'x-gazeway-lenient': 'true' })
    }
    assert.equal((await sent('')).status, 200)
    const { status, error } = await sent('x'.repeat(1024 * 1024))
    assert.equal(status, 400)
    assert.match(error?.message ?? '', /^messages\.0\.content\.0\.type: /)
  })

  it('is refused where it is malformed, lenient or not', async () => {
    const malformed = { model: 'claude-x', n: 2, messages: [{ role: 'user', content: [{ type: 'text', text: 7 }] }] }
    const { status, error } = await post('/chat/completions', malformed, { 'x-gazeway-lenient': 'true' })
    assert.equal(status, 400)
    assert.match(error?.message ?? '', /^messages\.0\.content\.0\.text: must be text/)
  })
})

describe('an answer of Claude without a limit of its client', () => {
  const asked = { model: 'claude-x', messages: [{ role: 'user', content: 'Hello' }] }
  const lastSent = () => upstream.received.at(-1)?.body as { max_tokens?: number; stream?: boolean }
  let fresh: RunningGateway
  let client: OpenAI
  before(async () => {
    upstream.on('/models', json(200, { data: [{ id: 'claude-x', max_tokens: 64_000, max_input_tokens: 200_000 }] }))
    upstream.on('/messages', impatient)
    fresh = await start()
    client = new OpenAI({ baseURL: `${fresh.url}/v1`, apiKey: fresh.key, maxRetries: 0 })
  })
  after(() => fresh.close())

  it('has the limit that the list of models states, and is streamed and gathered where that is long', async () => {
    const whole = await client.chat.completions.create(asked as never)
    assert.equal((whole as OpenAI.ChatCompletion).choices[0]?.message.content, 'Hello')
    assert.deepEqual([lastSent().max_tokens, lastSent().stream], [64_000, true])
    await client.chat.completions.create({ ...asked, max_tokens: 50 } as never)
    assert.deepEqual([lastSent().max_tokens, lastSent().stream], [50, undefined])
    await client.chat.completions.create({ ...asked, model: 'claude-opus-4-1-20250805', max_tokens: 9000 } as never)
    assert.deepEqual([lastSent().max_tokens, lastSent().stream], [9000, true])
  })

  it('has it for a request as Codex sends it, streamed or whole', async () => {
    const codex = {
      model: 'claude-x',
      instructions: 'You are a coding agent.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      tools: [{ type: 'function', name: 'shell', parameters: { type: 'object', properties: {} }, strict: false }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'auto' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'thread-1',
    }
    const streamed = await client.responses.stream(codex as never).finalResponse()
    const whole = await client.responses.create(codex as never)
    for (const { status, output_text } of [streamed, whole])
      assert.deepEqual([status, output_text], ['completed', 'Hello'])
    for (const { body } of upstream.received.slice(-2))
      assert.deepEqual([(body as Fields).max_tokens, (body as Fields).stream], [64_000, true])
  })

  it('is streamed and gathered, too, where Anthropic refuses a long answer to its own API', async () => {
    for (const [max_tokens, changed] of [
      [32_000, 'stream=added'],
      [50, null],
    ] as const) {
      const reply = await fetch(`${fresh.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${fresh.key}` },
        body: JSON.stringify({ ...asked, max_tokens }),
      })
      const { content } = (await reply.json()) as { content: { text: string }[] }
      assert.deepEqual([content[0]?.text, reply.headers.get('x-gazeway-changed')], ['Hello', changed])
    }
  })
})

type Fields = Record<string, unknown>

/**
 * Claude that lets nobody wait for a whole answer of more than ten minutes, at 128,000 tokens an hour:
 * https://github.com/anthropics/anthropic-sdk-typescript#long-requests
 */
const impatient: Behaviour = (reply, request) => {
  const { max_tokens, stream } = request.body as { max_tokens: number; stream?: boolean }
  if (stream === true) return named(messageStream(['Hello']))(reply, request)
  if ((max_tokens * 60) / 128_000 <= 10) return json(200, message('Hello'))(reply, request)
  const why = 'Streaming is required for operations that may take longer than 10 minutes.'
  return refuses(400, 'invalid_request_error', why)(reply, request)
}

describe('a refusal of what Messages cannot say', () => {
  it('names the field of the Responses request, wherever its messages come to stand', async () => {
    const file = [
      { type: 'input_text', text: 'Read.' },
      { type: 'input_file', file_id: 'file-1' },
    ]
    const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'Nothing.' }
    const user = (content: unknown) => ({ type: 'message', role: 'user', content })
    const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 })
    for (const [input, more, param] of [
      [[user(file)], {}, 'input.0.content.1'],
      [[user('Hello'), call, result, user('Go on.'), user(file)], { instructions: 'Be short.' }, 'input.4.content.1'],
      [[user('Hello')], { top_logprobs: 2, include: ['message.output_text.logprobs'] }, 'top_logprobs'],
    ] as const)
      await assert.rejects(
        client.responses.create({ model: 'claude-x', input: input as never, ...(more as object) }),
        (error) => error instanceof OpenAI.APIError && error.param === param && error.message.includes(`${param}: `),
        param,
      )
  })
})
