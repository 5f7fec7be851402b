import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type * as z from 'zod'
import type { CallRecord } from '../../src/calls/call-record.ts'
import type { NewKey } from '../../src/identity/keys.ts'
import { type GeminiDouble, KEY, MODEL, SHORT_MODEL, SIGNATURE, startGemini } from '../doubles/gemini.ts'
import { connectGenai, type Genai, partsOf, piecesOf } from '../doubles/genai.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const HELLO = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const LOOK = { name: 'look', parametersJsonSchema: { type: 'object', properties: { at: { type: 'integer' } } } }
const CALL = { functionCall: { name: 'look', args: { at: 1 } } }
const ANSWER = { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'a cat' } } }] }
const USAGE = {
  promptTokenCount: 100,
  toolUsePromptTokenCount: 20,
  cachedContentTokenCount: 60,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 5,
  totalTokenCount: 132,
}
const piece = (parts: object[], more: object = {}, usageMetadata: object = USAGE) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata,
  modelVersion: MODEL,
  responseId: 'r1',
})
const STOP = { finishReason: 'STOP' }
const path = (method: string, model = MODEL) => `/v1beta/models/${model}:${method}`
const SMALL: z.input<typeof NewKey> = { name: 'small', scopes: ['inference'] }
const BUDGET: Partial<z.input<typeof NewKey>> = { limits: { budgets: [{ usd: 5, per: 'day' }] } }

let google: GeminiDouble
let running: RunningGateway
let genai: Genai
let bounded: string

const last = () => google.received.at(-1) as GeminiDouble['received'][number]

function nextRecord(): Promise<CallRecord> {
  return new Promise((resolve) => {
    const stop = running.gateway.calls.listen((record) => {
      stop()
      resolve(record)
    })
  })
}

const post = (target: string, body: unknown, key = running.key) =>
  fetch(running.url + target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

before(async () => {
  google = await startGemini()
  const upstream = { provider: 'gemini', base_url: google.url, api_keys: [KEY], aliases: { nimble: MODEL } }
  const theirs = { ...upstream, api_keys: ['key-that-google-refuses'], own_keys: 'allow' }
  running = await startGateway(null, {}, { upstream: { provider: 'sandbox' }, upstreams: { google: upstream, theirs } })
  genai = await connectGenai(running)
  bounded = (await running.gateway.keys.create({ name: 'bounded', scopes: ['inference'], ...BUDGET })).key
})
after(async () => {
  await running.close()
  await google.close()
})
beforeEach(() => google.on({ pieces: [piece([{ text: 'Hi.' }], STOP)] }))

describe('Requests of Google’s API to Google', () => {
  it('pass byte for byte, with Google’s key, and count thoughts, tools and the cache', async () => {
    const body = `{ "contents":[{"parts":[{"text":"Hello"}]}],\n "generation_config": {"seed": 12345678901234567890} }`
    const recorded = nextRecord()
    const reply = await post(path('generateContent', 'google/nimble'), body)
    assert.deepEqual(await reply.json(), piece([{ text: 'Hi.' }], STOP))
    const { text, headers, path: asked } = last()
    assert.deepEqual([text, asked, headers['x-goog-api-key']], [body, path('generateContent'), KEY])
    const { status, path: endpoint, usage } = await recorded
    assert.deepEqual([status, endpoint], ['ok', '/v1/generateContent'])
    assert.deepEqual(usage, { prompt_tokens: 120, completion_tokens: 12, total_tokens: 132, cached_tokens: 60 })
  })

  it('stream a session of calls with their signatures, as events and as a list', async () => {
    const thought = piece([{ text: 'Hm.', thought: true }], {}, { promptTokenCount: 100, totalTokenCount: 100 })
    google.on(
      { pieces: [thought, piece([{ ...CALL, thoughtSignature: SIGNATURE }], STOP)] },
      { pieces: [piece([{ text: 'A ' }]), piece([{ text: 'cat.' }], STOP)] },
    )
    const config = { tools: [{ functionDeclarations: [LOOK] }], thinkingConfig: { includeThoughts: true } }
    const asked = { model: `google/${MODEL}`, contents: HELLO, config }
    const parts = partsOf(await piecesOf(await genai.models.generateContentStream(asked)))
    assert.deepEqual(parts[0], { text: 'Hm.', thought: true })
    const contents = [...HELLO, { role: 'model', parts: parts.slice(1) }, ANSWER]
    const recorded = nextRecord()
    const listed = await post(path('streamGenerateContent', `google/${MODEL}`), { contents, tools: config.tools })
    assert.deepEqual(await listed.json(), [piece([{ text: 'A ' }]), piece([{ text: 'cat.' }], STOP)])
    assert.match(last().path, /:streamGenerateContent\?alt=sse$/)
    assert.equal((await recorded).usage?.completion_tokens, 12)
  })

  it('get Google’s own errors, without its key', async () => {
    const unsigned = [...HELLO, { role: 'model', parts: [CALL] }, ANSWER]
    const cases: [object, RegExp][] = [
      [{ contents: HELLO, temperature: 1 }, /Unknown name "temperature": Cannot find field/],
      [{ contents: unsigned }, /missing a thought_signature/],
      [{ contents: unsigned.slice(0, 2) }, /number of function response parts is equal/],
    ]
    for (const [body, message] of cases) {
      const reply = await post(path('generateContent', `google/${MODEL}`), body)
      const { error } = (await reply.json()) as { error: { status: string; message: string } }
      assert.deepEqual([reply.status, error.status], [400, 'INVALID_ARGUMENT'])
      assert.match(error.message, message)
    }
    google.on({ status: 429, body: { error: { code: 429, message: `Quota of ${KEY}`, status: 'RESOURCE_EXHAUSTED' } } })
    const limited = await post(path('generateContent', `google/${MODEL}`), { contents: HELLO })
    assert.equal(limited.status, 429)
    assert.doesNotMatch(await limited.text(), new RegExp(KEY))
  })

  it('end in an error where the stream breaks off, and in none where a prompt is blocked', async () => {
    for (const part of [{ text: 'A ' }, { functionCall: { name: 'look', args: STOP } }]) {
      google.on({ pieces: [piece([part])], breaksOff: true })
      const recorded = nextRecord()
      const broken = await post(`${path('streamGenerateContent', `google/${MODEL}`)}?alt=sse`, { contents: HELLO })
      const [first, ...rest] = (await broken.text()).trim().split(/\r?\n\r?\n/)
      assert.match(String(first), new RegExp(Object.keys(part).join()))
      assert.match(rest.join(), /^data: \{"error":\{"code":502/)
      assert.equal((await recorded).status, 'error')
    }
    google.on({ pieces: [{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } }] })
    for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
      const recorded = nextRecord()
      const reply = await post(path(method, `google/${MODEL}`), { contents: HELLO })
      assert.match(await reply.text(), /blockReason/)
      const { status, usage } = await recorded
      assert.deepEqual([status, usage?.prompt_tokens], ['ok', 4])
    }
  })

  it('are limited for keys with a budget, in one spelling, and pay for searches', async () => {
    const grounded = { ...STOP, groundingMetadata: { webSearchQueries: ['a', 'b'] } }
    google.on({ pieces: [piece([{ text: 'Hi.' }], grounded)] })
    const recorded = nextRecord()
    const config = '"generation_config":{"max_output_tokens":70,"topK":3}'
    const tools = '"tools":[{"urlContext":{}}],"tools":[{"googleSearch":{}}]'
    const body = `{"contents":${JSON.stringify(HELLO)},${config},${tools}}`
    assert.equal((await post(path('generateContent', `google/${MODEL}`), body, bounded)).status, 200)
    assert.deepEqual(last().body, {
      contents: HELLO,
      tools: [{ googleSearch: {} }],
      generationConfig: { maxOutputTokens: 70, topK: 3 },
    })
    // 60 tokens at 0.75, 60 cached at 0.075, 12 at 3.75 USD per million, and two searches of 0.014 USD.
    assert.equal((await recorded).upstream_cost_usd, 0.028095)
    await post(path('generateContent', `google/${MODEL}`), { contents: HELLO }, bounded)
    assert.deepEqual(last().body.generationConfig, { maxOutputTokens: 65_536 })
    const refused = await post(
      path('generateContent', `google/${MODEL}`),
      { contents: HELLO, tools: [{ newTool: {} }] },
      bounded,
    )
    assert.match(await refused.text(), /tools.0.newTool: is not known/)
    // An open key asks what it likes.
    await post(path('generateContent', `google/${MODEL}`), { contents: HELLO, cachedContent: 'cachedContents/a' })
    assert.deepEqual(last().body, { contents: HELLO, cachedContent: 'cachedContents/a' })
  })

  it('reserve the context of the model for what Google reads, whatever its length', async () => {
    const keyWith = async (usd: number) =>
      (await running.gateway.keys.create({ ...SMALL, limits: { budgets: [{ usd, per: 'day' }] } })).key
    const [small, enough] = [await keyWith(0.07), await keyWith(0.5)]
    const film = { fileData: { fileUri: 'https://youtu.be/an-hour' } }
    const generationConfig = { maxOutputTokens: 10 }
    // The context at 0.075 USD for 1,000,000 tokens where it is cached, else at 0.75.
    const cases: [object, string, string][] = [
      [{ cachedContent: 'cachedContents/a' }, 'cachedContent', small],
      [{ cached_content: 'cachedContents/a' }, 'cached_content', small],
      [{ contents: [{ parts: [film] }] }, 'contents', enough],
      [{ contents: [{ parts: { file_data: { file_uri: 'files/a', mime_type: 'video/mp4' } } }] }, 'contents', enough],
    ]
    for (const [more, field, key] of cases) {
      const asked = { contents: HELLO, generationConfig, ...more }
      const reply = await post(path('generateContent', `google/${MODEL}`), asked, key)
      assert.equal(reply.status, 402)
      assert.match(await reply.text(), new RegExp(`"field":"${field}"`))
      const paid = key === small ? enough : bounded
      assert.equal((await post(path('generateContent', `google/${MODEL}`), asked, paid)).status, 200)
    }
    await post(path('generateContent', `google/${MODEL}`), { contents: HELLO, cachedContent: 'c' }, bounded)
    assert.deepEqual(last().body.generationConfig, { maxOutputTokens: 65_536 })
  })

  it('cost the tier that they ask for, where the reply names none, in each spelling', async () => {
    const asked = (tier: string) => `{"contents":${JSON.stringify(HELLO)},"generationConfig":{"seed":1},${tier}}`
    // 0.0000945 USD at the standard price: 60 tokens at 0.75, 60 cached at 0.075, 12 at 3.75 for 1,000,000.
    const cases: [string, number][] = [
      ['"serviceTier":"priority"', 0.000189],
      ['"service_tier":"PRIORITY"', 0.000189],
      ['"serviceTier":"express"', 0.000189],
      ['"serviceTier":"STANDARD"', 0.000095],
      ['"serviceTier":"flex"', 0.000048],
    ]
    for (const [tier, usd] of cases) {
      const recorded = nextRecord()
      assert.equal((await post(path('generateContent', `google/${MODEL}`), asked(tier), bounded)).status, 200)
      assert.equal((await recorded).upstream_cost_usd, usd, tier)
    }
    const numbered = await post(path('generateContent', `google/${MODEL}`), asked('"serviceTier":3'), bounded)
    assert.match(await numbered.text(), /serviceTier: must be a text/)
  })

  it('have no field twice, of which one is null, where their key has a budget', async () => {
    const film = '{"fileData":{"fileUri":"https://youtu.be/an-hour"},"fileData":null,"text":"Hello"}'
    const twice = `{"contents":[{"parts":[${film}]}],"cachedContent":"cachedContents/a","cachedContent":null}`
    assert.equal((await post(path('generateContent', `google/${MODEL}`), twice, bounded)).status, 200)
    assert.doesNotMatch(last().text, /youtu|cachedContents/)
    await post(path('generateContent', `google/${MODEL}`), twice)
    assert.match(last().text, /youtu/)
  })

  it('pay for code and images of a stream that reports no usage', async () => {
    for (const part of [{ executableCode: { code: 'x' } }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }]) {
      google.on({ pieces: [{ candidates: [{ content: { role: 'model', parts: [part] }, ...STOP }] }] })
      const recorded = nextRecord()
      await (await post(path('streamGenerateContent', `google/${MODEL}`), { contents: HELLO })).text()
      assert.ok(((await recorded).usage?.completion_tokens ?? 0) > 0)
    }
  })

  it('are sent again with a lower limit, and then with it at once, where Google refuses the one that was added', async () => {
    for (const changed of ['generationConfig.maxOutputTokens=lowered', null]) {
      const before = google.received.length
      const reply = await post(path('generateContent', `google/${SHORT_MODEL}`), { contents: HELLO }, bounded)
      assert.deepEqual([reply.status, reply.headers.get('x-gazeway-changed')], [200, changed])
      const limits = google.received.slice(before).map(({ body }) => body.generationConfig)
      assert.deepEqual(limits.at(-1), { maxOutputTokens: 4096 })
      assert.equal(limits.length, changed === null ? 1 : 2)
    }
    const generationConfig = { maxOutputTokens: 9000 }
    const own = await post(
      path('generateContent', `google/${SHORT_MODEL}`),
      { contents: HELLO, generationConfig },
      bounded,
    )
    assert.equal(own.status, 400)
  })

  it('are counted and embedded by Google, as the client wrote them', async () => {
    const counted = await genai.models.countTokens({ model: `google/${MODEL}`, contents: 'Hello' })
    assert.equal(counted.totalTokens, 31)
    const enclosed = { generateContentRequest: { model: 'models/google/nimble', contents: HELLO, tools: [] } }
    const reply = await post(path('countTokens', 'google/nimble'), enclosed)
    assert.deepEqual([reply.status, await reply.json()], [200, { totalTokens: 31 }])
    const recorded = nextRecord()
    const one = await post(path('embedContent', 'google/gemini-embedding-2'), { content: HELLO[0] })
    assert.deepEqual(((await one.json()) as { embedding: object }).embedding, { values: [0.1, 0.2] })
    assert.deepEqual([(await recorded).path, (await recorded).usage?.prompt_tokens], ['/v1/embedContent', 4])
    const requests = [{ model: 'models/google/gemini-embedding-2', content: HELLO[0] }]
    const many = await post(path('batchEmbedContents', 'google/gemini-embedding-2'), { requests })
    assert.equal(many.status, 200)
    const foreign = await post(path('embedContent', 'llm-3-fast'), { content: HELLO[0] })
    assert.match(await foreign.text(), /\/v1\/embeddings/)
  })

  it('bring no signature that Gazeway sealed on its way through another upstream', async () => {
    const sealed = Buffer.from('gws1.forged').toString('base64')
    const said = {
      role: 'model',
      parts: [
        { text: 'I look.', thoughtSignature: sealed },
        { ...CALL, thoughtSignature: sealed },
      ],
    }
    const reply = await post(path('generateContent', `google/${MODEL}`), { contents: [...HELLO, said, ANSWER] })
    assert.equal(reply.status, 200)
    const parts = [{ text: 'I look.' }, { ...CALL, thoughtSignature: 'skip_thought_signature_validator' }]
    assert.deepEqual(last().body.contents, [...HELLO, { role: 'model', parts }, ANSWER])
  })

  it('take the client’s own key, in the header of Google’s API', async () => {
    const asked = (headers: Record<string, string>) =>
      fetch(running.url + path('generateContent', `theirs/${MODEL}`), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ contents: HELLO }),
      })
    assert.equal((await asked({ 'x-goog-api-key': running.key })).status, 400)
    assert.equal((await asked({ 'x-gazeway-key': running.key, 'x-goog-api-key': KEY })).status, 200)
  })

  it('leave chats to its compatible API', async () => {
    const reply = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
      body: JSON.stringify({ model: `google/${MODEL}`, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    assert.deepEqual([reply.status, last().path], [200, '/v1beta/openai/chat/completions'])
  })
})
