import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { until } from '../doubles/until.ts'
import {
  type Behaviour,
  chunks,
  completion,
  hangs,
  json,
  response,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = { model: 'hermes-agent', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 }

let agent: UpstreamDouble
let running: RunningPlatform
before(async () => {
  agent = await startUpstream()
  // Answers in the background are never there when they are asked for: after a while what they reserved is given back.
  agent.on('/responses/resp_1', json(404, { error: { message: 'No such response.' } }))
  running = await startPlatform('sandbox', { env: { GAZEWAY_AGENT_GATEWAY_URL: agent.url } })
})
beforeEach(() => {
  agent.received.length = 0
  agent.on('/chat/completions', json(200, completion('Hello back'), { 'x-hermes-session-id': 'theirs' }))
  agent.on('/responses', json(200, response('Hello back')))
  agent.on('/runs', json(202, { run_id: 'run_1' }))
})
after(async () => {
  await running.close()
  await agent.close()
})

/** The probe asks for its health, too. */
const posted = () =>
  agent.received
    .filter(({ method, path }) => method === 'POST' && path.startsWith('/v1/'))
    .map((received) => ({ ...received, body: received.body as Record<string, unknown> }))

async function newKey(input: Partial<z.input<typeof NewKey>> = {}) {
  const { key, record } = await running.gateway.keys.create({ name: 'caller', scopes: ['platform'], ...input })
  return { key, id: record.id }
}
const post = (key: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(running, 'POST', path, { key, body, headers })
const chat = (key: string, body: object = {}) => post(key, '/v1/chat/completions', { ...CHAT, ...body })
const receiptsOf = async (id: string) => (await running.gateway.wallet.usage({ caller_id: id, limit: 100 })).items
const callsOf = async (id: string) => (await running.gateway.calls.history({ caller_id: id, limit: 100 })).items
const heldOf = async () =>
  (
    await running.gateway.store.db
      .selectFrom('ledger_accounts')
      .select(({ fn }) => fn.sum('balance_micros').as('held'))
      .where('id', 'like', 'held:%')
      .executeTakeFirstOrThrow()
  ).held

/** Behaves so, and closes the connection when `breakOff` is called. */
const breaksLater =
  (begin: Behaviour): Behaviour =>
  async (response, request) => {
    breakOff = () => response.socket?.destroy()
    await begin(response, request)
  }
let breakOff = () => {}

describe('a model request that is passed on to an agent gateway elsewhere', () => {
  it('is charged, has a receipt and a record, and keeps the reply as it came', async () => {
    const { key, id } = await newKey()
    const reply = await chat(key)
    assert.deepEqual(await reply.json(), completion('Hello back'))
    assert.equal(reply.headers.get('x-gazeway-cost-usd'), '0.080045')
    assert.equal(reply.headers.get('x-hermes-session-id'), 'theirs')
    const [receipt, ...others] = await receiptsOf(id)
    assert.equal(others.length, 0)
    assert.deepEqual(
      [receipt?.call_id, receipt?.path, receipt?.billing.total_usd],
      [reply.headers.get('x-gazeway-call-id'), '/v1/chat/completions', 0.080045],
    )
    const [record] = await callsOf(id)
    assert.deepEqual(
      [record?.call_id, record?.surface, record?.path, record?.upstream, record?.model, record?.status],
      [receipt?.call_id, 'platform', '/v1/chat/completions', new URL(agent.url).host, 'hermes-agent', 'ok'],
    )
    assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
  })

  it('is charged by the usage that the reply has in a choice, as Moonshot writes it', async () => {
    const { key, id } = await newKey()
    const { usage, ...reply } = completion('Hello back')
    agent.on('/chat/completions', json(200, { ...reply, choices: reply.choices.map((one) => ({ ...one, usage })) }))
    assert.equal((await chat(key)).headers.get('x-gazeway-cost-usd'), '0.080045')
    assert.equal((await receiptsOf(id))[0]?.usage.estimated, undefined)
  })

  it('sends the cost at the end of a stream, and hides the usage chunk that its client did not request', async () => {
    const { key, id } = await newKey()
    agent.on('/chat/completions', sse(chunks(['Hello', ' back'])))
    const reply = await chat(key, { stream: true })
    const text = await reply.text()
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    assert.match(text, /data: \[DONE\]\n\n: x-gazeway-call-id=call_[0-9a-f]+ x-gazeway-cost-usd=0\.080045\n\n$/)
    assert.ok(!text.includes('"usage":{'), text)
    assert.deepEqual(posted()[0]?.body.stream_options, { include_usage: true })
    assert.equal((await receiptsOf(id))[0]?.billing.total_usd, 0.080045)
  })

  it('is estimated where no usage is reported, and costs its reservation where the reply is no answer', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    agent.on('/chat/completions', json(200, completion('Hello back', null)))
    await (await chat(key)).text()
    assert.equal((await post(key, '/v1/runs', { input: 'Work for an hour.' })).status, 202)
    agent.on('/responses', json(200, { ...response(''), status: 'queued', output: [], usage: null }))
    await (await post(key, '/v1/responses', { input: 'Work.', background: true })).text()
    const [background, run, estimated] = await receiptsOf(id)
    assert.equal(estimated?.usage.estimated, true)
    for (const receipt of [run, background]) {
      const total = receipt?.billing.total_usd ?? 0
      assert.ok(total > 0.012, `${receipt?.path}: ${total}`)
    }
  })

  it('is cut off where the budget does not reach for more of its stream', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.03 } })
    agent.on('/chat/completions', sse(chunks(Array(4000).fill('word and word and more of it '), null)))
    const text = await (await chat(key, { stream: true, max_tokens: undefined })).text()
    assert.ok(text.includes('budget_reached'), text.slice(-500))
    const total = (await receiptsOf(id))[0]?.billing.total_usd ?? 0
    assert.ok(total > 0.02 && total <= 0.03, `${total}`)
  })

  it('is charged although its client leaves once it has some of the answer, and not where it has none', async () => {
    const { key, id } = await newKey()
    agent.on('/chat/completions', breaksLater(sse(chunks(['Hello', ' back']).slice(0, 2), 'hang')))
    const leaving = new AbortController()
    const reply = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, stream: true }),
      signal: leaving.signal,
    })
    await reply.body?.getReader().read()
    leaving.abort()
    breakOff()
    await until(async () => (await receiptsOf(id)).length === 1)
    agent.on('/chat/completions', breaksLater(hangs))
    const early = new AbortController()
    const none = fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(CHAT),
      signal: early.signal,
    })
    await until(async () => posted().length === 2)
    early.abort()
    await assert.rejects(none)
    breakOff()
    await until(async () => (await callsOf(id)).length === 2)
    assert.equal((await receiptsOf(id)).length, 1)
  })

  it('costs its reservation where its client leaves with nothing but the id of an answer', async () => {
    const { key, id } = await newKey({ billing: 'cost' })
    const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }
    agent.on('/responses', sse([created], 'hang'))
    const leaving = new AbortController()
    const reply = await fetch(`${running.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'Work.', stream: true, background: true }),
      signal: leaving.signal,
    })
    await reply.body?.getReader().read()
    leaving.abort()
    await until(async () => (await receiptsOf(id)).length === 1)
    const total = (await receiptsOf(id))[0]?.billing.total_usd ?? 0
    assert.ok(total > 0.02, `${total}`)
  })

  it('is counted under any field name of the answer in its stream', async () => {
    const named = ['function_call', 'audio', 'reasoning_details', 'content']
    for (const name of named) {
      const { key, id } = await newKey({ billing: 'cost' })
      const said = name === 'content' ? 'Word '.repeat(500) : { text: 'Word '.repeat(500) }
      agent.on('/chat/completions', sse([{ choices: [{ index: 0, delta: { [name]: said } }] }]))
      await (await chat(key, { stream: true, max_tokens: 1000 })).text()
      const total = (await receiptsOf(id))[0]?.billing.total_usd ?? 0
      assert.ok(total > 0.0015, `${name}: ${total}`)
    }
  })

  it('goes to the path and with the method that it is billed by', async () => {
    const { key } = await newKey()
    agent.on('/things', json(200, {}))
    const headers = { 'x-original-url': '/v1/chat/completions', 'x-http-method-override': 'DELETE' }
    assert.equal((await post(key, '/v1/things', { a: 1 }, headers)).status, 200)
    const names = Object.keys(posted()[0]?.headers ?? {})
    for (const name of Object.keys(headers)) assert.ok(!names.includes(name), name)
  })

  it('is not charged where the agent gateway refuses or fails, and keeps its words', async () => {
    const { key, id } = await newKey()
    agent.on('/chat/completions', json(429, { error: { message: 'later' } }, { 'retry-after': '7' }))
    const refused = await chat(key)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '7'])
    assert.equal((await errorOf(refused)).message, 'later')
    agent.on('/chat/completions', (reply) => void reply.socket?.destroy())
    const dropped = await chat(key)
    assert.deepEqual([dropped.status, (await errorOf(dropped)).code], [502, 'upstream_unreachable'])
    assert.deepEqual(await receiptsOf(id), [])
    assert.deepEqual(
      (await callsOf(id)).map(({ status, http_status }) => [status, http_status]),
      [
        ['error', null],
        ['error', 429],
      ],
    )
  })

  it('is held to the models, the rate and the money of its key, in records of its refusals', async () => {
    const { key, id } = await newKey({ models: ['hermes-*'], limits: { requests_per_minute: 1 } })
    assert.equal((await chat(key, { model: 'other' })).status, 403)
    const reply = await chat(key)
    assert.equal(reply.headers.get('x-ratelimit-remaining-requests'), '0')
    assert.equal((await chat(key)).status, 429)
    assert.equal(posted().length, 1)
    const refused = (await callsOf(id)).filter(({ status }) => status === 'refused')
    assert.deepEqual(
      refused.map((record) => [record.http_status, record.path, record.surface, record.upstream]),
      [429, 403].map((status) => [status, '/v1/chat/completions', 'platform', new URL(agent.url).host]),
    )
  })

  it('leads to no batch for a key that may use only some models', async () => {
    const { key } = await newKey({ billing: 'recorded', models: ['hermes-*'] })
    assert.equal((await post(key, '/v1/batches', { input_file_id: 'f' })).status, 403)
    assert.deepEqual(posted(), [])
  })

  it('is sent with the limit of its answer where it names none, and with one value of each field', async () => {
    const { key } = await newKey()
    await (await chat(key, { max_tokens: undefined })).text()
    assert.equal(posted()[0]?.body.max_tokens, running.gateway.loaded.config.wallet.max_output_tokens)
    const twice = '{"model":"other","messages":[],"max_tokens":1,"max_tokens":50,"model":"hermes-agent"}'
    await (await post(key, '/v1/chat/completions', twice)).text()
    assert.deepEqual(
      posted()[1]
        ?.text.match(/"(?:model|max_tokens)"/g)
        ?.sort(),
      ['"max_tokens"', '"model"'],
    )
  })

  it('costs an admin nothing, who has a record all the same', async () => {
    agent.on('/chat/completions', json(200, completion('For the admin')))
    const reply = await chat(running.admin)
    assert.deepEqual([reply.status, reply.headers.get('x-gazeway-cost-usd')], [200, null])
    const record = await running.gateway.calls.find(reply.headers.get('x-gazeway-call-id') ?? '')
    assert.equal(record?.status, 'ok')
  })

  it('leaves nothing set aside', async () => {
    // A provider has 30 s to store an answer in the background.
    await until(async () => Number(await heldOf()) === 0, { seconds: 60 })
  })
})

describe('without credit, nothing that asks a model of an agent gateway elsewhere gets there:', () => {
  const asked = JSON.stringify(CHAT)
  const type = (value: string) => ({ 'content-type': value })
  const ways: [what: string, path: string, body: string | Buffer, headers: Record<string, string>, status: number][] = [
    ['a chat', '/v1/chat/completions', asked, {}, 402],
    ['a stream', '/v1/chat/completions', JSON.stringify({ ...CHAT, stream: true }), {}, 402],
    ['a response', '/v1/responses', '{"input":"Hello"}', {}, 402],
    ['a run, which names no model', '/v1/runs', '{"input":"Hello"}', {}, 402],
    ['a run of a thread', '/v1/threads/t/runs', '{"assistant_id":"a"}', {}, 402],
    ['any endpoint with a model', '/v1/anything', asked, {}, 402],
    ['JSON that is said to be text', '/v1/anything', asked, type('text/plain'), 402],
    ['JSON that is said to be a form', '/v1/anything', asked, type('multipart/form-data; boundary=x'), 402],
    ['a chat that is said to be a form', '/v1/chat/completions', asked, type('multipart/form-data; boundary=x'), 415],
    ['JSON after blanks', '/v1/anything', `${' '.repeat(70_000)}${asked}`, {}, 402],
    ['a model in escapes', '/v1/anything', '{"\\u006dodel":"hermes-agent"}', {}, 402],
    ['JSON that only others read', '/v1/anything', '{"model":"hermes-agent","temperature":NaN}', {}, 400],
    ['a byte order mark', '/v1/anything', `\ufeff${asked}`, {}, 400],
    ['a path in escapes', '/v1/%63hat/completions', '{"messages":[]}', {}, 402],
    ['a path with more slashes', '/v1//chat//completions/', '{"messages":[]}', {}, 402],
    ['a path in capitals', '/v1/Chat/Completions', '{"messages":[]}', {}, 402],
    ['a path with a query', '/v1/responses?api-version=1', '{"input":"Hello"}', {}, 402],
    ['a body that is compressed', '/v1/anything', gzipSync(asked), { 'content-encoding': 'gzip' }, 415],
    ['another charset', '/v1/anything', Buffer.from(asked, 'utf16le'), type('application/json; charset=utf-16'), 415],
    ['a recording', '/v1/audio/transcriptions', '--x', type('multipart/form-data; boundary=x'), 402],
    ['a batch', '/v1/batches', '{"input_file_id":"f","endpoint":"/v1/chat/completions"}', {}, 403],
    ['a batch of messages', '/v1/messages/batches', '{"requests":[{"params":{"model":"m"}}]}', {}, 403],
    ['a model in the path', '/v1/engines/dear/completions', '{"prompt":"Hello"}', {}, 403],
    ['a model in the path, with what it is to do', '/v1/models/dear:generateContent', '{"contents":[]}', {}, 403],
    ['a model with a colon in the path', '/v1/models/arn:aws:b:p/dear:generateContent', '{"contents":[]}', {}, 403],
    ['a model whose field is in capitals', '/v1/anything', '{"MODEL":"hermes-agent"}', {}, 422],
    ['a secret for calls past it', '/v1/realtime/client_secrets', '{"session":{"model":"m"}}', {}, 403],
    ['the outputs of tools, with which a run goes on', '/v1/threads/t/runs/r/submit_tool_outputs', '{}', {}, 402],
    ['a model that is no name', '/v1/anything', '{"model":["hermes-agent"]}', {}, 422],
  ]
  for (const [what, path, body, headers, status] of ways)
    it(what, async () => {
      const { key } = await newKey({ limits: { credit_limit_usd: 0 } })
      const reply = await fetch(running.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body as string,
      })
      assert.equal(reply.status, status, await reply.text())
      await turn()
      assert.deepEqual(posted(), [])
    })

  it('a body whose model comes late', async () => {
    const { key } = await newKey({ limits: { credit_limit_usd: 0 } })
    const outgoing = httpRequest(`${running.url}/v1/anything`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'transfer-encoding': 'chunked' },
    })
    outgoing.write('\n')
    await turn()
    outgoing.write('{"a": 1,')
    await turn()
    outgoing.end('"model": "hermes-agent"}')
    const status = await new Promise((resolve) => outgoing.on('response', (reply) => resolve(reply.statusCode)))
    assert.equal(status, 402)
    assert.deepEqual(posted(), [])
  })
})
