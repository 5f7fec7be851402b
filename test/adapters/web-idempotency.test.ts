import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = { messages: [{ role: 'user', content: 'Say hello.' }] }
const QUESTION = { input: 'Find it.' }

describe('a model call with an Idempotency-Key', () => {
  let server: double.UpstreamDouble
  let running: RunningGateway
  let keys = 0

  before(async () => {
    server = await double.startUpstream()
    running = await startGateway(server.url)
  })
  beforeEach(() => {
    server.received.length = 0
    keys += 1
  })
  after(async () => {
    await running.close()
    await server.close()
  })

  const post = (path: string, body: unknown, signal?: AbortSignal) =>
    fetch(running.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${running.key}`,
        'content-type': 'application/json',
        'idempotency-key': `key ${keys}`,
      },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    })
  const errorOf = async (reply: Response) => ((await reply.json()) as { error: Record<string, unknown> }).error

  const endpoints = [
    ['/chat/completions', CHAT, double.completion('Hello 🙂.')],
    ['/responses', QUESTION, double.response('Found 🙂.')],
  ] as const
  for (const [path, body, answer] of endpoints) {
    it(`asks the upstream once when it comes twice to ${path}`, async () => {
      server.on(path, double.json(200, answer, { 'x-ratelimit-remaining': '7' }))
      const first = await post(`/v1${path}`, body)
      const again = await post(`/v1${path}`, body)
      for (const reply of [first, again]) {
        assert.equal(reply.status, 200)
        assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
        assert.deepEqual(await reply.json(), answer)
      }
      assert.equal(server.received.length, 1)
      assert.deepEqual(
        [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
        [null, 'true'],
      )
      assert.deepEqual(
        [first, again].map(({ headers }) => headers.get('x-ratelimit-remaining')),
        ['7', null],
      )
      assert.equal(first.headers.get('x-gazeway-call-id'), again.headers.get('x-gazeway-call-id'))
      assert.notEqual(first.headers.get('x-request-id'), again.headers.get('x-request-id'))
    })

    it(`is refused with another body, and with a stream, at ${path}`, async () => {
      server.on(path, double.json(200, answer))
      await post(`/v1${path}`, body)
      const other = await post(`/v1${path}`, { ...body, temperature: 0 })
      assert.equal(other.status, 422)
      assert.equal((await errorOf(other)).code, 'idempotency_key_reused')
      const stream = await post(`/v1${path}`, { ...body, stream: true })
      assert.equal(stream.status, 422)
      const { code, param, message } = await errorOf(stream)
      assert.deepEqual([code, param], ['validation_failed', 'Idempotency-Key'])
      assert.match(String(message), /streams cannot be replayed/)
      assert.equal(server.received.length, 1)
    })
  }

  it('says again which endpoint answered', async () => {
    server.on('/responses', double.fails(500))
    server.on('/chat/completions', double.json(200, double.completion('From chat.')))
    for (const replayed of [null, 'true']) {
      const { headers } = await post('/v1/responses', QUESTION)
      assert.equal(headers.get('x-gazeway-route'), 'chat_fallback')
      assert.equal(headers.get('idempotent-replayed'), replayed)
    }
    assert.equal(server.received.length, 2)
  })

  it('is answered as another process has meanwhile, which took over', async () => {
    const { db } = running.gateway.store
    const headers = { 'content-type': 'application/json', 'x-gazeway-call-id': 'call_other' }
    const kept = { attempt: 'other', in_flight_until: null, status: 200, headers: JSON.stringify(headers) }
    server.on('/chat/completions', async (request, response) => {
      await db
        .updateTable('idempotency_keys')
        .set({ ...kept, body: '{"of":"the other"}' })
        .execute()
      await double.json(200, double.completion('Mine.'))(request, response)
    })
    const reply = await post('/v1/chat/completions', CHAT)
    assert.deepEqual(await reply.json(), { of: 'the other' })
    const told = ['idempotent-replayed', 'x-gazeway-call-id'].map((name) => reply.headers.get(name))
    assert.deepEqual([reply.status, ...told], [200, 'true', 'call_other'])
  })

  it('replays a refusal, and runs again after a transient error', async () => {
    for (const [status, calls] of [
      [400, 1],
      [429, 2],
      [500, 2],
    ] as const) {
      keys += 1
      server.received.length = 0
      server.on('/chat/completions', double.fails(status))
      for (const _ of ['once', 'again']) {
        const reply = await post('/v1/chat/completions', CHAT)
        assert.equal(reply.status, status)
        assert.equal((await errorOf(reply)).message, `double says ${status}`)
      }
      assert.equal(server.received.length, calls)
    }
  })

  it('says again what the first refusal said, the ids of its request and its call too', async () => {
    const memory = { key: 'k', value: 1, if_version: -7 }
    for (const [path, body, behaviour, status] of [
      ['/v1/chat/completions', CHAT, double.fails(400), 400],
      ['/v1/chat/completions', CHAT, double.json(200, { error: { message: 'No such model.', code: 404 } }), 404],
      ['/memory/store', memory, double.hangs, 422],
    ] as const) {
      keys += 1
      server.on('/chat/completions', behaviour)
      const first = await post(path, body)
      const again = await post(path, body)
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [status, 'true'])
      assert.equal(again.headers.get('x-gazeway-call-id'), first.headers.get('x-gazeway-call-id'))
      const error = await errorOf(first)
      assert.equal(error.request_id, first.headers.get('x-request-id'))
      assert.deepEqual(await errorOf(again), error)
    }
  })

  it('runs again after a refusal with Retry-After', async () => {
    for (const name of ['retry-after', 'retry-after-ms']) {
      keys += 1
      server.on('/chat/completions', double.fails(409, { [name]: '1' }))
      const refused = await post('/v1/chat/completions', CHAT)
      assert.deepEqual([refused.status, refused.headers.get(name)], [409, '1'])
      server.on('/chat/completions', double.json(200, double.completion('Warm now.'), { [name]: '1' }))
      for (const replayed of [null, 'true']) {
        const reply = await post('/v1/chat/completions', CHAT)
        assert.deepEqual([reply.status, reply.headers.get('idempotent-replayed')], [200, replayed])
      }
    }
  })

  it('runs again when its client had disconnected before the reply', async () => {
    server.on('/chat/completions', double.hangs)
    const client = new AbortController()
    const lost = assert.rejects(post('/v1/chat/completions', CHAT, client.signal))
    await until(() => server.received.length > 0)
    client.abort()
    await lost
    await server.received[0]?.aborted
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const reply = await until(async () => {
      const again = await post('/v1/chat/completions', CHAT)
      return again.status !== 409 && again
    })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('idempotent-replayed'), null)
  })
})
