import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import OpenAI, { toFile } from 'openai'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { VERBATIM_PATHS } from '../../src/inference/api/verbatim-paths.ts'
import { fails, json, response, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const EMBEDDED = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.5] }],
  model: 'm',
  usage: { prompt_tokens: 8, total_tokens: 8 },
}

let upstream: UpstreamDouble
let other: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  other = await startUpstream()
  running = await startPlatform(upstream.url, {
    document: {
      upstreams: {
        other: {
          provider: other.url,
          api_keys: ['other-secret-key'],
          models: ['other-*'],
          aliases: { 'other-ear': 'their-ear-2' },
        },
        keyed: { provider: other.url, api_keys: ['keyed-secret-key-1', 'keyed-secret-key-2'] },
      },
      routes: [{ model: 'both', to: ['default', 'other'] }],
    },
  })
})
beforeEach(() => {
  for (const double of [upstream, other]) double.received.length = 0
})
after(async () => {
  await running.close()
  await upstream.close()
  await other.close()
})

async function newKey(input: Partial<z.input<typeof NewKey>> = {}) {
  const { key, record } = await running.gateway.keys.create({
    name: 'caller',
    scopes: ['inference', 'platform'],
    ...input,
  })
  return { key, id: record.id }
}
const clientOf = (key: string, url = running.gatewayUrl) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
const ask = (method: string, path: string, key: string, body?: object, headers: Record<string, string> = {}) =>
  fetch(running.gatewayUrl + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
const errorOf = async (reply: Response) => ((await reply.json()) as { error: { code: string; message: string } }).error
const lastCall = async (caller_id: string) => (await running.gateway.calls.history({ caller_id, limit: 1 })).items[0]

describe('a passed path that asks a model', () => {
  it('is answered with the bytes of the upstream, recorded and charged by the usage that it reports', async () => {
    upstream.on('/embeddings', json(200, EMBEDDED, { 'x-secret': 'upstream-secret-key' }))
    const { key, id } = await newKey({ billing: 'cost' })
    for (const url of [running.gatewayUrl, running.url]) {
      const { data: reply, response: head } = await clientOf(key, url)
        .embeddings.create({ model: 'm', input: 'Hello', encoding_format: 'float' })
        .withResponse()
      assert.deepEqual(reply.data[0]?.embedding, [0.5, 0.5])
      assert.equal(head.headers.get('x-gazeway-cost-usd'), '0.000024')
      assert.equal(head.headers.get('x-secret'), null)
    }
    const call = await lastCall(id)
    assert.deepEqual(
      [call?.path, call?.model, call?.status, call?.usage?.prompt_tokens],
      ['/v1/embeddings', 'm', 'ok', 8],
    )
    assert.equal(upstream.received[0]?.headers.authorization, 'Bearer upstream-secret-key')
  })

  it('goes to the upstream that serves the model, under its id there', async () => {
    other.on('/embeddings', json(200, EMBEDDED))
    const { key } = await newKey()
    for (const model of ['other-embed', 'other/other-embed'])
      assert.equal((await ask('POST', '/v1/embeddings', key, { model, input: 'x' })).status, 200)
    assert.equal(upstream.received.length, 0)
    assert.deepEqual(
      other.received.map(({ body, headers }) => [(body as { model: string }).model, headers.authorization]),
      Array(2).fill(['other-embed', 'Bearer other-secret-key']),
    )
  })

  it('answers with what the upstream refuses, or lacks', async () => {
    upstream.on('/rerank', json(404, { detail: 'no such path; key upstream-secret-key' }))
    const { key, id } = await newKey({ billing: 'metered' })
    const lacking = await ask('POST', '/v1/rerank', key, { model: 'm', query: 'x', documents: ['y'] })
    assert.deepEqual([lacking.status, await lacking.json()], [404, { detail: 'no such path; key ***' }])
    assert.equal((await running.gateway.wallet.usage({ caller_id: id, limit: 10 })).total, 0, 'nothing is charged')
    upstream.on('/rerank', fails(429))
    assert.equal((await ask('POST', '/v1/rerank', key, { model: 'm', query: 'x', documents: ['y'] })).status, 429)
  })

  it('is held to the models and the money of its key, and needs a model', async () => {
    const limited = await newKey({ models: ['a-*'] })
    const refused = await ask('POST', '/v1/embeddings', limited.key, { model: 'm', input: 'x' })
    assert.equal((await errorOf(refused)).code, 'model_not_allowed')
    const poor = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.000001 } })
    const broke = await ask('POST', '/v1/embeddings', poor.key, { model: 'm', input: 'x' })
    assert.deepEqual([broke.status, (await errorOf(broke)).code], [402, 'insufficient_credit'])
    const nameless = await ask('POST', '/v1/embeddings', poor.key, { input: 'x' })
    assert.deepEqual([nameless.status, (await errorOf(nameless)).code], [422, 'validation_failed'])
    const long = await ask('POST', '/v1/embeddings', poor.key, { model: 'm'.repeat(257), input: 'x' })
    assert.deepEqual([long.status, (await errorOf(long)).code], [422, 'validation_failed'])
    assert.equal(upstream.received.length, 0)
  })

  it('costs its input, counted, where no usage is reported and there is no answer to pay for', async () => {
    upstream.on('/moderations', json(200, { id: 'modr-1', results: [{ flagged: false }] }))
    const { key, id } = await newKey({ billing: 'cost' })
    assert.equal((await ask('POST', '/v1/moderations', key, { input: 'Hello there' })).status, 200)
    const usage = (await lastCall(id))?.usage
    assert.deepEqual([usage?.estimated, usage?.completion_tokens], [true, 0])
    assert.ok((usage?.prompt_tokens ?? 0) > 1, `${usage?.prompt_tokens}`)
  })

  it('costs the full reservation when an answer reports no usage, and keeps its bytes', async () => {
    const sound = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x64, 0x61, 0x74, 0x61])
    upstream.on('/audio/speech', (reply) => void reply.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound))
    const { key } = await newKey({ billing: 'cost' })
    const reply = await ask('POST', '/v1/audio/speech', key, { model: 'tts', input: 'Hi', voice: 'x' })
    assert.equal(reply.headers.get('content-type'), 'audio/mpeg')
    assert.deepEqual(Buffer.from(await reply.arrayBuffer()), sound)
    assert.ok(Number(reply.headers.get('x-gazeway-cost-usd')) > 0.02, `${reply.headers.get('x-gazeway-cost-usd')}`)
  })

  it('has the answers to all of its prompts set aside, and the query that is read with each document', async () => {
    const usage = { prompt_tokens: 200, completion_tokens: 100_000, total_tokens: 100_200 }
    upstream.on('/completions', json(200, { choices: [{ text: 'a' }], usage }))
    upstream.on('/rerank', json(200, { results: [], usage: { total_tokens: 40_000 } }))
    const prompts = { model: 'm', max_tokens: 500, prompt: Array(200).fill('x') }
    const ranked = { model: 'm', query: 'a word '.repeat(60), documents: Array(100).fill('x') }
    for (const [path, body, cost] of [
      ['/v1/completions', prompts, '0.3006'],
      ['/v1/rerank', ranked, '0.12'],
    ] as const) {
      const { key } = await newKey({ billing: 'cost' })
      const reply = await ask('POST', path, key, body)
      assert.deepEqual([reply.status, reply.headers.get('x-gazeway-cost-usd')], [200, cost], path)
    }
  })

  it('streams, and is charged by the usage at the end of the stream', async () => {
    const chunk = (text: string, usage?: object) => ({ id: 'c', object: 'text_completion', choices: [{ text }], usage })
    const last = { ...chunk(''), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }
    upstream.on('/completions', sse([chunk('Hel'), chunk('lo'), last]))
    const { key } = await newKey({ billing: 'cost' })
    const body = { model: 'm', prompt: 'Say hello', stream: true }
    const text = await (await ask('POST', '/v1/completions', key, body)).text()
    assert.match(text, /"text":"Hel".*"text":"lo".*\[DONE\].*x-gazeway-cost-usd=0\.000015/s)
    assert.doesNotMatch(text, /prompt_tokens/, 'its client has not asked for it')
    upstream.on('/completions', sse([chunk('Hello '.repeat(50)), chunk('again')]))
    const untold = await (await ask('POST', '/v1/completions', key, body)).text()
    const cost = Number(/cost-usd=([\d.]+)/.exec(untold)?.[1])
    assert.ok(cost > 50 * 3e-6, `${cost}: what was said is counted`)
  })

  it('passes a form as it is, of one model', async () => {
    upstream.on(
      '/audio/transcriptions',
      json(200, { text: 'hi', usage: { type: 'tokens', input_tokens: 9, output_tokens: 1 } }),
    )
    const { key, id } = await newKey({ billing: 'cost' })
    const sound = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256))
    const file = await toFile(sound, 'a.wav')
    const { text } = await clientOf(key).audio.transcriptions.create({ model: 'whisper-1', file })
    assert.equal(text, 'hi')
    assert.ok(upstream.received[0]?.bytes.includes(sound), 'the recording is whole')
    assert.match(upstream.received[0]?.headers['content-type'] ?? '', /^multipart\/form-data; boundary=/)
    const call = await lastCall(id)
    assert.deepEqual([call?.model, call?.usage?.total_tokens], ['whisper-1', 10])

    const twice = new FormData()
    for (const model of ['cheap', 'dear']) twice.append('model', model)
    const headers = { authorization: `Bearer ${key}` }
    const url = `${running.gatewayUrl}/v1/audio/transcriptions`
    const refused = await fetch(url, { method: 'POST', headers, body: twice })
    assert.deepEqual([refused.status, (await errorOf(refused)).code], [422, 'validation_failed'])
    const noForm = await ask('POST', '/v1/audio/transcriptions', key, { model: 'm' })
    assert.equal(noForm.status, 415)
  })

  it('passes a form with the upstream’s id of its model, which the models of its key are for', async () => {
    other.on('/audio/transcriptions', json(200, { text: 'hi', usage: { input_tokens: 9, output_tokens: 1 } }))
    const { key } = await newKey({ models: ['their-ear-*'] })
    const sound = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256))
    for (const model of ['other-ear', 'other/other-ear']) {
      const file = await toFile(sound, 'a.wav')
      await clientOf(key).audio.transcriptions.create({ model, file, language: 'en' })
      const [sent] = other.received.splice(0)
      const form = await new Response(new Uint8Array(sent?.bytes ?? []), {
        headers: { 'content-type': sent?.headers['content-type'] ?? '' },
      }).formData()
      assert.deepEqual([form.getAll('model'), form.get('language')], [['their-ear-2'], 'en'])
      assert.ok(sent?.bytes.includes(sound), 'the recording is whole')
    }
    assert.equal(upstream.received.length, 0)
  })

  it('goes to the next key where one is limited, which is left alone', async () => {
    other.on('/embeddings', fails(429, { 'retry-after': '30' }), json(200, EMBEDDED))
    const { key } = await newKey()
    for (const attempts of ['2', '1']) {
      const reply = await ask('POST', '/v1/embeddings', key, { model: 'keyed/m', input: 'x' })
      assert.deepEqual([reply.status, reply.headers.get('x-gazeway-attempts')], [200, attempts])
    }
    assert.deepEqual(
      other.received.map(({ headers }) => headers.authorization?.slice(-1)),
      ['1', '2', '2'],
    )
  })

  it('is answered once under an Idempotency-Key where its reply is JSON', async () => {
    upstream.on('/embeddings', json(200, EMBEDDED))
    const { key } = await newKey({ billing: 'cost' })
    const once = { 'idempotency-key': 'embed-once' }
    for (const replayed of [null, 'true']) {
      const reply = await ask('POST', '/v1/embeddings', key, { model: 'm', input: 'x' }, once)
      assert.deepEqual([reply.status, reply.headers.get('idempotent-replayed')], [200, replayed])
    }
    const other = await ask('POST', '/v1/embeddings?version=2', key, { model: 'm', input: 'x' }, once)
    assert.equal(other.status, 422)
    assert.equal(upstream.received.length, 1)
    const spoken = await ask('POST', '/v1/audio/speech', key, { model: 'm', input: 'x', voice: 'y' }, once)
    assert.equal(spoken.status, 422)
  })
})

describe('what a caller has made at an upstream', () => {
  const FILE = { id: 'file-abc', object: 'file', bytes: 3, filename: 'a.jsonl', purpose: 'batch' }

  it('is seen by its key alone, and by admins', async () => {
    upstream.on('/files', json(200, FILE))
    upstream.on('/files/file-abc', json(200, FILE))
    upstream.on(
      '/files/file-abc/content',
      (reply) => void reply.writeHead(200, { 'content-type': 'text/plain' }).end('data: 1'),
    )
    const [maker, stranger, admin] = [await newKey(), await newKey(), await newKey({ scopes: ['admin'] })]
    const made = await clientOf(maker.key).files.create({
      file: await toFile(Buffer.from('{}'), 'a.jsonl'),
      purpose: 'batch',
    })
    assert.equal(made.id, 'file-abc')
    for (const { key } of [maker, admin]) assert.equal((await clientOf(key).files.retrieve('file-abc')).id, 'file-abc')
    const content = await clientOf(maker.key, running.url).files.content('file-abc')
    assert.deepEqual([content.headers.get('content-type'), await content.text()], ['text/plain', 'data: 1'])
    const asked = upstream.received.length
    for (const [method, path] of [
      ['GET', '/v1/files/file-abc'],
      ['DELETE', '/v1/files/file-abc'],
      ['GET', '/v1/files/file-abc/content'],
      ['GET', '/v1/files/file-none'],
    ] as const) {
      const reply = await ask(method, path, stranger.key)
      assert.deepEqual([reply.status, (await errorOf(reply)).code], [404, 'not_found'], path)
    }
    for (const [path, body] of [
      [
        '/v1/responses',
        { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-abc' }] }] },
      ],
      [
        '/v1/chat/completions',
        { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-abc' } }] }] },
      ],
      [
        '/v1/responses',
        {
          model: 'm',
          input: 'Hi',
          tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-mine', 'file-abc'] } }],
        },
      ],
    ] as const)
      assert.equal((await ask('POST', path, stranger.key, body)).status, 404, path)
    const escaped = await fetch(`${running.gatewayUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stranger.key}`, 'content-type': 'application/json' },
      body: '{"model":"m","input":[{"type":"input_file","file\\u005fid":"file\\u002dabc"}]}',
    })
    assert.equal(escaped.status, 404, 'names in escapes are names')
    const twice = await fetch(`${running.gatewayUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stranger.key}`, 'content-type': 'application/json' },
      body: '{"model":"m","input":"\\u0041","previous_response_id":"file-abc","previous_response_id":"resp_x"}',
    })
    assert.equal(twice.status, 404, 'of a field that comes twice both are looked at')
    const line = {
      custom_id: '1',
      url: '/v1/responses',
      body: { input: [{ type: 'input_file', file_id: 'file-abc' }] },
    }
    const upload = { file: await toFile(Buffer.from(JSON.stringify(line)), 'b.jsonl'), purpose: 'batch' } as const
    await assert.rejects(clientOf(stranger.key).files.create(upload), { status: 404 }, 'the lines of a batch')
    const hidden = await toFile(Buffer.from(`\ufeff\n${JSON.stringify(line)}`), 'b.jsonl')
    const other = { file: hidden, purpose: 'user_data' } as const
    await assert.rejects(
      clientOf(stranger.key).files.create(other),
      { status: 404 },
      'whatever they are said to be for',
    )
    const text = JSON.stringify(line)
    const encoded = [`\0${text}`, Buffer.from(`\ufeff${text}`, 'utf16le'), Buffer.from(text, 'utf16le').swap16()]
    for (const bytes of encoded)
      for (const purpose of ['batch', 'user_data'] as const)
        await assert.rejects(
          clientOf(stranger.key).files.create({ file: await toFile(Buffer.from(bytes), 'b.jsonl'), purpose }),
          { status: 404 },
          'in any encoding',
        )
    assert.equal(upstream.received.length, asked, 'the upstream was not asked')
  })

  it('is listed to its key alone', async () => {
    upstream.on('/files', json(200, { ...FILE, id: 'file-mine' }))
    const { key } = await newKey()
    await clientOf(key).files.create({ file: await toFile(Buffer.from('{}'), 'a.jsonl'), purpose: 'batch' })
    const data = ['file-abc', 'file-mine', 'file-of-the-operator'].map((id) => ({ ...FILE, id }))
    upstream.on('/files', json(200, { object: 'list', data, first_id: 'file-abc', last_id: 'file-of-the-operator' }))
    const list = (await (await ask('GET', '/v1/files?limit=5', key)).json()) as {
      data: { id: string }[]
      first_id: string
    }
    assert.deepEqual([list.data.map(({ id }) => id), list.first_id], [['file-mine'], 'file-mine'])
    assert.equal(upstream.received.at(-1)?.path, '/v1/files?limit=5')
    const admin = await newKey({ scopes: ['admin'] })
    const all = (await (await ask('GET', '/v1/files', admin.key)).json()) as { data: object[] }
    assert.equal(all.data.length, 3)

    upstream.on('/files', json(200, data))
    assert.deepEqual(await (await ask('GET', '/v1/files', key)).json(), [{ ...FILE, id: 'file-mine' }])
    upstream.on('/files', json(200, { object: 'list', data }, { 'content-type': 'text/plain' }))
    const announced = await (await ask('GET', '/v1/files', key)).text()
    assert.ok(announced.includes('file-mine') && !announced.includes('file-abc'), announced)
    upstream.on('/files', json(200, { files: data }))
    const strange = await ask('GET', '/v1/files', key)
    assert.deepEqual([strange.status, (await errorOf(strange)).code], [502, 'upstream_bad_reply'])
  })

  it('stays at the upstream that has it: a Response, whole or streamed', async () => {
    const answer = (id: string) => ({ ...response('Hello'), id })
    const created = (id: string) => ({
      type: 'response.created',
      sequence_number: 0,
      response: { ...answer(id), status: 'in_progress', output: [] },
    })
    const text = {
      type: 'response.output_text.delta',
      sequence_number: 1,
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      delta: 'Hello',
    }
    const completed = (id: string) => ({ type: 'response.completed', sequence_number: 2, response: answer(id) })
    other.on(
      '/responses',
      json(200, answer('resp_whole')),
      sse([created('resp_stream'), text, completed('resp_stream')], 'none'),
    )
    const { key } = await newKey()
    const stranger = await newKey()
    for (const stream of [false, true])
      await (await ask('POST', '/v1/responses', key, { model: 'other-model', input: 'Hi', stream })).text()
    for (const id of ['resp_whole', 'resp_stream']) {
      other.on(`/responses/${id}`, json(200, answer(id)))
      other.on(`/responses/${id}/input_items`, json(200, { object: 'list', data: [] }))
      assert.equal((await clientOf(key).responses.retrieve(id)).id, id)
      assert.equal((await ask('GET', `/v1/responses/${id}/input_items`, key)).status, 200)
      assert.equal((await ask('GET', `/v1/responses/${id}`, stranger.key)).status, 404)
      const goesOn = { model: 'other-model', input: 'And?', previous_response_id: id }
      assert.equal((await ask('POST', '/v1/responses', stranger.key, goesOn)).status, 404)
    }
    assert.equal(upstream.received.length, 0)
    assert.equal(await lastCall(stranger.id), undefined)
  })

  it('is refused to other keys in every field that may name it, but not in text', async () => {
    const [item, box, talk] = ['msg_68a1c2d3e4f50617', 'cntr_68a1c2d3e4f50618', 'conv_68a1c2d3e4f50619']
    const call = { type: 'code_interpreter_call', id: 'ci_68a1c2d3e4f50620', status: 'completed', container_id: box }
    const answer = { ...response('Hello'), id: 'resp_68a1c2d3e4f50621', conversation: { id: talk }, store: true }
    const output = [call, { ...answer.output[0], id: item }]
    const begun = { ...answer, status: 'in_progress', output: [] }
    const done = output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }))
    const events = [
      { type: 'response.created', response: begun },
      ...done,
      { type: 'response.completed', response: answer },
    ]
    const stranger = await newKey()
    for (const stream of [false, true]) {
      const maker = await newKey()
      upstream.on('/responses', stream ? sse(events, 'none') : json(200, { ...answer, output }))
      await (await ask('POST', '/v1/responses', maker.key, { model: 'm', input: 'Hi', stream })).text()
      upstream.on('/responses', json(200, response('Hello')))
      const named: object[] = [
        { input: [{ type: 'item_reference', id: item }] },
        { input: [{ id: item }] },
        { input: [{ type: 'reasoning', id: call.id, summary: [] }] },
        { input: 'Hi', conversation: talk },
        { input: 'Hi', conversation: { id: talk } },
        { input: 'Hi', prompt: { id: item } },
        { input: 'Hi', tools: [{ type: 'code_interpreter', container: box }] },
        { input: 'Hi', tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: box } }] },
        { input: 'Hi', tools: [{ type: 'file_search', vector_store_ids: ['vs_1', box] }] },
        { input: 'Hi', a_later_field: { of: ['any', talk] } },
      ]
      for (const fields of named) {
        const refused = await ask('POST', '/v1/responses', stranger.key, { model: 'm', ...fields })
        assert.deepEqual([refused.status, (await errorOf(refused)).code], [404, 'not_found'], JSON.stringify(fields))
        const own = await ask('POST', '/v1/responses', maker.key, { model: 'm', ...fields })
        assert.equal(own.status, 200, JSON.stringify(fields))
      }
      const line = { custom_id: 'line-00000001', url: '/v1/responses', body: { model: 'm', ...named[0] } }
      const lines = await toFile(Buffer.from(JSON.stringify(line)), 'b.jsonl')
      await assert.rejects(clientOf(stranger.key).files.create({ file: lines, purpose: 'batch' }), { status: 404 })
    }
    const said = [
      { role: 'user', content: item },
      { role: 'user', content: [{ type: 'input_text', text: item }] },
      { type: 'function_call', call_id: item, name: 'look', arguments: talk },
      { type: 'function_call_output', call_id: item, output: item },
    ]
    for (const input of [item, said])
      assert.equal((await ask('POST', '/v1/responses', stranger.key, { model: 'm', input })).status, 200)
  })

  it('is not the conversation or container that a request names, nor what an upstream does not store', async () => {
    const [item, box, talk] = ['msg_78a1c2d3e4f50617', 'cntr_78a1c2d3e4f50618', 'conv_78a1c2d3e4f50619']
    const call = { type: 'code_interpreter_call', id: 'ci_78a1c2d3e4f50620', status: 'completed', container_id: box }
    const answer = { ...response('Hello'), id: 'resp_78a1c2d3e4f50621', conversation: { id: talk } }
    upstream.on('/responses', json(200, { ...answer, output: [call, { ...answer.output[0], id: item }] }))
    const shared = { conversation: talk, tools: [{ type: 'code_interpreter', container: box }] }
    const [first, second] = [await newKey(), await newKey()]
    const unstored = { model: 'm', input: 'Hi', store: false }
    assert.equal((await ask('POST', '/v1/responses', first.key, unstored)).status, 200)
    for (const { key } of [first, second]) {
      const asked = { model: 'm', input: [{ id: item, role: 'assistant', content: 'Hello' }], ...shared }
      assert.equal((await ask('POST', '/v1/responses', key, { ...asked, store: false })).status, 200)
    }
    for (const { key } of [first, second])
      assert.equal((await ask('POST', '/v1/responses', key, { model: 'm', input: 'Hi', ...shared })).status, 200)
  })

  it('is gone on from at the upstream that has it, though others come first', async () => {
    upstream.on('/responses', fails(500))
    other.on('/responses', json(200, { ...response('Hello'), id: 'resp_there' }))
    for (const { key } of [await newKey(), await newKey({ scopes: ['admin'] })]) {
      const asked = { model: 'both', input: 'Hi' }
      assert.equal((await ask('POST', '/v1/responses', key, asked)).headers.get('x-gazeway-upstream'), 'other')
      const before = upstream.received.length
      const goesOn = await ask('POST', '/v1/responses', key, { ...asked, previous_response_id: 'resp_there' })
      assert.deepEqual([goesOn.status, goesOn.headers.get('x-gazeway-upstream')], [200, 'other'])
      assert.equal(upstream.received.length, before, 'the other upstream was not asked')
    }
  })

  it('in a batch is made of the caller’s own file, by keys that are held to no bill', async () => {
    upstream.on('/files', json(200, { ...FILE, id: 'file-in' }))
    upstream.on('/batches', json(200, { id: 'batch_1', object: 'batch', status: 'validating' }))
    upstream.on(
      '/batches/batch_1',
      json(200, { id: 'batch_1', status: 'completed', output_file_id: 'file-out', error_file_id: 'file-err' }),
    )
    for (const id of ['file-out', 'file-err']) upstream.on(`/files/${id}/content`, json(200, {}))
    const { key } = await newKey({ billing: 'recorded' })
    const client = clientOf(key)
    await client.files.create({ file: await toFile(Buffer.from('{}'), 'a.jsonl'), purpose: 'batch' })
    const asked = { input_file_id: 'file-in', endpoint: '/v1/chat/completions', completion_window: '24h' } as const
    const { id } = await client.batches.create(asked)
    await client.batches.retrieve(id)
    for (const file of ['file-out', 'file-err']) assert.equal((await client.files.content(file)).status, 200)
    const stranger = await newKey({ billing: 'recorded' })
    await assert.rejects(clientOf(stranger.key).batches.create(asked), { status: 404 })
    await assert.rejects(clientOf(stranger.key).batches.retrieve(id), { status: 404 })
    const held = await newKey({ billing: 'cost' })
    await clientOf(held.key).files.create({ file: await toFile(Buffer.from('{}'), 'a.jsonl'), purpose: 'batch' })
    await assert.rejects(clientOf(held.key).batches.create(asked), { status: 403, code: 'forbidden_path' })
    const some = await newKey({ billing: 'recorded', models: ['cheap-*'] })
    await clientOf(some.key).files.create({ file: await toFile(Buffer.from('{}'), 'a.jsonl'), purpose: 'batch' })
    await assert.rejects(clientOf(some.key).batches.create(asked), { status: 403, code: 'forbidden_path' })
  })

  it('is no way out of its path', async () => {
    const { key } = await newKey({ scopes: ['admin'] })
    for (const id of ['..', '%2e%2e', '..%2f..%2fadmin', 'a%2fb', 'a%00b', '%', `${'x'.repeat(201)}`])
      assert.ok([400, 403, 404, 422].includes((await ask('GET', `/v1/files/${id}`, key)).status), id)
    assert.equal(upstream.received.length, 0)
  })
})

describe('the passed paths', () => {
  it('refuse other methods, and who has no key', async () => {
    const { key } = await newKey()
    for (const { path } of VERBATIM_PATHS) {
      const plain = `/v1${path.replace(/\{\w+\}/, 'x')}`
      assert.equal((await ask('PUT', plain, key)).status, 405, plain)
    }
    for (const { method, path } of VERBATIM_PATHS)
      assert.equal((await ask(method, `/v1${path.replace(/\{\w+\}/, 'x')}`, 'no-key')).status, 401, path)
  })
})
