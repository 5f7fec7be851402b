import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { until } from '../doubles/until.ts'
import {
  chunks,
  completion,
  json,
  renamesLimit,
  response,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = { model: 'cheap', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 }
const ASKED = JSON.stringify(CHAT)

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  running = await startPlatform(upstream.url)
})
beforeEach(() => {
  upstream.received.length = 0
  upstream.on('/chat/completions', json(200, completion('Hello back')))
  upstream.on('/responses', json(200, response('Hello back')))
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
const post = (key: string, path: string, body: object | string, headers: Record<string, string> = {}) =>
  fetch(`${running.gatewayUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const receiptsOf = async (id: string) => (await running.gateway.wallet.usage({ caller_id: id, limit: 100 })).items
const paid = async (id: string) => (await receiptsOf(id)).reduce((sum, { billing }) => sum + billing.total_usd, 0)
/** Requests that reached the upstream. */
const asked = () => upstream.received.filter(({ method }) => method === 'POST')

/** Sends bytes as they are. @returns the status line */
async function raw(url: string, lines: string[], body = ''): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`${lines.join('\r\n')}\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n\r\n${body}`)
  let reply = ''
  socket.setEncoding('utf8').on('data', (text) => {
    reply += text
  })
  await once(socket, 'close')
  return reply.slice(0, reply.indexOf('\r\n'))
}

describe('a key without credit gets no answer', () => {
  const length = `content-length: ${ASKED.length}`
  const type = 'content-type: application/json'
  const ways: [what: string, lines: (key: string) => string[], body?: string][] = [
    ['HEAD', () => ['HEAD /v1/chat/completions HTTP/1.1', type, length], ASKED],
    ['OPTIONS', () => ['OPTIONS /v1/chat/completions HTTP/1.1', type, length], ASKED],
    ['GET with a body', () => ['GET /v1/chat/completions HTTP/1.1', type, length], ASKED],
    ['PUT', () => ['PUT /v1/chat/completions HTTP/1.1', type, length], ASKED],
    [
      'another method in a header',
      () => ['GET /v1/chat/completions HTTP/1.1', type, length, 'x-http-method-override: POST'],
      ASKED,
    ],
    ['a path in escapes', () => ['POST /v1/%63hat/completions HTTP/1.1', type, length], ASKED],
    ['an escaped slash', () => ['POST /v1/chat%2fcompletions HTTP/1.1', type, length], ASKED],
    ['double slashes', () => ['POST //v1//chat//completions HTTP/1.1', type, length], ASKED],
    ['a trailing slash', () => ['POST /v1/chat/completions/ HTTP/1.1', type, length], ASKED],
    ['capitals', () => ['POST /V1/CHAT/COMPLETIONS HTTP/1.1', type, length], ASKED],
    ['dot segments', () => ['POST /v1/models/../chat/completions HTTP/1.1', type, length], ASKED],
    ['a whole URL', () => [`POST http://127.0.0.1/v1/chat/completions HTTP/1.1`, type, length], ASKED],
    ['two lengths', () => ['POST /v1/chat/completions HTTP/1.1', type, length, 'content-length: 2'], ASKED],
    [
      'a length and chunks',
      () => ['POST /v1/chat/completions HTTP/1.1', type, 'content-length: 5', 'transfer-encoding: chunked'],
      `${ASKED.length.toString(16)}\r\n${ASKED}\r\n0\r\n\r\n`,
    ],
    [
      'an upgrade to HTTP/2',
      () => ['POST /v1/chat/completions HTTP/1.1', type, length, 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__'],
      ASKED,
    ],
    [
      'a request in the body of another',
      () => ['POST /v1/files HTTP/1.1', 'content-type: text/plain', 'content-length: 0'],
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${type}\r\n${length}\r\n\r\n${ASKED}`,
    ],
    [
      'credentials of two schemes',
      (key) => ['POST /v1/chat/completions HTTP/1.1', type, length, `x-api-key: ${key}`, 'authorization: Basic Og=='],
      ASKED,
    ],
  ]
  for (const [what, lines, body] of ways)
    for (const at of ['gatewayUrl', 'url'] as const)
      it(`${what}, ${at === 'url' ? 'platform' : 'gateway'}`, async () => {
        const { key } = await newKey({ limits: { credit_limit_usd: 0 } })
        const [first = '', ...rest] = lines(key)
        const status = await raw(running[at], [first, `authorization: Bearer ${key}`, ...rest], body)
        assert.notEqual(status, '')
        assert.deepEqual(asked(), [], status)
      })
})

describe('a key limited to some models gets no other', () => {
  for (const name of ['Model', 'MODEL', 'm\\u006fdel'])
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/completions', '/v1/embeddings', '/v1/messages'])
      it(`named as ${name} at ${path}`, async () => {
        const { key } = await newKey({ billing: 'recorded', models: ['cheap'] })
        upstream.on(path.slice(3), json(200, completion('x')))
        const body = JSON.stringify({ ...CHAT, input: 'Hello', prompt: 'Hello' })
        for (const text of [body.replace('{', `{"${name}":"dear",`), body.replace(/}$/, `,"${name}":"dear"}`)]) {
          const reply = await post(key, path, text)
          await reply.text()
          for (const { text } of asked()) assert.doesNotMatch(text, /dear/i, `${reply.status}`)
        }
      })
})

describe('what is reserved covers what an upstream may read', () => {
  for (const fields of [
    '"Max_Tokens":100000',
    '"N":50',
    '"max_to\u212Aens":100000',
    '"\u017Ftream":true',
    '"BEST_OF":9',
  ])
    it(`in ${fields}`, async () => {
      const { key } = await newKey({ billing: 'cost' })
      const reply = await post(key, '/v1/chat/completions', ASKED.replace('{', `{${fields},`))
      assert.equal(reply.status, 422, await reply.text())
      assert.deepEqual(asked(), [])
    })

  it('under the one name of the limit that every server honours, unless its model rejects that', async () => {
    const { key } = await newKey({ billing: 'cost' })
    const body = { ...CHAT, max_tokens: undefined, max_completion_tokens: 7 }
    assert.equal((await post(key, '/v1/chat/completions', body)).status, 200)
    upstream.on('/chat/completions', renamesLimit)
    assert.equal((await post(key, '/v1/chat/completions', { ...body, model: 'thinks' })).status, 200)
    const limits = asked().map(({ body }) => body as { max_tokens?: number; max_completion_tokens?: number })
    assert.deepEqual(
      limits.map((sent) => [sent.max_tokens, sent.max_completion_tokens]),
      [
        [7, undefined],
        [7, undefined],
        [undefined, 7],
      ],
    )
  })

  it('in an answer that goes on in the background once its client has left', async () => {
    const { key } = await newKey({ billing: 'cost' })
    for (const background of [true, 'true', 1]) {
      const created = { type: 'response.created', response: { id: 'resp_1', status: 'queued' } }
      upstream.on('/responses', sse([created], 'none'))
      await (await post(key, '/v1/responses', { model: 'm', input: 'x', background, stream: true })).text()
      const sent = asked().find(({ path }) => path === '/v1/responses')?.body as { max_output_tokens?: number }
      assert.equal(sent.max_output_tokens, running.gateway.loaded.config.wallet.max_output_tokens)
      upstream.received.length = 0
    }
  })

  it('in another field by which an upstream may read an object of another key', async () => {
    const owner = await newKey({ billing: 'recorded' })
    upstream.on('/responses', json(200, { ...response('secret'), id: 'resp_theirs' }))
    assert.equal((await post(owner.key, '/v1/responses', { model: 'm', input: 'x' })).status, 200)
    await running.gateway.calls.flush()
    upstream.received.length = 0
    const { key } = await newKey({ billing: 'recorded' })
    for (const name of ['previous_response_id', 'Previous_Response_ID', 'previou\u017f_response_id'])
      assert.equal(
        (await post(key, '/v1/responses', { model: 'm', input: 'x', [name]: 'resp_theirs' })).status,
        404,
        name,
      )
    assert.deepEqual(asked(), [])
  })

  it('in an answer that a lenient upstream makes in the background', async () => {
    for (const background of ['true', 1]) {
      const { key, id } = await newKey({ billing: 'cost' })
      upstream.on('/responses', json(200, { ...response(''), status: 'queued', output: [], usage: null }))
      const reply = await post(key, '/v1/responses', { model: 'm', input: 'x', background, max_output_tokens: 100_000 })
      assert.ok(reply.status === 422 || (await paid(id)) >= 0.3, `${await reply.text()} for ${await paid(id)}`)
    }
  })

  it('in an answer that is nested too deeply to be counted', async () => {
    const { usage: _, ...answer } = completion('word word word')
    const deep = `{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)},`
    const body = JSON.stringify(answer).replace('{"index"', `${deep}"index"`)
    upstream.on('/chat/completions', (reply) => void reply.setHeader('content-type', 'application/json').end(body))
    upstream.on('/responses', json(404, {}))
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages']) {
      const { key, id } = await newKey({ billing: 'cost' })
      const reply = await post(key, path, { ...CHAT, input: 'Hello', max_output_tokens: 100 })
      assert.equal(reply.status, 200, await reply.text())
      assert.ok(
        (await paid(id)) >= 0.003 * 0.1,
        `${path}: it costs what was set aside for 100 tokens, not ${await paid(id)}`,
      )
    }

    const { key, id } = await newKey({ billing: 'recorded' })
    assert.equal((await post(key, '/v1/chat/completions', CHAT)).status, 200)
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    assert.equal((await post(key, '/v1/chat/completions', CHAT)).status, 200)
    await running.gateway.calls.flush()
    const { items } = await running.gateway.keys.list({ limit: 1000 })
    assert.equal(
      items.find((record) => record.id === id)?.spend.total_usd,
      0.000045,
      'nothing is set aside for this key',
    )
  })

  it('in a completion that tells neither its usage nor its text', async () => {
    for (const stream of ['true', true, 1, undefined]) {
      const { key, id } = await newKey({ billing: 'cost' })
      upstream.on(
        '/completions',
        (reply) =>
          void reply
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .end('data: {"choices":[{"text":"word word word"}]}\n\ndata: [DONE]\n\n'),
      )
      const reply = await post(key, '/v1/completions', { model: 'm', prompt: 'x', max_tokens: 1000, stream })
      const text = await reply.text()
      assert.ok(reply.status !== 200 || (await paid(id)) > 0, `${reply.status} ${text} for ${await paid(id)}`)
    }
  })
})

describe('an upstream that lies about its usage', () => {
  const told = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }
  const lies: Record<string, unknown> = {
    negative: { prompt_tokens: -10, completion_tokens: -1e6, total_tokens: -5 },
    'of half tokens': { prompt_tokens: 1.5, completion_tokens: 0.1, total_tokens: 2 },
    'of words': { prompt_tokens: '5', completion_tokens: '5' },
    huge: { prompt_tokens: 1e18, completion_tokens: 1e300, total_tokens: 1e300 },
    'with more cached than read': { ...told, prompt_tokens_details: { cached_tokens: 1e9 } },
    'with less than none cached': { ...told, prompt_tokens_details: { cached_tokens: -1e9 } },
    'of another shape': [],
  }
  for (const [name, usage] of Object.entries(lies))
    it(`${name}, makes an answer neither free nor dearer than its reservation`, async () => {
      for (const stream of [false, true]) {
        const { key, id } = await newKey({ billing: 'cost' })
        const whole = json(200, { ...completion('Hello back'), usage })
        upstream.on('/chat/completions', stream ? sse(chunks(['Hello', ' back'], usage)) : whole)
        await (await post(key, '/v1/chat/completions', { ...CHAT, stream })).text()
        const usd = await paid(id)
        const most = ((ASKED.length + 256 + 50 + CHAT.max_tokens) * 3) / 1e6
        assert.ok(usd > 0 && usd <= most, `${usd} USD of ${most}`)
      }
    })
})

describe('a stream whose usage has the prompt alone', () => {
  const told = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }
  const words = Array.from({ length: 50 }, () => 'word ')

  for (const [path, body] of Object.entries({
    '/v1/chat/completions': CHAT,
    '/v1/messages': CHAT,
    '/v1/responses': { model: 'cheap', input: 'Hello', max_output_tokens: 100 },
  }))
    it(`costs its words at ${path}`, async () => {
      upstream.on('/responses', json(404, {}))
      upstream.on('/chat/completions', sse(chunks(words, told)))
      const { key, id } = await newKey({ billing: 'cost' })
      const text = await (await post(key, path, { ...body, stream: true })).text()
      assert.match(text, /word/)
      assert.ok((await paid(id)) >= (10 + 40) * 3e-6, `${await paid(id)} USD`)
    })
})

describe('an Idempotency-Key', () => {
  const once = { 'idempotency-key': 'once' }

  it('replays its own key’s answer alone, under any writing of the path, and at no other endpoint', async () => {
    const [owner, thief] = [await newKey({ billing: 'recorded' }), await newKey({ limits: { credit_limit_usd: 0 } })]
    assert.equal((await post(owner.key, '/v1/chat/completions', CHAT, once)).status, 200)
    assert.equal((await post(thief.key, '/v1/chat/completions', CHAT, once)).status, 402)
    for (const path of ['/v1/chat/completions/', '/v1/%63hat/completions'])
      assert.equal((await post(owner.key, path, CHAT, once)).headers.get('idempotent-replayed'), 'true', path)
    assert.equal((await post(owner.key, '/v1/responses', { model: 'm', input: 'x' }, once)).status, 422)
    assert.equal(asked().length, 1)
  })
})

describe('a stream that goes on', () => {
  const LONG = Array.from({ length: 20_000 }, (_, i) => ` word${i % 977}`)
  const event = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`

  /** Streams a long answer, most of it once `meanwhile` is done. */
  async function streamed(key: string, meanwhile: () => Promise<unknown>): Promise<string> {
    let goOn = () => {}
    const done = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.on('/chat/completions', async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('Hello'))
      await done
      reply.end(`${LONG.map(event).join('')}data: [DONE]\n\n`)
    })
    const reply = await post(key, '/v1/chat/completions', { ...CHAT, max_tokens: undefined, stream: true })
    await meanwhile()
    goOn()
    return reply.text()
  }
  const released = (id: string) =>
    until(async () => {
      const left = running.gateway.store.db.selectFrom('allowances').select('micros').where('key_id', '=', id).execute()
      return (await left).every(({ micros }) => micros === 0)
    })

  it('gets no more once its key is revoked, and costs what came', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    const text = await streamed(key, () => running.gateway.keys.revoke(id))
    assert.match(text, /invalid_api_key/)
    const words = text.split('word').length - 1
    assert.ok(words < LONG.length && words * 3 <= (await paid(id)) * 1e6, `${words} words for ${await paid(id)} USD`)
    await released(id)
  })

  it('gets no more than a budget that is lowered meanwhile, though its group changes too', async () => {
    const budgets = (usd: number) => ({ limits: { budgets: [{ usd, per: 'total' as const }] } })
    const group = await running.gateway.groups.create({ name: 'other', budgets: [{ usd: 0.001, per: 'total' }] })
    const { key, id } = await newKey({ billing: 'recorded', ...budgets(10) })
    const text = await streamed(key, () => running.gateway.keys.change(id, { ...budgets(0.03), group: group.id }))
    assert.match(text, /budget_reached/)
    await running.gateway.calls.flush()
    const { items } = await running.gateway.keys.list({ limit: 1000 })
    const { total_usd = 1 } = items.find((record) => record.id === id)?.spend ?? {}
    assert.ok(total_usd <= 0.03, `${total_usd}`)
    await released(id)
  })
})
