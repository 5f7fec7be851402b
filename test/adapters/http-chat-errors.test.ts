import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ASK, errorOf, eventsOf, happens, openGateway, QUESTION } from './http-gateway.ts'

const { server, post, records } = await openGateway()

describe('errors of POST /v1/chat/completions', () => {
  for (const status of [400, 401, 403, 404, 429, 500, 503])
    it(`keeps the upstream's ${status} and OpenAI's shape`, async () => {
      server.on('/chat/completions', double.fails(status, { 'retry-after': '3' }))
      for (const stream of [false, true]) {
        const reply = await post('/v1/chat/completions', { ...ASK, stream })
        assert.equal(reply.status, status)
        const error = await errorOf(reply)
        assert.deepEqual([error.message, error.type, error.param], [`double says ${status}`, 'server_error', null])
        assert.equal(error.request_id, reply.headers.get('x-request-id'))
        assert.equal(reply.headers.get('retry-after'), '3')
      }
      assert.deepEqual(
        (await records()).map((record) => [record.status, record.usage]),
        [
          ['error', null],
          ['error', null],
        ],
      )
    })

  it('gives an error of another shape OpenAI’s, and takes the key out of it', async () => {
    server.on('/chat/completions', double.json(400, { code: 'bad_key', error: 'key upstream-secret-key is bad' }))
    const error = await errorOf(await post('/v1/chat/completions', ASK))
    assert.deepEqual([error.code, error.message], ['bad_key', 'key *** is bad'])
    for (const [status, type] of [
      [429, 'rate_limit_error'],
      [404, 'not_found_error'],
      [503, 'server_error'],
    ] as const) {
      server.on('/chat/completions', double.json(status, 'no'))
      assert.equal((await errorOf(await post('/v1/chat/completions', ASK))).type, type)
    }
    assert.ok(!JSON.stringify(await records()).includes('upstream-secret-key'))
  })

  for (const error of [['busy'], { message: 'busy' }])
    it(`completes what is missing in the refusal ${JSON.stringify(error)}`, async () => {
      server.on('/chat/completions', double.json(400, { error }))
      const said = await errorOf(await post('/v1/chat/completions', ASK))
      assert.deepEqual([said.type, said.code, said.param], ['invalid_request_error', 'upstream_error', null])
      assert.match(String(said.message), /busy/)
    })

  for (const [code, status] of [
    [429, 429],
    ['400', 400],
    [200, 502],
    ['server_error', 502],
    [undefined, 502],
  ] as const)
    it(`explains the error that replaces the answer, with the code ${code}`, async () => {
      const error = { message: 'Too long for upstream-secret-key.', code }
      const failed = { ...double.response(''), status: 'failed', error, usage: null }
      server.on('/chat/completions', double.json(200, { error, user_id: 'u' }))
      for (const [path, whole] of [
        ['/v1/chat/completions', null],
        ['/v1/responses', { error }],
        ['/v1/responses', failed],
      ] as const)
        for (const stream of [false, true]) {
          if (whole) server.on('/responses', double.json(200, whole))
          const reply = await post(path, { ...ASK, ...QUESTION, stream })
          const said = await errorOf(reply)
          assert.deepEqual([reply.status, said.code], [status, 'upstream_error'])
          assert.match(String(said.message), /reported an error: Too long for \*\*\*\.$/)
        }
      await until(async () => (await records()).length === 10)
      for (const record of await records()) {
        assert.deepEqual([record.status, record.http_status, record.usage], ['error', 200, null])
        assert.match(record.error ?? '', /^The upstream \S+ reported an error( \((400|server_error)\))?\.$/)
      }
    })

  for (const failed of double.failedChoices)
    it(`treats a choice that the provider aborted as a failure: ${JSON.stringify(failed)}`, async () => {
      server.on('/chat/completions', double.json(200, double.failedCompletion('Hel', failed)))
      for (const stream of [false, true]) {
        const reply = await post('/v1/chat/completions', { ...ASK, stream })
        const said = await errorOf(reply)
        assert.deepEqual([reply.status, said.code], [502, 'upstream_error'])
        assert.match(String(said.message), /reported an error: (The worker died\.|its answer ended with \w+)$/)
      }
      server.on('/chat/completions', double.sse(double.failedChunks(['Hel'], failed)))
      const events = eventsOf(await (await post('/v1/chat/completions', { ...ASK, stream: true })).text())
      const [choice] = events.at(-2).choices
      assert.equal(events.at(-1).type, 'error', 'clients throw')
      assert.deepEqual([events[1].choices[0].delta.content, { ...choice, ...failed }], ['Hel', choice])
      assert.equal((await post('/v1/chat/completions', ASK)).status, 502)
      await until(async () => (await records()).length === 4)
      for (const record of await records()) {
        assert.deepEqual([record.status, record.http_status], ['error', 200])
        if (record.usage?.estimated) assert.ok(record.usage.completion_tokens > 0, 'what was generated is counted')
        else assert.equal(record.usage?.total_tokens, 15)
      }
    })

  it('passes the choices on that answered beside one that failed', async () => {
    const [answered] = double.completion('Hello.').choices
    const choices = [
      { ...answered, ...double.failedChoices[0] },
      { ...answered, index: 1 },
    ]
    server.on('/chat/completions', double.json(200, { ...double.completion(''), choices }))
    const reply = await post('/v1/chat/completions', { ...ASK, n: 2 })
    assert.deepEqual([reply.status, ((await reply.json()) as { choices: unknown }).choices], [200, choices])
    await until(async () => (await records()).length === 1)
    assert.equal((await records())[0]?.status, 'ok')
  })

  it('notes the status of a reply that is no completion', async () => {
    server.on('/chat/completions', double.json(201, { hello: 'world' }))
    assert.equal((await post('/v1/chat/completions', ASK)).status, 502)
    assert.equal((await records())[0]?.http_status, 201)
  })

  it('refuses a reply above the size limit, without counting the upstream as down', async () => {
    server.on('/chat/completions', saysTooMuch('application/json', ' '.repeat(1024 * 1024)))
    const reply = await post('/v1/chat/completions', ASK)
    const { code, message } = await errorOf(reply)
    assert.deepEqual([reply.status, code], [502, 'upstream_bad_reply'])
    assert.match(String(message), /its reply is larger than 67108864 bytes/)
    await server.received[0]?.aborted
  })

  for (const [status, what] of [
    [302, 'it redirects (302)'],
    [304, 'its reply has no body (304)'],
    [204, 'its reply has no body (204)'],
  ] as const)
    it(`answers 502 where the upstream answers ${status}`, async () => {
      server.on('/chat/completions', (response) => {
        response.writeHead(status, { location: 'http://elsewhere.example/' }).end()
      })
      server.on('/responses', double.json(status, {}, { location: 'http://elsewhere.example/' }))
      for (const [path, body] of [
        ['/v1/chat/completions', ASK],
        ['/v1/responses', QUESTION],
      ] as const) {
        const reply = await post(path, body)
        assert.equal(reply.status, 502)
        assert.equal(reply.headers.get('location'), null)
        const { code, message } = await errorOf(reply)
        assert.equal(code, 'upstream_bad_reply')
        assert.ok(String(message).includes(what))
      }
      assert.deepEqual(
        (await records()).map((record) => record.http_status),
        [status, status, status],
      )
    })

  for (const [name, failure, status] of [
    ['silence', double.hangs, 504],
    ['a dropped connection', double.drops, 502],
    ['malformed JSON', double.malformed, 502],
  ] as const)
    it(`answers ${status} on ${name}`, async () => {
      server.on('/chat/completions', failure)
      const reply = await post('/v1/chat/completions', ASK)
      assert.equal(reply.status, status)
      assert.equal((await errorOf(reply)).type, 'upstream_error')
      assert.equal((await records())[0]?.status, 'error')
    })

  for (const [name, end, status, code] of [
    ['ended', (socket: Socket) => void socket.end(), 502, 'upstream_bad_reply'],
    ['reset', (socket: Socket) => void socket.resetAndDestroy(), 502, 'upstream_bad_reply'],
    ['forgotten', () => {}, 504, 'upstream_timeout'],
  ] as const)
    it(`says ${code} of a reply that is ${name} in the middle, and notes its status`, async () => {
      server.on('/chat/completions', begins(201, end))
      const reply = await post('/v1/chat/completions', ASK)
      const error = await errorOf(reply)
      assert.deepEqual([reply.status, error.code], [status, code])
      if (code === 'upstream_bad_reply')
        assert.match(String(error.message), /was cut off before the answer was complete/)
      const [record] = await records()
      assert.deepEqual([record?.status, record?.http_status], ['error', 201])
    })

  it('treats an unrequested 100 Continue as a bad reply', async () => {
    server.on('/chat/completions', (response) => response.writeContinue())
    const reply = await post('/v1/chat/completions', ASK)
    const { code, message } = await errorOf(reply)
    assert.deepEqual([reply.status, code], [502, 'upstream_bad_reply'])
    assert.match(String(message), /violates HTTP/)
  })

  it('calls more headers than it keeps, and one with a control character, a bad reply', async () => {
    const large = double.json(200, double.completion('Hello.'), { 'x-large': 'x'.repeat(17_000) })
    const broken: double.Behaviour = (response) =>
      void response.socket?.end('HTTP/1.1 200 OK\r\nx: a\x01b\r\ncontent-length: 2\r\n\r\n{}')
    for (const [behaviour, says] of [
      [large, /headers of its reply take more than 16 KiB/],
      [broken, /violates HTTP/],
    ] as const) {
      server.on('/chat/completions', behaviour)
      const reply = await post('/v1/chat/completions', ASK)
      const { code, message } = await errorOf(reply)
      assert.deepEqual([reply.status, code], [502, 'upstream_bad_reply'])
      assert.match(String(message), says)
    }
  })

  it('treats a reply that is not HTTP as a bad reply', async () => {
    server.on('/chat/completions', (response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'))
    const reply = await post('/v1/chat/completions', ASK)
    assert.deepEqual([reply.status, (await errorOf(reply)).code], [502, 'upstream_bad_reply'])
  })
})

/** Begins a reply with a status and 50 of its 500 bytes, and does the given to its connection then. */
const begins =
  (status: number, end: (socket: Socket) => void): double.Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': 500 })
    response.write(' '.repeat(50), () => end(response.socket as Socket))
  }

/** Says one piece of 1 MiB over and over, at its reader's pace and far beyond what sockets hold, until nobody listens. */
const saysTooMuch =
  (type: string, piece: string): double.Behaviour =>
  async (response) => {
    response.writeHead(200, { 'content-type': type })
    const closed = happens(response, 'close')
    for (let sent = 0; sent < 256 && !response.destroyed; sent++)
      if (!response.write(piece)) await Promise.race([happens(response, 'drain'), closed])
    response.end()
  }
