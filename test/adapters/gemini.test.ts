import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { message, messageStream, named } from '../doubles/anthropic.ts'
import { connectGenai, type Genai, partsOf, piecesOf } from '../doubles/genai.ts'
import { claudeLike, DELIVERED, deepSeekLike, geminiLike, openRouterLike } from '../doubles/thinking.ts'
import { chunks, completion, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const HELLO = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const LOOK = { name: 'look', description: 'Looks.', parametersJsonSchema: { type: 'object', properties: {} } }
const TOOLS = [{ functionDeclarations: [LOOK] }]
const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'look', arguments: args } })
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  model: 'double-chat',
  choices: [{ index: 0, delta, finish_reason, ...more }],
})
const STREAM = '/v1beta/models/double-chat:streamGenerateContent'

type Fields = Record<string, unknown>
type Parts = ReturnType<typeof partsOf>

let upstream: UpstreamDouble
let running: RunningGateway
let genai: Genai

const lastBody = () => upstream.received.at(-1)?.body as Record<string, unknown>
const answers = (...events: object[]) => upstream.on('/chat/completions', sse(events))

/** The record of the next call that ends. */
function nextRecord(): Promise<CallRecord> {
  return new Promise((resolve) => {
    const stop = running.gateway.calls.listen((record) => {
      stop()
      resolve(record)
    })
  })
}

/** Asks by HTTP with a key of the gateway. */
const post = (path: string, body: unknown, headers: Record<string, string> = { 'x-goog-api-key': running.key }) =>
  fetch(running.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

before(async () => {
  upstream = await startUpstream()
  const claude = { provider: upstream.url, protocol: 'anthropic', api_keys: ['claude-secret-key'] }
  running = await startGateway(upstream.url, {}, { upstreams: { claude } })
  genai = await connectGenai(running)
})
after(async () => {
  await running.close()
  await upstream.close()
})

describe('Requests of Google’s API to an upstream that speaks chat completions', () => {
  it('are answered whole, with counts, and recorded', async () => {
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 9,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 12 },
      completion_tokens_details: { reasoning_tokens: 4 },
    }
    upstream.on('/chat/completions', json(200, completion('Hi.', usage)))
    const recorded = nextRecord()
    const reply = await genai.models.generateContent({
      model: 'double-chat',
      contents: HELLO,
      config: {
        systemInstruction: 'Be brief.',
        maxOutputTokens: 100,
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        stopSequences: ['END'],
        seed: 7,
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { at: { type: 'INTEGER', nullable: true } }, required: ['at'] },
      },
    })
    assert.equal(reply.text, 'Hi.')
    assert.deepEqual(reply.usageMetadata, {
      promptTokenCount: 20,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      cachedContentTokenCount: 12,
      totalTokenCount: 29,
    })
    assert.deepEqual([reply.modelVersion, reply.responseId], ['double-chat', 'chatcmpl-1'])
    assert.equal(reply.candidates?.[0]?.finishReason, 'STOP')
    const schema = { type: 'object', properties: { at: { type: ['integer', 'null'] } }, required: ['at'] }
    assert.deepEqual(lastBody(), {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop: ['END'],
      seed: 7,
      response_format: { type: 'json_schema', json_schema: { name: 'response', schema } },
      model: 'double-chat',
    })
    const { status, requested_model, usage: counted } = await recorded
    assert.deepEqual([status, requested_model, counted?.total_tokens], ['ok', 'double-chat', 29])
  })

  it('may write numbers as text, as JSON of protocol buffers does', async () => {
    upstream.on('/chat/completions', json(200, completion('Hi.')))
    const generationConfig = {
      max_output_tokens: '100',
      candidateCount: '1',
      temperature: '0.5',
      topK: '40',
      seed: '-7',
    }
    await post('/v1beta/models/double-chat:generateContent', { contents: HELLO, generationConfig })
    const { max_tokens, n, temperature, top_k, seed } = lastBody() as Record<string, unknown>
    assert.deepEqual([max_tokens, n, temperature, top_k, seed], [100, 1, 0.5, 40, -7])
  })

  it('stream text, thoughts and parallel calls, whose ids and signatures come back', async () => {
    answers(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ content: 'I ' }),
      chunk({ content: 'look.' }),
      chunk({ tool_calls: [{ index: 0, ...call('a', '') }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"at":12345678901234567890}' } }] }),
      chunk({ tool_calls: [{ index: 1, ...call('b', '{"at":2}') }] }),
      chunk({}, 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 } },
    )
    const asked = {
      model: 'double-chat',
      contents: HELLO,
      config: { tools: TOOLS, thinkingConfig: { includeThoughts: true } },
    }
    const pieces = await piecesOf(await genai.models.generateContentStream(asked))
    const parts = partsOf(pieces)
    assert.deepEqual(
      parts.map(({ text, thought, functionCall }) => [text ?? functionCall?.id, thought === true]),
      [
        ['Hm.', true],
        ['I ', false],
        ['look.', false],
        ['a', false],
        ['b', false],
      ],
    )
    assert.match(parts[1]?.thoughtSignature ?? '', /^[A-Za-z0-9+/]+=*$/)
    assert.equal(pieces.at(-1)?.candidates?.[0]?.finishReason, 'STOP')
    assert.equal(pieces.at(-1)?.usageMetadata?.totalTokenCount, 29)
    const responses = ['b', 'a'].map((id) => ({
      functionResponse: { id, name: 'look', response: { output: `seen ${id}` } },
    }))
    // As clients send them that keep no ids.
    const bare = [{ functionCall: { name: 'look', args: { at: 1 } } }, { functionCall: { name: 'look', args: {} } }]
    const unnamed = [1, 2].map((n) => ({ functionResponse: { name: 'look', response: { error: `no ${n}` } } }))
    upstream.on('/chat/completions', json(200, completion('Done.')))
    await genai.models.generateContent({
      ...asked,
      contents: [
        ...HELLO,
        { role: 'model', parts },
        { role: 'user', parts: responses },
        { role: 'model', parts: bare },
        { role: 'user', parts: unnamed },
      ],
    })
    const messages = lastBody().messages as Record<string, unknown>[]
    assert.deepEqual(messages[1], {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'Hm.',
      tool_calls: [call('a', '{"at":12345678901234567000}'), call('b', '{"at":2}')],
    })
    assert.deepEqual(
      messages.slice(2).map(({ role, tool_call_id, content }) => [role, tool_call_id, content]),
      [
        ['tool', 'a', 'seen a'],
        ['tool', 'b', 'seen b'],
        ['assistant', undefined, null],
        ['tool', 'call_3_0', 'Error: no 1'],
        ['tool', 'call_3_1', 'Error: no 2'],
      ],
    )
  })

  it('stream as a list where they do not ask for events, and take names with underscores', async () => {
    answers(...chunks(['Hel', 'lo.']))
    const body = {
      contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }, { text: 'What?' }] }],
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      generation_config: { max_output_tokens: 50, candidate_count: 2 },
    }
    const reply = await post(`${STREAM}?key=${running.key}`, body, {})
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    const pieces = (await reply.json()) as Parameters<typeof partsOf>[0]
    assert.equal(
      partsOf(pieces)
        .map(({ text }) => text)
        .join(''),
      'Hello.',
    )
    const { messages, max_tokens, n } = lastBody()
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    assert.deepEqual(messages, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [image, { type: 'text', text: 'What?' }] },
    ])
    assert.deepEqual([max_tokens, n], [50, 2])
    assert.ok(!running.logged.join('').includes(running.key), 'no key in the log')
  })

  it('get answers that are cut off, refused or broken with Google’s reasons', async () => {
    const half = call('a', '{"at":')
    for (const [message, finish, reason, parts] of [
      [{ content: 'Hel' }, 'length', 'MAX_TOKENS', [{ text: 'Hel' }]],
      [{ content: null, tool_calls: [half] }, 'length', 'MAX_TOKENS', [{ text: '' }]],
      [{ content: '' }, 'content_filter', 'SAFETY', [{ text: '' }]],
      [{ content: '' }, 'RECITATION', 'RECITATION', [{ text: '' }]],
      [{ content: null, refusal: 'No.' }, 'stop', 'SAFETY', [{ text: 'No.' }]],
    ] as const) {
      const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }]
      upstream.on('/chat/completions', json(200, { ...completion(''), choices }))
      const { candidates } = await genai.models.generateContent({ model: 'double-chat', contents: HELLO })
      assert.deepEqual([candidates?.[0]?.finishReason, candidates?.[0]?.content.parts], [reason, parts])
    }
    answers(chunk({ content: 'I look.' }), chunk({ tool_calls: [{ index: 0, ...half }] }), chunk({}, 'tool_calls'))
    const recorded = nextRecord()
    const asked = { model: 'double-chat', contents: HELLO, config: { tools: TOOLS } }
    const pieces = await piecesOf(await genai.models.generateContentStream(asked))
    assert.equal(pieces.at(-1)?.candidates?.[0]?.finishReason, 'MALFORMED_FUNCTION_CALL')
    assert.equal((await recorded).status, 'error')
  })

  it('are refused for what chat completions cannot say, with the path, and lose it where they are lenient', async () => {
    const path = '/v1beta/models/double-chat:generateContent'
    const video = { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } }
    for (const [more, field] of [
      [{ cachedContent: 'cachedContents/1' }, 'cachedContent'],
      [{ tools: [{ googleSearch: {} }] }, 'tools.0.googleSearch'],
      [{ contents: [{ role: 'user', parts: [{ text: 'See' }, video] }] }, 'contents.0.parts.1.fileData.fileUri'],
      [{ contents: [{ role: 'user', parts: [{ text: 3 }] }] }, 'contents.0.parts.0.text'],
      [{ contents: [{ role: 'tool', parts: [{ text: 'x' }] }] }, 'contents.0.role'],
      [{ generationConfig: { responseModalities: ['IMAGE'] } }, 'generationConfig.responseModalities.0'],
      [{ generationConfig: { maxOutputTokens: -1 } }, 'generationConfig.maxOutputTokens'],
      [{ generationConfig: { maxOutputTokens: 'many' } }, 'generationConfig.maxOutputTokens'],
      [{ stream: true }, 'stream'],
    ] as const) {
      const reply = await post(path, { contents: HELLO, ...more })
      const { error } = (await reply.json()) as { error: { code: number; message: string; status: string } }
      assert.deepEqual([reply.status, error.code, error.status], [400, 400, 'INVALID_ARGUMENT'])
      assert.ok(error.message.startsWith(`${field}: `), error.message)
    }
    upstream.on('/chat/completions', json(200, completion('Hi.')))
    const body = { contents: HELLO, safetySettings: [{}], tools: [{ googleSearch: {} }] }
    const lenient = await post(path, body, { 'x-goog-api-key': running.key, 'x-gazeway-lenient': 'true' })
    assert.equal(lenient.headers.get('x-gazeway-changed'), 'safetySettings=dropped, tools.0.googleSearch=dropped')
  })

  it('read of money in their own words: the limit of an answer is maxOutputTokens', async () => {
    const limits = { credit_limit_usd: 0.0001 }
    const { key } = await running.gateway.keys.create({ name: 'poor', scopes: ['inference'], billing: 'cost', limits })
    const asked = { contents: HELLO, generationConfig: { maxOutputTokens: 9000 } }
    const reply = await post('/v1beta/models/double-chat:generateContent', asked, { 'x-goog-api-key': key })
    const { error } = (await reply.json()) as { error: { code: number; message: string } }
    assert.equal(error.code, 402)
    assert.match(error.message, /lower maxOutputTokens,/)
  })

  it('get errors in Google’s form: of keys, limits, windows and streams', async () => {
    const path = '/v1beta/models/double-chat:generateContent'
    const unknown = await post(path, { contents: HELLO }, { 'x-goog-api-key': 'gzw_unknown' })
    const { error } = (await unknown.json()) as { error: { code: number; status: string; details: object[] } }
    assert.deepEqual([unknown.status, error.code, error.status], [401, 401, 'UNAUTHENTICATED'])
    const overflow = {
      error: {
        message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        code: 'context_length_exceeded',
      },
    }
    for (const [behaviour, status, pattern] of [
      [
        json(400, overflow),
        400,
        /The input token count \(9000\) exceeds the maximum number of tokens allowed \(8192\)\./,
      ],
      [json(429, { error: { message: 'slow down' } }, { 'retry-after': '3' }), 429, /RetryInfo.*"retryDelay.{1,5}3s/],
    ] as const) {
      upstream.on('/chat/completions', behaviour)
      await assert.rejects(
        genai.models.generateContent({ model: 'double-chat', contents: HELLO }),
        (fault: Error & { status?: number }) => fault.status === status && pattern.test(fault.message),
      )
    }
    upstream.on('/chat/completions', sse([chunk({ content: 'Hel' })], 'break'))
    const asked = { model: 'double-chat', contents: HELLO }
    await assert.rejects(async () => piecesOf(await genai.models.generateContentStream(asked)), /UNAVAILABLE|50\d/)
    assert.equal((await post('/v1beta/models/x:embedContent', {})).status, 404)
  })

  it('are for no model where their path names none, and are the same with an escaped colon', async () => {
    const asked = upstream.received.length
    assert.equal((await post('/v1beta/models/generateContent', { contents: HELLO })).status, 404)
    const enclosed = await post('/v1beta/models/double-chat:generateContent', {
      generateContentRequest: { contents: HELLO },
    })
    assert.equal(enclosed.status, 400, 'only countTokens takes an enclosed request')
    const { error: missing } = (await enclosed.json()) as { error: { code: number; status: string } }
    assert.deepEqual([missing.code, missing.status], [400, 'INVALID_ARGUMENT'])
    const path = '/v1/models/double-chat%3AgenerateContent'
    const refused = await post(`${path}?key=gzw_unknown`, { contents: HELLO }, {})
    const { error } = (await refused.json()) as { error: { status: string } }
    assert.deepEqual([refused.status, error.status, upstream.received.length], [401, 'UNAUTHENTICATED', asked])
    upstream.on('/chat/completions', json(200, completion('Hi.')))
    assert.equal((await post(`${path}?key=${running.key}`, { contents: HELLO }, {})).status, 200)
  })

  it('get counts that add up, whether thoughts are within the completion or in the total alone', async () => {
    for (const [completion_tokens, total_tokens, completion_tokens_details, counted] of [
      [105, 115, { reasoning_tokens: 100 }, [5, 100, 115]],
      [5, 115, { reasoning_tokens: 100 }, [5, 100, 115]],
      [5, 115, undefined, [5, 100, 115]],
      [5, 15, undefined, [5, undefined, 15]],
    ] as const) {
      const usage = { prompt_tokens: 10, completion_tokens, total_tokens, completion_tokens_details }
      upstream.on('/chat/completions', json(200, completion('Hi.', usage)))
      const { usageMetadata = {} } = await genai.models.generateContent({ model: 'double-chat', contents: HELLO })
      const { candidatesTokenCount, thoughtsTokenCount, totalTokenCount } = usageMetadata
      assert.deepEqual([candidatesTokenCount, thoughtsTokenCount, totalTokenCount], counted)
    }
  })

  it('count tokens, and list models', async () => {
    const counted = await genai.models.countTokens({ model: 'double-chat', contents: HELLO })
    assert.ok(counted.totalTokens > 0, String(counted.totalTokens))
    const names: string[] = []
    for await (const { name } of await genai.models.list({ config: { pageSize: 1 } })) names.push(name)
    assert.ok(names.includes('models/llm-3-fast'), String(names))
    const { name } = await genai.models.get({ model: 'llm-3-fast' })
    assert.equal(name, 'models/llm-3-fast')
  })
})

describe('Requests of Google’s API to an upstream that speaks Messages', () => {
  it('are answered whole and streamed, with calls', async () => {
    const uses = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
    ]
    upstream.on('/messages', json(200, message(uses, { stop_reason: 'tool_use' })))
    const asked = { model: 'claude/claude-x', contents: HELLO, config: { tools: TOOLS, maxOutputTokens: 99 } }
    const whole = await genai.models.generateContent(asked)
    assert.deepEqual(
      whole.functionCalls?.map(({ id, name, args }) => [id, name, args]),
      [['toolu_1', 'look', { at: 1 }]],
    )
    assert.deepEqual(lastBody(), {
      max_tokens: 99,
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ name: 'look', description: 'Looks.', input_schema: LOOK.parametersJsonSchema }],
      model: 'claude-x',
    })
    const several = await post('/v1beta/models/claude/claude-x:generateContent', {
      contents: HELLO,
      generationConfig: { candidateCount: 2 },
    })
    const { error } = (await several.json()) as { error: { message: string } }
    assert.match(error.message, /^generationConfig\.candidateCount: /)
    upstream.on('/messages', named(messageStream(['Hel', 'lo.'])))
    const pieces = await piecesOf(await genai.models.generateContentStream(asked))
    assert.equal(pieces.map(({ text }) => text ?? '').join(''), 'Hello.')
    assert.deepEqual(pieces.at(-1)?.usageMetadata?.cachedContentTokenCount, 4)
  })
})

describe('Reasoning of a model that is asked by Google’s API', () => {
  const parcel = { type: 'object', properties: { parcel: { type: 'string' } }, required: ['parcel'] }
  const tools = [{ functionDeclarations: [{ name: 'parcel_status', parametersJsonSchema: parcel }] }]
  const LOST = /skip_thought_signature_validator|"reasoning_content":""/
  const PROVIDERS = [
    ['Gemini 3', geminiLike(), 'double-chat'],
    ['Gemini 3 that signs late', geminiLike({ isLate: true }), 'double-chat'],
    ['OpenRouter', openRouterLike(), 'double-chat'],
    ['Claude', claudeLike(), 'claude/claude-3-7-sonnet'],
  ] as const

  /** Asks until no function is called. @returns the last text. Null without one */
  async function askThrough(model: string, ask: (asked: Fields) => Promise<Parts>, bring: (parts: Parts) => object[]) {
    const thinkingConfig = { thinkingBudget: 2000 }
    const contents: object[] = [{ role: 'user', parts: [{ text: 'What is the status of P-42?' }] }]
    for (let turn = 0; turn < 4; turn++) {
      const parts = await ask({ model, contents, config: { tools, thinkingConfig, maxOutputTokens: 8000 } })
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
      if (calls.length === 0) return parts.map(({ text }) => text).join('')
      const response = { output: 'delivered on Friday' }
      const results = calls.map(({ name }) => ({ functionResponse: { name, response } }))
      contents.push({ role: 'model', parts: bring(parts) }, { role: 'user', parts: results })
    }
    return null
  }
  const streamed = async (asked: Fields) => partsOf(await piecesOf(await genai.models.generateContentStream(asked)))
  const whole = async (asked: Fields) => partsOf([await genai.models.generateContent(asked)])
  const withoutIds = ({ functionCall: call, ...part }: Parts[number]) =>
    call === undefined ? part : { ...part, functionCall: { name: call.name, args: call.args } }

  for (const [name, provider, model] of PROVIDERS)
    it(`comes back in signatures: ${name}`, async () => {
      upstream.on(provider.path, provider.behaviour)
      upstream.received.length = 0
      const brought = (parts: Parts) => parts.map(withoutIds)
      assert.equal(await askThrough(model, streamed, brought), DELIVERED)
      assert.doesNotMatch(String(upstream.received.map(({ text }) => text)), LOST)
    })

  for (const [name, provider, model] of [...PROVIDERS, ['DeepSeek', deepSeekLike(), 'double-chat'] as const])
    it(`is put back where a resumed session brings calls without signatures: ${name}`, async () => {
      upstream.on(provider.path, provider.behaviour)
      for (const [ask, signature] of [
        [streamed, undefined],
        [whole, 'skip_thought_signature_validator'],
      ] as const) {
        // The double that signs late only streams.
        if (ask === whole && name.endsWith('late')) continue
        upstream.received.length = 0
        const brought = (parts: Parts) =>
          parts.flatMap(({ functionCall }) => (functionCall ? { functionCall, thoughtSignature: signature } : []))
        assert.equal(await askThrough(model, ask, brought), DELIVERED)
        assert.equal(upstream.received.length, 2, 'no request was refused')
        assert.match(upstream.received[1]?.text ?? '', provider.state)
      }
    })

  it('is not put back for another key', async () => {
    const { path, behaviour, state } = geminiLike()
    upstream.on(path, behaviour)
    upstream.received.length = 0
    const other = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    const theirs = await connectGenai({ url: running.url, key: other.key })
    const ask = async (asked: Fields) =>
      partsOf([await (upstream.received.length === 0 ? genai : theirs).models.generateContent(asked)])
    const brought = (parts: Parts) => parts.map(({ functionCall }) => ({ functionCall }))
    assert.equal(await askThrough('double-chat', ask, brought), DELIVERED)
    assert.ok(upstream.received.length > 1)
    assert.doesNotMatch(String(upstream.received.map(({ text }) => text)), state)
  })
})
