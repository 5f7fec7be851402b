import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import OpenAI from 'openai'
import type { CallRecord } from '../../src/calls/call-record.ts'
import * as double from '../doubles/upstream.ts'
import { dies } from './dying.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { holdTime } from './held-clock.ts'

const ASK = { messages: [{ role: 'user', content: 'Say hello.' }] }
/** An answer that its provider ends without a finish reason. */
const UNFINISHED = double.chunks(['Hello.'], null).slice(0, -1)
const QUESTION = { input: 'Find it.', instructions: 'Be short.' }

describe('the gateway over HTTP', () => {
  let server: double.UpstreamDouble
  let running: RunningGateway

  before(async () => {
    server = await double.startUpstream()
    running = await startGateway(server.url, {}, { upstream: { timeout_ms: 700 } })
  })
  beforeEach(async () => {
    server.received.length = 0
    await running.gateway.calls.flush()
    await running.gateway.store.db.deleteFrom('calls').execute()
    await running.gateway.store.db.deleteFrom('call_rollups').execute()
    await running.gateway.store.db.deleteFrom('call_totals').execute()
  })
  afterEach(() => assert.ok(!running.logged.join('').includes('upstream-secret-key')))
  after(async () => {
    await running.close()
    await server.close()
  })

  const request = (path: string, init: RequestInit & { key?: string | null } = {}) => {
    const { key = running.key, ...rest } = init
    const headers = { ...(key ? { authorization: `Bearer ${key}` } : {}), ...(rest.headers as Record<string, string>) }
    return fetch(running.url + path, { ...rest, headers })
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    request(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
      ...(signal ? { signal } : {}),
    })
  const errorOf = async (reply: Response) => ((await reply.json()) as { error: Record<string, unknown> }).error
  const records = async (): Promise<CallRecord[]> => (await running.gateway.calls.history({ limit: 50 })).items
  const inFlight = async () =>
    /^gazeway_http_requests_in_flight (.+)$/m.exec(await (await request('/metrics')).text())?.[1]
  const sentBody = () => server.received.at(-1)?.body as Record<string, unknown>
  const eventsOf = (text: string) =>
    text
      .split('\n\n')
      .filter((event) => event.includes('data: {'))
      .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)))

  describe('at the door', () => {
    it('answers /health without a key', async () => {
      const reply = await request('/health', { key: null })
      assert.equal(reply.status, 200)
      const body = (await reply.json()) as Record<string, unknown>
      assert.deepEqual(Object.keys(body), ['status', 'version', 'uptime_seconds', 'store', 'upstream', 'upstreams'])
    })

    it('takes a key after any number of spaces, and whatever the case of its scheme', async () => {
      for (const authorization of [`Bearer  ${running.key}`, `bearer   ${running.key}`])
        assert.equal((await request('/v1/models', { key: null, headers: { authorization } })).status, 200)
    })

    it('lets the pages of allowed origins call, after the preflight of a browser', async () => {
      const origin = 'http://localhost:3000'
      const fresh = await startGateway(server.url, {}, { http: { allowed_origins: [origin] } })
      const preflight = (from: string, path: string) =>
        fetch(fresh.url + path, {
          method: 'OPTIONS',
          headers: {
            origin: from,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,content-type',
            'x-request-id': 'mine',
          },
        })
      const allowed = await preflight(origin, '/v1/chat/completions')
      assert.deepEqual([allowed.status, allowed.headers.get('x-request-id')], [204, 'mine'])
      assert.equal(allowed.headers.get('access-control-allow-origin'), origin)
      assert.equal(allowed.headers.get('access-control-allow-headers'), 'authorization,content-type')
      assert.match(allowed.headers.get('access-control-allow-methods') ?? '', /\bPOST\b/)

      const foreign = await preflight('http://evil.example', '/v1/chat/completions')
      assert.equal(foreign.status, 403)
      assert.equal(foreign.headers.get('access-control-allow-origin'), null)

      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      const ask = (key: string) =>
        fetch(`${fresh.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { origin, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi.' }] }),
        })
      for (const [key, status] of [
        [fresh.key, 200],
        ['wrong', 401],
      ] as const) {
        const reply = await ask(key)
        assert.equal(reply.status, status)
        assert.equal(reply.headers.get('access-control-allow-origin'), origin)
        assert.equal(reply.headers.get('vary'), 'Origin')
      }
      await fresh.close()
    })

    for (const [name, key] of Object.entries({ no: null, 'a wrong': `gzw_${'0'.repeat(32)}_x`, 'a foreign': 'sk-abc' }))
      it(`refuses ${name} key with 401, as a browser gets it`, async () => {
        for (const path of ['/v1/models', '/mcp', '/', '/nowhere']) {
          const reply = await request(path, { key })
          assert.equal(reply.status, 401)
          assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/)
          assert.equal((await errorOf(reply)).type, 'authentication_error')
        }
      })

    it('refuses a revoked key, and one without the scope', async () => {
      const { key, record } = await running.gateway.keys.create({ name: 'gone', scopes: ['inference'] })
      assert.equal((await request('/v1/models', { key })).status, 200)
      await running.gateway.keys.revoke(record.id)
      assert.equal((await request('/v1/models', { key })).status, 401)
      const other = await running.gateway.keys.create({ name: 'other', scopes: ['platform'] })
      const reply = await request('/v1/models', { key: other.key })
      assert.equal(reply.status, 403)
      assert.equal((await errorOf(reply)).code, 'insufficient_scope')
    })

    it('has no /mcp, knows no other path, and names the methods of those it knows', async () => {
      assert.equal((await request('/mcp', { method: 'POST' })).status, 404)
      assert.equal((await request('/nowhere')).status, 404)
      const reply = await request('/v1/chat/completions')
      assert.equal(reply.status, 405)
      assert.equal(reply.headers.get('allow'), 'POST')
    })

    it('refuses foreign hosts and origins', async () => {
      const raw = await new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
        let text = ''
        socket.on('data', (data) => {
          text += data
        })
        socket.on('close', () => resolve(text))
        socket.end('GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
      })
      assert.match(raw, /^HTTP\/1\.1 403 /)
      assert.equal((await request('/health', { headers: { origin: 'https://evil.example' } })).status, 403)
      assert.equal((await request('/health', { headers: { origin: running.url } })).status, 200)
    })

    it('keeps a sane request id and replaces any other', async () => {
      const id = async (asked: string) =>
        (await request('/health', { headers: { 'x-request-id': asked } })).headers.get('x-request-id')
      assert.equal(await id('abc-123'), 'abc-123')
      assert.match((await id('no spaces allowed')) ?? '', /^req_[0-9a-f]{32}$/)
    })

    for (const path of ['/v1/chat/completions', '/v1/responses'])
      it(`refuses bad bodies on ${path}`, async () => {
        const type = { 'content-type': 'text/plain' }
        assert.equal((await post(path, '{}', type)).status, 415)
        assert.equal((await post(path, '{"messages": [')).status, 400)
        assert.equal((await post(path, 'x'.repeat(5 * 1024 * 1024))).status, 413)
        const wrong = await post(path, { ...ASK, ...QUESTION, stream: 'yes' })
        assert.equal(wrong.status, 422)
        assert.equal((await errorOf(wrong)).param, 'stream')
        assert.equal((await post(path, { messages: [], input: 5 })).status, 422)
        assert.equal(server.received.length, 0)
      })

    for (const [path, body] of [
      ['/v1/chat/completions', { messages: Array(5000).fill({}) }],
      ['/v1/responses', { input: Array(5000).fill(1) }],
      ['/v1/responses', { ...QUESTION, tools: Array(5000).fill({}) }],
    ] as const)
      it(`looks no further than a hundred faults in ${Object.keys(body).at(-1)} of ${path}`, async () => {
        const refused = await post(path, body)
        assert.equal(refused.status, 422)
        assert.match(String((await errorOf(refused)).message), / At least 97 more\.$/)
      })
  })

  describe('POST /v1/chat/completions', () => {
    it('passes the request and the reply through', async () => {
      const answer = double.completion('Hello.')
      server.on('/chat/completions', double.json(200, answer, { 'x-ratelimit-remaining': '7', 'set-cookie': 'a=b' }))
      const asked = { ...ASK, model: 'llm-3-fast', seed: 7, provider_field: { a: [1] } }
      const reply = await post('/v1/chat/completions', asked, { 'x-request-id': 'mine', cookie: 'c=d' })
      assert.equal(reply.status, 200)
      assert.deepEqual(await reply.json(), answer)
      assert.equal(reply.headers.get('x-request-id'), 'mine')
      assert.equal(reply.headers.get('x-ratelimit-remaining'), '7')
      assert.equal(reply.headers.get('set-cookie'), null)
      assert.deepEqual(sentBody(), asked)
      const { headers } = server.received[0] ?? assert.fail()
      assert.equal(headers.authorization, 'Bearer upstream-secret-key')
      assert.equal(headers.cookie, undefined)
      assert.ok(!JSON.stringify(server.received).includes(running.key), 'the caller’s key stays here')
      const [record] = await records()
      assert.equal(record?.surface, 'http')
      assert.match(record?.caller_id ?? '', /^key_/)
      assert.deepEqual(record?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
    })

    it('streams chunk by chunk, counts usage and leaves out the chunk that the client did not ask for', async () => {
      server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'])))
      const reply = await post('/v1/chat/completions', { ...ASK, stream: true })
      assert.equal(reply.headers.get('content-type'), 'text/event-stream')
      const text = await reply.text()
      assert.ok(text.endsWith('data: [DONE]\n\n'))
      assert.ok(!text.includes('"usage":{'))
      assert.deepEqual(sentBody().stream_options, { include_usage: true })
      const [record] = await records()
      assert.deepEqual(record?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
      assert.ok(record?.stream)
      assert.notEqual(record?.first_token_ms, null)
    })

    for (const choices of [null, undefined])
      it(`takes a chunk for one that only reports usage where its choices are ${choices}`, async () => {
        const [usage, ...chunks] = double.chunks(['Hi.']).reverse()
        server.on('/chat/completions', double.sse([...chunks.reverse(), { ...usage, choices }]))
        const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
        assert.ok(!text.includes('"usage"'), text)
        assert.equal((await records())[0]?.usage?.total_tokens, 15)
      })

    it('tells proxies to pass a stream on as it comes, whichever way it is answered', async () => {
      const [chat, response] = [double.sse(double.chunks(['Hi.'])), double.sse(double.responseEvents(['Hi.']), 'none')]
      const whole = double.json(200, double.completion('Hi.'))
      for (const [path, chats, responses] of [
        ['/v1/chat/completions', chat, response],
        ['/v1/chat/completions', whole, response],
        ['/v1/responses', chat, response],
        ['/v1/responses', chat, double.json(200, double.response('Hi.'))],
        ['/v1/responses', chat, double.fails(500)],
        ['/v1/responses', whole, double.fails(500)],
      ] as const) {
        server.on('/chat/completions', chats)
        server.on('/responses', responses)
        const { headers } = await post(path, { ...ASK, ...QUESTION, stream: true })
        assert.deepEqual(
          ['content-type', 'cache-control', 'x-accel-buffering'].map((name) => headers.get(name)),
          ['text/event-stream', 'no-cache', 'no'],
        )
        const one = await post(path, { ...ASK, ...QUESTION })
        assert.equal(one.headers.get('x-accel-buffering'), null)
      }
    })

    for (const wanted of [{ stream_options: { include_usage: true } }, { usage: { include: true } }])
      it(`passes the usage chunk on where it was asked for: ${JSON.stringify(wanted)}`, async () => {
        for (const reply of [double.sse(double.chunks(['Hi.'])), double.json(200, double.completion('Hi.'))]) {
          server.on('/chat/completions', reply)
          const text = await (await post('/v1/chat/completions', { ...ASK, stream: true, ...wanted })).text()
          assert.equal(eventsOf(text).at(-1).usage.total_tokens, 15)
        }
      })

    it('leaves the usage chunk out where usage is a word of another kind', async () => {
      server.on('/chat/completions', double.sse(double.chunks(['Hi.'])))
      for (const usage of [null, 'include', { include: false }, { include: 'true' }, [true]]) {
        const text = await (await post('/v1/chat/completions', { ...ASK, stream: true, usage })).text()
        assert.equal(eventsOf(text).at(-1).usage, undefined)
      }
    })

    for (const status of [400, 422])
      it(`does not ask for the usage of a stream where that is refused with ${status}, and remembers it`, async () => {
        server.on('/responses', double.fails(404))
        server.on('/chat/completions', double.tellsNoUsage(double.sse(double.chunks(['Hi.'], null)), status))
        const model = `shy-${status}`
        const asked = async (path: string, body: object) => {
          const reply = await post(path, { ...ASK, ...QUESTION, stream: true, ...body })
          const chats = server.received.splice(0).filter(({ path }) => path.endsWith('/chat/completions')).length
          return [reply.status, (await reply.text()).includes('"Hi."'), chats]
        }
        assert.deepEqual(await asked('/v1/chat/completions', { model }), [200, true, 2])
        assert.deepEqual(await asked('/v1/chat/completions', { model }), [200, true, 1])
        await until(async () => (await records()).length === 2)
        const kept = (await records()).map(({ status, stream, usage }) => [status, stream, usage?.estimated])
        assert.deepEqual(kept, Array(2).fill(['ok', true, true]))
        const own = { model, stream_options: { include_usage: false } }
        assert.deepEqual(await asked('/v1/chat/completions', own), [status, false, 1], 'its client’s own field')
        const other = await asked('/v1/responses', {})
        assert.deepEqual(other, [200, true, status === 400 ? 2 : 1], 'its model is asked for usage once')
        await until(async () => (await records()).length === 5)
      })

    it('goes on asking for usage where a refusal names the field for another reason', async () => {
      const refused = double.json(422, { detail: [{ msg: 'Field required: user', input: { stream_options: {} } }] })
      server.on('/chat/completions', refused)
      for (const _ of ['once', 'again']) {
        server.received.length = 0
        const reply = await post('/v1/chat/completions', { ...ASK, stream: true, model: 'strict' })
        assert.equal(reply.status, 422)
        const asked = server.received.map(({ body }) => Object.hasOwn(body as object, 'stream_options'))
        assert.deepEqual(asked, [true, false])
      }
    })

    it('counts usage once where every chunk reports it beside its choices', async () => {
      const chunks = double.chunks(['a', 'b', 'c'], null).map((chunk, i) => ({
        ...chunk,
        usage: { prompt_tokens: 4, completion_tokens: i, total_tokens: 4 + i },
      }))
      server.on('/chat/completions', double.sse(chunks))
      const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      assert.equal(eventsOf(text).length, chunks.length, 'chunks with choices are passed on')
      assert.deepEqual((await records())[0]?.usage, { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 })
    })

    it('estimates usage that the upstream does not report, streaming and not', async () => {
      server.on('/chat/completions', double.json(200, double.completion('Hello.', null)))
      await post('/v1/chat/completions', ASK)
      server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'], null)))
      await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      await until(async () => (await records()).length === 2)
      for (const { usage } of await records()) {
        assert.equal(usage?.estimated, true)
        assert.ok((usage?.completion_tokens ?? 0) > 0)
      }
    })

    for (const field of ['reasoning_content', 'reasoning', 'refusal'])
      it(`estimates a stream by its ${field}, too`, async () => {
        const [role, , finish] = double.chunks(['4'], null)
        const thoughts = Array.from({ length: 100 }, () => ({
          ...role,
          choices: [{ index: 0, delta: { [field]: ' word' }, finish_reason: null }],
        }))
        for (const end of [[finish], []]) {
          server.on('/chat/completions', double.sse([role, ...thoughts, ...end], 'none'))
          await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
        }
        await until(async () => (await records()).length === 2)
        for (const { usage } of await records())
          assert.deepEqual([usage?.estimated, usage?.completion_tokens], [true, 100])
      })

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

    it('asks the chat model where the model is null', async () => {
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      assert.equal((await post('/v1/chat/completions', { ...ASK, model: null })).status, 200)
      assert.equal(sentBody().model, 'llm-3-fast')
    })

    it('keeps the numbers that JavaScript cannot hold', async () => {
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      const text = `{"messages":${JSON.stringify(ASK.messages)},"provider_field":{"most":1e400}}`
      assert.equal((await post('/v1/chat/completions', text)).status, 200)
      assert.deepEqual(sentBody().provider_field, { most: Number.POSITIVE_INFINITY })
      assert.equal(sentBody().model, 'llm-3-fast')
    })

    it('takes the first of a header that came twice', async () => {
      server.on('/chat/completions', (response) => {
        const twice = (name: string, value: string) => [name, value, name, 'text/plain']
        const type = twice('content-type', 'application/json')
        response.writeHead(200, [...type, ...twice('x-ratelimit-remaining', '7')])
        response.end(JSON.stringify(double.completion('Hello.')))
      })
      const { headers } = await post('/v1/chat/completions', ASK)
      assert.deepEqual([headers.get('content-type'), headers.get('x-ratelimit-remaining')], ['application/json', '7'])
    })

    it('reads replies and refusals after a byte order mark', async () => {
      const marked =
        (status: number, body: object): double.Behaviour =>
        (response) =>
          void response.writeHead(status, { 'content-type': 'application/json' }).end(`\ufeff${JSON.stringify(body)}`)
      server.on('/chat/completions', marked(200, double.completion('Hello.')))
      server.on('/responses', marked(200, double.response('Found.')))
      for (const path of ['/v1/chat/completions', '/v1/responses']) {
        const reply = await post(path, { ...ASK, ...QUESTION })
        assert.deepEqual([reply.status, reply.headers.get('x-gazeway-route')], [200, null])
        await reply.json()
      }
      server.on('/responses', marked(400, { error: { message: 'no', param: 'temperature' } }))
      const answered = await post('/v1/responses', { ...QUESTION, temperature: 0.3 })
      assert.deepEqual([answered.status, sentBody().temperature], [200, undefined])
      server.on('/chat/completions', marked(400, { error: { message: 'no' } }))
      assert.equal((await errorOf(await post('/v1/chat/completions', ASK))).message, 'no')
    })

    for (const [path, answer] of [
      ['/chat/completions', double.completion('DEEP', null)],
      ['/responses', { ...double.response('DEEP'), usage: null }],
    ] as const)
      it(`records an answer on ${path} that is nested too deeply to be counted`, async () => {
        const deep = `${'{"0":'.repeat(100_000)}1${'}'.repeat(100_000)}`
        const text = JSON.stringify(answer).replace('"DEEP"', deep)
        server.on(path, (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text))
        const reply = await post(`/v1${path}`, { ...ASK, ...QUESTION })
        assert.deepEqual([reply.status, await reply.text()], [200, text])
        await until(async () => (await records()).length > 0)
        assert.deepEqual(
          (await records()).map(({ status, http_status, usage, error }) => [status, http_status, usage, error]),
          [['ok', 200, null, null]],
        )
      })

    for (const [code, status] of [
      [429, 429],
      ['400', 400],
      [200, 502],
      ['server_error', 502],
      [undefined, 502],
    ] as const)
      it(`tells why there is an error in place of the answer, with its code ${code}`, async () => {
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
      it(`takes a choice that its provider gave up for no answer: ${JSON.stringify(failed)}`, async () => {
        server.on('/chat/completions', double.json(200, double.failedCompletion('Hel', failed)))
        for (const stream of [false, true]) {
          const reply = await post('/v1/chat/completions', { ...ASK, stream })
          const said = await errorOf(reply)
          assert.deepEqual([reply.status, said.code], [502, 'upstream_error'])
          assert.match(String(said.message), /reported an error: (The worker died\.|its answer ended with \w+)$/)
        }
        server.on('/chat/completions', double.sse(double.failedChunks(['Hel'], failed)))
        const events = eventsOf(await (await post('/v1/chat/completions', { ...ASK, stream: true })).text())
        const [choice] = events.at(-1).choices
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

    it('refuses a reply that is larger than it keeps, and does not take the upstream for down', async () => {
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
          assert.match(String(error.message), /broke off before the answer was complete/)
        const [record] = await records()
        assert.deepEqual([record?.status, record?.http_status], ['error', 201])
      })

    it('calls a 100 that nobody asked for a bad reply', async () => {
      server.on('/chat/completions', (response) => response.writeContinue())
      const reply = await post('/v1/chat/completions', ASK)
      const { code, message } = await errorOf(reply)
      assert.deepEqual([reply.status, code], [502, 'upstream_bad_reply'])
      assert.match(String(message), /does not keep to HTTP/)
    })

    it('bounds an answer by the name that the model knows', async () => {
      const fresh = await startGateway(server.url)
      server.on('/chat/completions', double.renamesLimit)
      for (const stream of [false, true]) {
        const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...ASK, max_tokens: 50, stream }),
        })
        assert.equal(reply.status, 200)
        assert.match(await reply.text(), /Hello\./)
      }
      await fresh.close()
      const bounds = server.received.map(({ body }) => body as Record<string, unknown>)
      assert.deepEqual(
        bounds.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens]),
        [
          [50, undefined],
          [undefined, 50],
          [undefined, 50],
        ],
      )
    })

    it('streams an answer that the upstream gives in one piece alone', async () => {
      const whole = double.json(200, double.completion('Hello.'))
      server.on('/chat/completions', double.fails(400, {}, 'stream'), whole)
      const reply = await post('/v1/chat/completions', { ...ASK, stream: true })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream'])
      assert.ok((await reply.text()).endsWith('data: [DONE]\n\n'))
      assert.deepEqual([sentBody().stream, sentBody().stream_options], [undefined, undefined])
      await until(async () => (await records()).length === 1)
    })

    it('leaves it to the upstream what a bound may be', async () => {
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      const odd = { max_tokens: -1, max_completion_tokens: 0, stream_options: { include_usage: null } }
      assert.equal((await post('/v1/chat/completions', { ...ASK, ...odd })).status, 200)
      const { max_tokens, max_completion_tokens } = (server.received[0]?.body ?? {}) as Record<string, unknown>
      assert.deepEqual([max_tokens, max_completion_tokens], [-1, 0])
      assert.equal((await post('/v1/chat/completions', { ...ASK, max_tokens: '5' })).status, 422)
    })

    it('calls more headers than it keeps, and one with a control character, a bad reply', async () => {
      const large = double.json(200, double.completion('Hello.'), { 'x-large': 'x'.repeat(17_000) })
      const broken: double.Behaviour = (response) =>
        void response.socket?.end('HTTP/1.1 200 OK\r\nx: a\x01b\r\ncontent-length: 2\r\n\r\n{}')
      for (const [behaviour, says] of [
        [large, /headers of its reply take more than 16 KiB/],
        [broken, /does not keep to HTTP/],
      ] as const) {
        server.on('/chat/completions', behaviour)
        const reply = await post('/v1/chat/completions', ASK)
        const { code, message } = await errorOf(reply)
        assert.deepEqual([reply.status, code], [502, 'upstream_bad_reply'])
        assert.match(String(message), says)
      }
    })

    it('calls what is no HTTP a bad reply', async () => {
      server.on('/chat/completions', (response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'))
      const reply = await post('/v1/chat/completions', ASK)
      assert.deepEqual([reply.status, (await errorOf(reply)).code], [502, 'upstream_bad_reply'])
    })

    for (const end of ['break', 'hang', 'none'] as const)
      it(`ends a stream with an error chunk when the upstream's ends with ${end}`, async () => {
        server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.']).slice(0, 3), end))
        const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
        const events = eventsOf(text)
        assert.equal(events[1].choices[0].delta.content, 'Hel')
        assert.equal(events.at(-1).error.type, 'upstream_error')
        assert.equal(events.at(-1).error.code, end === 'hang' ? 'upstream_timeout' : 'upstream_bad_reply')
        if (end === 'break') assert.match(events.at(-1).error.message, /its stream broke off before/)
        assert.ok(!text.includes('[DONE]'))
        await until(async () => (await records()).length === 1)
        const [record] = await records()
        assert.equal(record?.status, 'error')
        assert.equal(record?.usage?.estimated, true, 'what was generated is counted')
      })

    it('never writes an error into an unfinished event', async () => {
      server.on('/chat/completions', async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(double.chunks(['Hel'])[1])}\n\ndata: {"choices":[{"del`)
        await new Promise((resolve) => setTimeout(resolve, 30))
        response.socket?.destroy()
      })
      const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      assert.deepEqual(
        eventsOf(text).map((event) => Object.keys(event).includes('error')),
        [false, true],
      )
      await until(async () => (await records()).length === 1)
    })

    it('streams an answer that came whole', async () => {
      const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
      const answer = double.completion('Hello.')
      const second = {
        index: 1,
        message: { role: 'assistant', content: null, tool_calls: [call] },
        finish_reason: 'tool_calls',
      }
      server.on('/chat/completions', double.json(200, { ...answer, choices: [...answer.choices, second] }))
      for (const include_usage of [false, true]) {
        const reply = await post('/v1/chat/completions', { ...ASK, stream: true, stream_options: { include_usage } })
        assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream'])
        const text = await reply.text()
        assert.ok(text.endsWith('data: [DONE]\n\n'))
        const [said, ended, ...last] = eventsOf(text)
        assert.deepEqual([said.object, said.id, said.model], ['chat.completion.chunk', answer.id, answer.model])
        assert.deepEqual(
          said.choices.map(({ index, delta, finish_reason }: Record<string, unknown>) => [index, delta, finish_reason]),
          [
            [0, answer.choices[0]?.message, null],
            [1, { ...second.message, tool_calls: [{ ...call, index: 0 }] }, null],
          ],
        )
        assert.deepEqual(ended.choices, [
          { index: 0, delta: {}, finish_reason: 'stop' },
          { index: 1, delta: {}, finish_reason: 'tool_calls' },
        ])
        assert.deepEqual(
          last.map(({ choices, usage }) => [choices, usage]),
          include_usage ? [[[], answer.usage]] : [],
        )
      }
      await until(async () => (await records()).length === 2)
      for (const { status, stream, usage } of await records())
        assert.deepEqual([status, stream, usage?.total_tokens], ['ok', true, 15])
    })

    for (const [name, chunks] of Object.entries({
      reported: double.chunks(['Hel', 'lo.']),
      'not reported': UNFINISHED,
    }))
      it(`gathers a stream that was not asked for, its usage ${name}`, async () => {
        server.on('/chat/completions', double.sse(chunks))
        for (const headers of [{}, { 'idempotency-key': `gathered ${name}` }]) {
          const reply = await post('/v1/chat/completions', ASK, headers)
          assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
          const { usage, ...rest } = double.completion('Hello.')
          const reported = chunks === UNFINISHED ? {} : { usage }
          const { index, message, finish_reason } = rest.choices[0] ?? assert.fail()
          const { refusal: _, ...said } = message
          const answer = { ...rest, ...reported, choices: [{ index, message: said, finish_reason }] }
          assert.deepEqual(await reply.json(), answer)
        }
        await until(async () => (await records()).length === 2)
        for (const { status, stream, usage } of await records())
          assert.deepEqual([status, stream, usage?.estimated ?? false], ['ok', false, chunks === UNFINISHED])
      })

    for (const [name, behaviour, said] of [
      ['breaks off', double.sse(double.chunks(['Hel']).slice(0, 2), 'break'), /broke off/],
      ['is cut', double.sse(double.chunks(['Hel']).slice(0, 2), 'none'), /ended before/],
      ['says nothing', double.sse([]), /ended before/],
      [
        'reports an error',
        double.sse([...double.chunks(['Hel']).slice(0, 2), { error: { message: 'busy' } }]),
        /reported an error: busy/,
      ],
    ] as const)
      it(`answers 502 where a stream that was not asked for ${name}, and keeps it for no one`, async () => {
        server.on('/chat/completions', behaviour)
        const key = { 'idempotency-key': name }
        for (const headers of [{}, key, key]) {
          const reply = await post('/v1/chat/completions', ASK, headers)
          assert.equal(reply.status, 502)
          assert.match(String((await errorOf(reply)).message), said)
        }
        assert.equal(server.received.length, 3)
        await until(async () => (await records()).length === 3)
        for (const { status, usage } of await records())
          assert.deepEqual([status, usage?.estimated], ['error', name === 'says nothing' ? undefined : true])
      })

    it('ends a stream that was not asked for when its client goes', async () => {
      server.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
      const client = new AbortController()
      const reply = post('/v1/chat/completions', ASK, {}, client.signal).catch(() => {})
      await until(async () => server.received.length === 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
      client.abort()
      await server.received[0]?.aborted
      await reply
      await until(async () => (await records()).length === 1)
      const [record] = await records()
      assert.deepEqual([record?.status, record?.usage?.estimated], ['aborted', true])
    })

    it('adds the [DONE] that a provider leaves out', async () => {
      server.on('/chat/completions', double.sse(double.chunks(['Hi.']), 'none'))
      const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      assert.ok(text.endsWith('data: [DONE]\n\n'))
    })

    it('reads events cut anywhere, with CRLF line ends too', async () => {
      const text = `${double
        .chunks(['Hé', '🙂'])
        .map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
        .join('')}data: [DONE]\r\n\r\n`
      server.on('/chat/completions', async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; at += 37) {
          response.write(bytes.subarray(at, at + 37))
          await new Promise((resolve) => setImmediate(resolve))
        }
        response.end()
      })
      const passed = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      const usageChunk = text.indexOf('data: ', text.indexOf('"finish_reason":"stop"'))
      assert.equal(passed, `${text.slice(0, usageChunk)}data: [DONE]\r\n\r\n`)
      assert.equal((await records())[0]?.usage?.total_tokens, 15)
    })

    it('aborts the upstream when the client goes, waiting or streaming, and records it', async () => {
      for (const [stream, behaviour] of [
        [false, double.hangs],
        [true, double.sse(double.chunks(['Hel']).slice(0, 2), 'hang')],
      ] as const) {
        server.received.length = 0
        server.on('/chat/completions', behaviour)
        const client = new AbortController()
        const reply = post('/v1/chat/completions', { ...ASK, stream }, {}, client.signal)
        if (stream) await (await reply).body?.getReader().read()
        else await until(async () => server.received.length === 1)
        client.abort()
        await reply.catch(() => {})
        await server.received[0]?.aborted
      }
      await until(async () => (await records()).length === 2)
      const [streamed, waited] = await records()
      assert.deepEqual([waited?.status, waited?.usage], ['aborted', null])
      assert.deepEqual([streamed?.status, streamed?.usage?.estimated], ['aborted', true])
    })

    it('aborts every one of the requests that a client had pipelined', async () => {
      server.on('/chat/completions', double.hangs)
      const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
      const body = JSON.stringify(ASK)
      const one =
        `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      socket.write(one.repeat(3))
      await until(async () => server.received.length === 3)
      socket.destroy()
      await Promise.all(server.received.map((entry) => entry.aborted))
      await until(async () => (await records()).length === 3)
      assert.deepEqual(new Set((await records()).map((record) => record.status)), new Set(['aborted']))
      // Each of them has ended once: what is in flight is the question.
      assert.equal(await inFlight(), '1')
    })

    it('ends the connection of a client that leaves its whole reply unread', async () => {
      server.on('/chat/completions', double.json(200, double.completion('x'.repeat(20_000_000))))
      const body = JSON.stringify(ASK)
      const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
      socket.pause()
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await until(async () => (await records()).length === 1)
      await until(async () => (await inFlight()) === '1')
      socket.destroy()
    })

    for (const [path, sent, last, tokens] of [
      ['/chat/completions', double.chunks(['Hello.']), '[DONE]', 15],
      ['/responses', double.responseEvents(['Hello.']), 'response.completed', 27],
    ] as const)
      it(`takes an answer on ${path} for complete whatever comes after ${last}`, async () => {
        const events = sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
        const whole = path === '/responses' ? events : `${events}data: [DONE]\n\n`
        const ends: Record<string, (response: ServerResponse) => void> = {
          'the connection breaks': (response) => setTimeout(() => response.socket?.resetAndDestroy(), 50),
          silence: () => {},
          'the client leaves': () => {},
        }
        for (const [name, end] of Object.entries(ends)) {
          await running.gateway.store.db.deleteFrom('calls').execute()
          await running.gateway.store.db.deleteFrom('call_totals').execute()
          server.on(path, (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' })
            response.write(whole)
            end(response)
          })
          const reply = await post(`/v1${path}`, { ...ASK, ...QUESTION, stream: true })
          let text = ''
          const decoder = new TextDecoder()
          for await (const piece of reply.body ?? []) {
            text += decoder.decode(piece, { stream: true })
            if (name === 'the client leaves' && text.includes(last)) break
          }
          assert.ok(!text.includes('"error"') || path === '/responses', text)
          assert.ok(!text.includes('event: error'), text)
          await until(async () => (await records()).length === 1)
          const [record] = await records()
          assert.deepEqual([name, record?.status, record?.usage?.total_tokens], [name, 'ok', tokens])
        }
      })

    for (const [path, sent] of [
      ['/chat/completions', [...double.chunks(['Hello.']), '[DONE]']],
      ['/responses', double.responseEvents(['Hello.'])],
      [
        '/responses',
        [...double.responseEvents(['Hello.']).slice(0, -1), { type: 'response.incomplete', response: {} }],
      ],
      ['/responses', [...double.responseEvents(['Hello.']).slice(0, -1), { type: 'response.failed', response: {} }]],
    ] as const) {
      const last = sent.at(-1) as { type?: string } | string
      const ending = typeof last === 'string' ? last : last.type
      it(`ends a stream on ${path} at ${ending}, though its upstream leaves it open`, {
        timeout: 20_000,
      }, async (t) => {
        const patient = await startGateway(server.url)
        t.after(() => patient.close())
        const said = sent.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
        server.on(path, (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          for (const event of said) response.write(event)
        })
        const reply = await fetch(`${patient.url}/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${patient.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...ASK, ...QUESTION, stream: true, stream_options: { include_usage: true } }),
        })
        assert.equal(await reply.text(), said.join(''))
        await server.received[0]?.aborted
      })
    }

    it('leaves the upstream a moment to end a stream after its [DONE]', async () => {
      server.on('/chat/completions', (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const chunk of double.chunks(['Hi.'])) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
        response.write('data: [DONE]\n\n')
        setTimeout(() => response.end(), 50)
      })
      await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      await assert.rejects(server.received[0]?.aborted ?? assert.fail(), /nobody aborted it/)
    })

    it('holds the upstream back for a client that does not read', async () => {
      let written = 0
      server.on('/chat/completions', async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const event = `data: ${JSON.stringify(double.chunks(['x'.repeat(60_000)], null)[1])}\n\n`
        while (written < 200_000_000 && !response.destroyed) {
          written += event.length
          if (response.write(event)) continue
          const more = await Promise.race([
            new Promise((resolve) => response.once('drain', () => resolve(true))),
            new Promise((resolve) => setTimeout(() => resolve(false), 300)),
          ])
          if (!more) break
        }
      })
      const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
      const body = JSON.stringify({ ...ASK, stream: true })
      socket.pause()
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await until(async () => (await records()).length === 1)
      assert.ok(written < 50_000_000, `${written} bytes were taken from the upstream`)
      const [record] = await records()
      assert.equal(record?.status, 'aborted', 'a reader that stalls for too long counts as gone')
      socket.destroy()
    })
  })

  describe('POST /v1/responses', () => {
    it('passes a response through', async () => {
      const answer = double.response('Found.')
      server.on('/responses', double.json(200, answer))
      const asked = { ...QUESTION, previous_response_id: 'resp_0', store: true, tools: [{ type: 'web_search' }], x: 1 }
      const reply = await post('/v1/responses', asked)
      assert.deepEqual(await reply.json(), answer)
      assert.deepEqual(sentBody(), { ...asked, model: 'llm-4.20-multi-agent-beta-0309' })
      assert.equal(reply.headers.get('x-gazeway-route'), null)
      assert.equal((await records())[0]?.usage?.total_tokens, 27)
    })

    it('passes a stream of events through', async () => {
      const events = double.responseEvents(['Fo', 'und.'])
      server.on('/responses', double.sse(events, 'none'))
      const reply = await post('/v1/responses', { ...QUESTION, stream: true })
      assert.deepEqual(eventsOf(await reply.text()), events)
      assert.equal((await records())[0]?.usage?.total_tokens, 27)
    })

    it('streams a response that came whole', async () => {
      const { output, ...rest } = double.response('Found.', [{ type: 'url_citation', url: 'https://a.example/' }])
      const answer = {
        ...rest,
        output: [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 'Look.' }],
            content: [{ type: 'reasoning_text', text: 'Where?' }],
          },
          { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'it' } },
          ...output,
          { type: 'message', id: 'msg_2', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
          {
            type: 'function_call',
            id: 'fc_1',
            call_id: 'call_1',
            name: 'f',
            arguments: '{"a":1}',
            status: 'completed',
          },
          { type: 'unheard_of', id: 'x_1', value: 1 },
        ],
      }
      server.on('/responses', double.json(200, answer))
      const reply = await post('/v1/responses', { ...QUESTION, stream: true })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream'])
      const events = eventsOf(await reply.text())
      assert.deepEqual(
        events.map((event) => event.sequence_number),
        events.map((_, i) => i),
      )
      const deltas = events.flatMap(({ type, delta }) => (delta ? [[type.slice('response.'.length), delta]] : []))
      assert.deepEqual(deltas, [
        ['reasoning_summary_text.delta', 'Look.'],
        ['reasoning_text.delta', 'Where?'],
        ['output_text.delta', 'Found.'],
        ['refusal.delta', 'No.'],
        ['function_call_arguments.delta', '{"a":1}'],
      ])
      assert.deepEqual(events.at(-1).response, answer)

      const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 })
      const joined = await client.responses.stream({ ...QUESTION, model: 'm' }).finalResponse()
      assert.deepEqual([joined.id, joined.output_text, joined.output.length], ['resp_1', 'Found.', 6])
      assert.equal(server.received.length, 2, 'nothing falls back')
      await until(async () => (await records()).length === 2)
      for (const { status, usage } of await records()) assert.deepEqual([status, usage?.total_tokens], ['ok', 27])
    })

    it('ends the stream of a response that came whole as its status says', async () => {
      for (const [status, last] of [
        ['incomplete', 'response.incomplete'],
        ['queued', 'response.queued'],
      ] as const) {
        server.on('/responses', double.json(200, { ...double.response('Fo'), status }))
        const events = eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())
        assert.equal(events.at(-1).type, last)
      }
    })

    it('gathers a stream of events that was not asked for', async () => {
      server.on('/responses', double.sse(double.responseEvents(['Fo', 'und.']), 'hang'))
      const reply = await post('/v1/responses', QUESTION, { 'idempotency-key': 'gathered' })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
      assert.deepEqual(await reply.json(), double.response('Found.'))
      assert.equal(reply.headers.get('x-gazeway-route'), null)
      const [record] = await records()
      assert.deepEqual([record?.status, record?.stream, record?.usage?.total_tokens], ['ok', false, 27])
    })

    for (const [what, events] of Object.entries(double.endedWithoutOutput('Found.')))
      it(`gathers a stream of events that ends ${what}`, async () => {
        server.on('/responses', double.sse(events, 'none'))
        const reply = await post('/v1/responses', QUESTION)
        const { output } = (await reply.json()) as { output: Array<{ type: string; content: Array<{ text: string }> }> }
        assert.deepEqual([reply.status, reply.headers.get('x-gazeway-route')], [200, null])
        const said = output.map(({ type, content }) => (type === 'message' ? content.map(({ text }) => text) : type))
        assert.deepEqual(said.at(-1), ['Found.'])
      })

    for (const [name, behaviour] of [
      ['breaks off', double.sse(double.responseEvents(['Fo', 'und.']).slice(0, 4), 'break')],
      ['is cut', double.sse(double.responseEvents(['Fo', 'und.']).slice(0, 4), 'none')],
      [
        'fails',
        double.sse([...double.responseEvents(['Fo']).slice(0, 4), { type: 'response.failed', response: {} }], 'none'),
      ],
    ] as const)
      it(`falls back where a stream of events that was not asked for ${name}`, async () => {
        server.on('/responses', behaviour)
        server.on('/chat/completions', double.json(200, double.completion('From chat.')))
        const reply = await post('/v1/responses', QUESTION)
        assert.deepEqual([reply.status, reply.headers.get('x-gazeway-route')], [200, 'chat_fallback'])
        await until(async () => (await records()).length === 2)
        const [second, first] = await records()
        assert.deepEqual([first?.status, first?.usage?.estimated, second?.status], ['error', true, 'ok'])
      })

    it('estimates a response without usage, unless it is yet to be generated', async () => {
      const usageOf = async (response: object) => {
        const before = (await records()).length
        server.on('/responses', double.json(200, response))
        assert.equal((await post('/v1/responses', { ...QUESTION, background: true })).status, 200)
        await until(async () => (await records()).length > before)
        return (await records())[0]?.usage
      }
      for (const status of ['completed', 'incomplete'])
        assert.equal((await usageOf({ ...double.response('Found.'), status, usage: null }))?.estimated, true)
      for (const status of ['queued', 'in_progress']) {
        assert.equal(await usageOf({ ...double.response(''), output: [], status, usage: null }), null)
        assert.equal((await usageOf({ ...double.response('Fo'), status }))?.total_tokens, 27, 'what is reported counts')
      }
    })

    it('estimates a stream alike whatever it repeats of the request', async () => {
      const words = Array.from({ length: 1000 }, () => ' word')
      for (const instructions of ['Be short.', 'a b '.repeat(25_000)]) {
        const events = double.responseEvents(words).map((event) => {
          const { response, ...rest } = event as { response?: object }
          return response ? { ...rest, response: { ...response, instructions, usage: null } } : rest
        })
        server.on('/responses', double.sse(events, 'none'))
        await (await post('/v1/responses', { ...QUESTION, instructions, stream: true })).text()
      }
      await until(async () => (await records()).length === 2)
      const [long, short] = (await records()).map(({ usage }) => usage?.completion_tokens)
      assert.equal(long, short)
      assert.ok(Math.abs((short ?? 0) - 1000) < 50, `${short} tokens`)
    })

    it('counts the usage of a response that was cut short', async () => {
      const events = double.responseEvents(['Fo'])
      const cut = { ...events.at(-1), type: 'response.incomplete' }
      server.on('/responses', double.sse([...events.slice(0, -1), cut], 'none'))
      await (await post('/v1/responses', { ...QUESTION, stream: true })).text()
      const [record] = await records()
      assert.deepEqual([record?.status, record?.usage?.total_tokens], ['ok', 27])
    })

    const failures: Record<string, double.Behaviour> = {
      'a refusal': double.fails(400),
      'an unknown endpoint': double.fails(404),
      'a rate limit': double.fails(429),
      'an error of the server': double.fails(500),
      'a dropped connection': double.drops,
      silence: double.hangs,
      'malformed JSON': double.malformed,
      'a failed response': double.json(200, {
        ...double.response(''),
        status: 'failed',
        error: { message: 'busy' },
        usage: null,
      }),
      'a stream that breaks before its first output': double.sse(double.responseEvents(['x']).slice(0, 2), 'break'),
      'a stream that ends before its first output': double.sse(double.responseEvents(['x']).slice(0, 2), 'none'),
      'a stream that only says that it is alive': double.sse(
        [
          ...double.responseEvents(['x']).slice(0, 2),
          { type: 'keepalive', sequence_number: 2 },
          { type: 'ping', sequence_number: 3 },
        ],
        'none',
      ),
      'a stream whose only event is a failure without its blank line': (response) => {
        const failed = { type: 'response.failed', response: { error: { message: 'busy' } } }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`event: response.failed\ndata: ${JSON.stringify(failed)}`)
      },
      'a stream that fails before its first output': double.sse([
        ...double.responseEvents(['x']).slice(0, 1),
        { type: 'response.failed', response: { error: { message: 'busy' } } },
      ]),
    }
    for (const [name, failure] of Object.entries(failures))
      it(`falls back after ${name}`, async () => {
        for (const stream of [false, true]) {
          server.on('/responses', failure)
          const chat = stream
            ? double.sse(double.chunks(['From ', 'chat.']))
            : double.json(200, double.completion('From chat.'))
          server.on('/chat/completions', chat)
          const reply = await post('/v1/responses', { ...QUESTION, stream })
          assert.equal(reply.status, 200)
          assert.equal(reply.headers.get('x-gazeway-route'), 'chat_fallback')
          assert.equal(sentBody().model, 'llm-4.20-0309-reasoning')
          const text = await reply.text()
          if (stream) {
            const events = eventsOf(text)
            assert.equal(events.at(-1).type, 'response.completed')
            assert.deepEqual(
              events.map((event) => event.sequence_number),
              events.map((_, i) => i),
            )
            assert.equal(events.at(-1).response.usage.total_tokens, 15)
          } else assert.equal(JSON.parse(text).output[0].content[0].text, 'From chat.')
        }
        await until(async () => (await records()).length === 4)
        const [second, first] = await records()
        assert.equal(second?.fallback_from, first?.call_id)
        assert.deepEqual([first?.status, second?.status], ['error', 'ok'])
        assert.deepEqual([first?.usage ?? null, second?.usage?.total_tokens], [null, 15], 'usage is counted once')
      })

    it('records what a response has used that failed before its first output, and what it cost', async () => {
      const failed = { ...double.response(''), output: [], status: 'failed', error: { message: 'busy' } }
      const { output: _, ...without } = failed
      const begun = double.responseEvents([]).slice(0, 1)
      server.on('/chat/completions', double.fails(500))
      for (const [name, stream, behaviour] of [
        ['whole', false, double.json(200, failed)],
        ['whole, without output', false, double.json(200, without)],
        ['whole, asked for as a stream', true, double.json(200, failed)],
        ['a stream', true, double.sse([...begun, { type: 'response.failed', response: failed }], 'none')],
        ['an unasked stream', false, double.sse([...begun, { type: 'response.failed', response: failed }], 'none')],
      ] as const) {
        await running.gateway.store.db.deleteFrom('calls').execute()
        await running.gateway.store.db.deleteFrom('call_totals').execute()
        server.on('/responses', behaviour)
        const { message } = await errorOf(await post('/v1/responses', { ...QUESTION, stream }))
        assert.match(String(message), /reported an error: busy/)
        await until(async () => (await records()).length === 2)
        const [, first] = await records()
        assert.deepEqual([name, first?.status, first?.http_status], [name, 'error', 200])
        assert.deepEqual(first?.usage, { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 }, name)
        assert.ok((first.upstream_cost_usd ?? 0) > 0, name)
      }
    })

    for (const [name, sent] of Object.entries({ 'a finish reason and ': double.chunks(['Hello.']), '': UNFINISHED }))
      it(`takes the fallback’s answer for complete at ${name}[DONE], whatever comes after`, async () => {
        const whole = `${sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
        const ends: Record<string, (response: ServerResponse) => void> = {
          'the end': (response) => response.end(),
          'a broken connection': (response) => setTimeout(() => response.socket?.resetAndDestroy(), 50),
          silence: () => {},
        }
        server.on('/responses', double.fails(500))
        for (const [after, end] of Object.entries(ends)) {
          server.on('/chat/completions', (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' })
            response.write(whole)
            end(response)
          })
          const reply = await post('/v1/responses', { ...QUESTION, stream: true })
          const { type, response } = eventsOf(await reply.text()).at(-1)
          assert.deepEqual([after, type, response.output_text], [after, 'response.completed', 'Hello.'])
          const callId = reply.headers.get('x-gazeway-call-id')
          const record = async () => (await records()).find(({ call_id }) => call_id === callId)
          await until(async () => (await record()) !== undefined)
          assert.equal((await record())?.status, 'ok')
          if (after === 'silence') await server.received.at(-1)?.aborted
        }
      })

    it('answers with a stream or a whole Response as it was asked, whatever the fallback’s provider sends', async () => {
      server.on('/responses', double.fails(500))
      server.on('/chat/completions', double.json(200, double.completion('From chat.')))
      const streamed = await post('/v1/responses', { ...QUESTION, stream: true })
      assert.equal(streamed.headers.get('content-type'), 'text/event-stream')
      const events = eventsOf(await streamed.text())
      assert.deepEqual([events.at(0).type, events.at(-1).type], ['response.created', 'response.completed'])
      server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.'])))
      const whole = await post('/v1/responses', QUESTION)
      assert.equal(whole.headers.get('content-type'), 'application/json')
      for (const { status, output_text, usage } of [events.at(-1).response, await whole.json()])
        assert.deepEqual([status, output_text, usage.total_tokens], ['completed', 'From chat.', 15])
      await until(async () => (await records()).length === 4)
      assert.deepEqual(
        (await records()).map(({ status, usage }) => [status, usage?.total_tokens]),
        Array(2)
          .fill([
            ['ok', 15],
            ['error', undefined],
          ])
          .flat(),
      )
    })

    it('hides its key in the headers that it passes on, too', async () => {
      const told = { 'x-ratelimit-key': 'Bearer upstream-secret-key', 'x-ratelimit-limit-requests': '100' }
      server.on('/responses', double.fails(500))
      server.on('/chat/completions', double.json(200, double.completion('Hello.'), told))
      const { headers } = await post('/v1/chat/completions', ASK)
      assert.deepEqual(
        Object.keys(told).map((name) => headers.get(name)),
        ['Bearer ***', '100'],
      )
    })

    it('gathers no more of an answer than it would keep of a whole reply', async () => {
      server.on('/responses', double.fails(500))
      const [, piece] = double.chunks(['x'.repeat(1024 * 1024)], null)
      server.on('/chat/completions', saysTooMuch('text/event-stream', `data: ${JSON.stringify(piece)}\n\n`))
      assert.equal((await post('/v1/responses', QUESTION)).status, 500, 'the first error')
      await server.received.at(-1)?.aborted
      await until(async () => (await records()).length === 2)
      assert.match((await records())[0]?.error ?? '', /its reply is larger than 67108864 bytes/)
    })

    it('names the fallback’s model from the first event on, and where the provider does not', async () => {
      server.on('/responses', double.fails(500))
      const nameless = { ...double.completion('From chat.'), model: undefined }
      for (const [chat, told] of [
        [double.sse(double.chunks(['From chat.'])), 'double-chat'],
        [double.json(200, nameless), 'llm-4.20-0309-reasoning'],
      ] as const) {
        server.on('/chat/completions', chat)
        const events = eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())
        for (const { response } of events.slice(0, 2)) assert.equal(response.model, 'llm-4.20-0309-reasoning')
        assert.equal(events.at(-1).response.model, told)
      }
      const whole = (await (await post('/v1/responses', QUESTION)).json()) as { model: string }
      assert.equal(whole.model, 'llm-4.20-0309-reasoning')
    })

    it('gives the first error where a stream that was not asked for breaks off', async () => {
      server.on('/responses', double.fails(403))
      server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.']).slice(0, 2), 'break'))
      assert.equal((await post('/v1/responses', QUESTION)).status, 403)
    })

    for (const failed of double.failedChoices)
      it(`gives no answer of the fallback’s that its provider gave up: ${JSON.stringify(failed)}`, async () => {
        server.on('/responses', double.fails(403))
        for (const chat of [
          double.json(200, double.failedCompletion('Hel', failed)),
          double.sse(double.failedChunks(['Hel'], failed)),
        ]) {
          server.on('/chat/completions', chat)
          assert.equal((await post('/v1/responses', QUESTION)).status, 403)
        }
        const streamed = await post('/v1/responses', { ...QUESTION, stream: true })
        const events = eventsOf(await streamed.text())
        assert.deepEqual([events.at(-2).type, events.at(-1).type], ['error', 'response.failed'])
        assert.equal(events.at(-1).response.output_text, 'Hel')
        await until(async () => (await records()).length === 6)
        const fallbacks = (await records()).filter(({ fallback_from }) => fallback_from !== null)
        for (const { status, usage } of fallbacks) assert.deepEqual([status, usage === null], ['error', false])
      })

    it('gives the first error where the fallback’s stream holds no answer', async () => {
      server.on('/responses', double.fails(403))
      server.on('/chat/completions', double.sse([]))
      assert.equal((await post('/v1/responses', { ...QUESTION, stream: true })).status, 403)
      await until(async () => (await records()).length === 2)
      assert.equal((await records())[0]?.status, 'error')
    })

    it('takes no text for the end of its stream, whatever it says', async () => {
      server.on(
        '/responses',
        double.sse(double.responseEvents(['Then "response.completed" comes.']).slice(0, 4), 'none'),
      )
      const events = eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())
      assert.equal(events.at(-1).type, 'error')
    })

    it('does not fall back once output has begun', async () => {
      server.on('/responses', double.sse(double.responseEvents(['Fo', 'und.']).slice(0, 4), 'break'))
      const text = await (await post('/v1/responses', { ...QUESTION, stream: true })).text()
      const events = eventsOf(text)
      assert.deepEqual([events.at(-1).type, events.at(-1).sequence_number], ['error', 4])
      assert.match(events.at(-1).message, /its stream broke off before/)
      assert.equal(server.received.length, 1)
    })

    it('gives the first error when both fail', async () => {
      server.on('/responses', double.fails(403))
      for (const second of [double.fails(500), double.drops, double.malformed]) {
        server.on('/chat/completions', second)
        for (const stream of [false, true]) {
          const reply = await post('/v1/responses', { ...QUESTION, stream })
          assert.equal(reply.status, 403)
          assert.equal((await errorOf(reply)).message, 'double says 403')
        }
      }
      server.on('/responses', double.hangs)
      assert.equal((await post('/v1/responses', QUESTION)).status, 504)
    })

    it('passes a request without input on, and gives its failure rather than ask for an empty chat', async () => {
      for (const asked of [
        { prompt: { id: 'pmpt_1' } },
        { previous_response_id: 'resp_0', input: null, model: null },
      ]) {
        server.on('/responses', double.json(200, double.response('Found.')))
        assert.equal((await post('/v1/responses', asked)).status, 200)
        assert.deepEqual(sentBody(), { ...asked, model: 'llm-4.20-multi-agent-beta-0309' })
        server.on('/responses', double.fails(404))
        assert.equal((await errorOf(await post('/v1/responses', asked))).message, 'double says 404')
      }
      assert.ok(server.received.every((entry) => entry.path === '/v1/responses'))
    })

    const reference = { type: 'item_reference', id: 'msg_1' }
    for (const stored of [
      { previous_response_id: 'resp_0' },
      { conversation: 'conv_1' },
      { prompt: { id: 'pmpt_1' } },
      { input: [reference, { role: 'user', content: 'And then?' }] },
      { input: [{ id: 'msg_1' }, { role: 'user', content: 'And then?' }] },
      {
        input: [
          { type: 'compaction', encrypted_content: 'AAAA' },
          { role: 'user', content: 'And then?' },
        ],
      },
      {
        input: [
          { type: 'compaction_summary', encrypted_content: 'AAAA' },
          { role: 'user', content: 'And then?' },
        ],
      },
      {
        input: [
          { type: 'context_compaction', encrypted_content: 'AAAA' },
          { role: 'user', content: 'And then?' },
        ],
      },
      { input: [{ role: 'user', content: 'Find it.' }, { type: 'compaction_trigger' }] },
    ])
      it(`gives the failure of a request that counts on what is stored: ${JSON.stringify(stored)}`, async () => {
        server.on('/responses', double.fails(500))
        server.on('/chat/completions', double.json(200, double.completion('From chat.')))
        for (const stream of [false, true]) {
          const reply = await post('/v1/responses', { ...QUESTION, ...stored, stream })
          assert.deepEqual([reply.status, (await errorOf(reply)).message], [500, 'double says 500'])
        }
        assert.ok(server.received.every((entry) => entry.path === '/v1/responses'))
      })

    describe('a stream that fails after searches and thoughts, before any text', () => {
      const made = { type: 'response.created', response: { ...double.response(''), status: 'in_progress', output: [] } }
      const search = {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q' },
      }
      const thinking = { type: 'reasoning', id: 'rs_1', status: 'in_progress', summary: [] }
      const item = (type: 'added' | 'done', output_index: number, what: object) => ({
        type: `response.output_item.${type}`,
        output_index,
        item: what,
      })
      const thought = {
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_1',
        output_index: 1,
        summary_index: 0,
        delta: 'Hm.',
      }
      const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
      const numbered = (events: object[]) => events.map((event, sequence_number) => ({ ...event, sequence_number }))
      const searched = [made, item('added', 0, search), item('done', 0, search), item('added', 1, thinking), thought]
      const failed = {
        type: 'response.failed',
        response: { id: 'resp_1', error: { message: 'busy', code: 'overloaded' } },
      }
      const streamOf = async () => eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())

      for (const [how, events, end] of [
        ['breaks off', searched, 'break'],
        ['ends too early', searched, 'none'],
        ['reports a failure', [...searched, failed], 'none'],
        ['reports an error', [...searched, { type: 'error', message: 'busy', code: 'x' }], 'hang'],
      ] as const)
        for (const [what, chat] of [
          ['a stream', double.sse(double.chunks(['From ', 'chat.']))],
          ['one piece', double.json(200, double.completion('From chat.'))],
        ] as const)
          it(`goes on with the fallback's answer, in ${what}, where it ${how}`, async () => {
            server.on('/responses', double.sse(numbered([...events]), end))
            server.on('/chat/completions', chat)
            const told = await streamOf()
            assert.deepEqual(
              told.map(({ sequence_number }) => sequence_number),
              told.map((_, index) => index),
            )
            assert.equal(told.filter(({ type }) => type === 'response.created').length, 1)
            const cut = { ...thinking, status: 'incomplete', summary: [{ type: 'summary_text', text: 'Hm.' }] }
            assert.deepEqual({ ...told[5], sequence_number: 0 }, { ...item('done', 1, cut), sequence_number: 0 })
            const last = told.at(-1)
            assert.deepEqual(
              [last.type, last.response.id, last.response.status],
              ['response.completed', 'resp_1', 'completed'],
            )
            assert.deepEqual(last.response.output.slice(0, 2), [search, cut])
            assert.equal(last.response.output[2].content[0].text, 'From chat.')
            assert.equal(last.response.output_text, 'From chat.')
            const added = told.filter(({ type }) => type === 'response.output_item.added')
            assert.deepEqual(
              added.map((event) => [event.output_index, event.item.type]),
              [
                [0, 'web_search_call'],
                [1, 'reasoning'],
                [2, 'message'],
              ],
            )
            await until(async () => (await records()).length === 2)
            const [second, first] = await records()
            assert.equal(second?.fallback_from, first?.call_id)
            assert.deepEqual([first?.status, second?.status], ['error', 'ok'])
          })

      it('ends a message that was open, and a search, as not complete', async () => {
        const begun = { ...search, status: 'in_progress' }
        const events = [made, item('added', 0, begun), item('added', 1, message)]
        server.on('/responses', double.sse(numbered(events), 'break'))
        server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.'])))
        const { output } = (await streamOf()).at(-1).response
        assert.deepEqual(
          output.map(({ type, status }: { type: string; status: string }) => [type, status]),
          [
            ['web_search_call', 'failed'],
            ['message', 'incomplete'],
            ['message', 'completed'],
          ],
        )
      })

      it('ends with the first error where the fallback fails, too', async () => {
        server.on('/chat/completions', double.fails(500))
        for (const events of [searched, [...searched, failed]]) {
          server.on('/responses', double.sse(numbered(events), 'none'))
          const told = await streamOf()
          assert.equal(told.length, searched.length + 1)
          const { type, sequence_number } = told.at(-1)
          assert.deepEqual([type, sequence_number], ['error', searched.length])
        }
      })

      const call = {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c',
        name: 'look',
        arguments: '{}',
        status: 'completed',
      }
      const custom = {
        type: 'custom_tool_call',
        id: 'ct_1',
        call_id: 'c',
        name: 'patch',
        input: '',
        status: 'completed',
      }
      const text = {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: 'Fo',
      }
      for (const [what, events] of [
        ['text', [made, item('added', 0, message), text]],
        ['a call of a function', [made, item('added', 0, call), item('done', 0, call)]],
        ["a call of the client's own tool", [made, item('added', 0, custom), item('done', 0, custom)]],
      ] as const)
        it(`is not continued after ${what}`, async () => {
          server.on('/responses', double.sse(numbered([...events, failed]), 'none'))
          server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.'])))
          const tools = [{ type: 'custom', name: 'patch' }]
          const told = eventsOf(await (await post('/v1/responses', { ...QUESTION, tools, stream: true })).text())
          assert.equal(told.at(-1).type, 'response.failed')
          assert.ok(server.received.every(({ path }) => path === '/v1/responses'))
        })
    })

    it('falls back where what is left out is no part of the question', async () => {
      server.on('/responses', double.fails(500))
      server.on('/chat/completions', double.json(200, double.completion('From chat.')))
      const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'AAAA' }
      const input = [reasoning, { type: 'item_reference', id: 'rs_2' }, { role: 'user', content: 'Find it.' }]
      const asked = { input, previous_response_id: null, conversation: null, prompt: null, store: true }
      assert.equal((await post('/v1/responses', asked)).headers.get('x-gazeway-route'), 'chat_fallback')
    })

    it('keeps the numbers that JavaScript cannot hold', async () => {
      server.on('/responses', double.json(200, double.response('Found.')))
      assert.equal((await post('/v1/responses', '{"input":"Find it.","x":-1e400}')).status, 200)
      assert.equal(sentBody().x, Number.NEGATIVE_INFINITY)
    })

    it('keeps them where it falls back', async () => {
      server.on('/responses', double.fails(500))
      let received = ''
      server.on('/chat/completions', (response, request) => {
        received = request.text
        return double.json(200, double.completion('x'))(response, request)
      })
      const schema = '{"type":"object","properties":{"n":{"maximum":9223372036854775807,"minimum":1.5}}}'
      const tools = `[{"type":"function","name":"draw","parameters":${schema}}]`
      await post('/v1/responses', `{"input":"Draw.","seed":12345678901234567890,"top_logprobs":0,"tools":${tools}}`)
      for (const part of ['"seed":12345678901234567890', `"parameters":${schema}`]) assert.ok(received.includes(part))
      assert.ok(!received.includes('logprobs'))
    })

    it('bounds the fallback’s answer by the name that its model knows', async () => {
      const bounds = () =>
        server.received
          .filter(({ path }) => path === '/v1/chat/completions')
          .map(({ body }) => body as Record<string, unknown>)
          .map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens])
      server.on('/responses', double.fails(500))
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      await post('/v1/responses', { ...QUESTION, max_output_tokens: 50 })
      assert.deepEqual(bounds(), [[50, undefined]])
      for (const stream of [false, true]) {
        const fresh = await startGateway(server.url)
        server.received.length = 0
        server.on('/chat/completions', double.renamesLimit)
        for (let n = 0; n < 2; n++) {
          const reply = await fetch(`${fresh.url}/v1/responses`, {
            method: 'POST',
            headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ ...QUESTION, max_output_tokens: 50, stream }),
          })
          assert.equal(reply.status, 200)
          assert.match(await reply.text(), /"output_text":"Hello\."/)
        }
        await fresh.close()
        assert.deepEqual(bounds(), [
          [50, undefined],
          [undefined, 50],
          [undefined, 50],
        ])
      }
    })

    it('does not send again the field that was refused', async () => {
      server.on('/responses', double.fails(400, {}, 'temperature'))
      server.on('/chat/completions', double.json(200, double.completion('x')))
      await post('/v1/responses', { ...QUESTION, temperature: 0.3, top_p: 0.9 })
      assert.deepEqual([sentBody().temperature, sentBody().top_p], [undefined, 0.9])
    })
  })

  describe('the records of calls that the upstream refuses', () => {
    const QUOTE = 'may not say xyzzy-plugh'
    const error = { message: QUOTE, code: 'content_filter', type: 'invalid_request_error', param: null }
    const refused = double.json(400, { error })
    const failed = { type: 'response.failed', response: { status: 'failed', error } }
    const started = double.responseEvents(['Fo', 'und.']).slice(0, 4)
    const [inChat] = double.chunks(['Hel'])
    const ways: Record<string, { path: string; body: object; responses?: double.Behaviour; chat?: double.Behaviour }> =
      {
        'a chat': { path: '/v1/chat/completions', body: ASK, chat: refused },
        'a chat, in its stream': {
          path: '/v1/chat/completions',
          body: { ...ASK, stream: true },
          chat: double.sse([inChat, { error }], 'none'),
        },
        'a response and its fallback': { path: '/v1/responses', body: QUESTION, responses: refused, chat: refused },
        'a response before its output, and its fallback in its stream': {
          path: '/v1/responses',
          body: { ...QUESTION, stream: true },
          responses: double.sse([...started.slice(0, 1), failed], 'none'),
          chat: double.sse([{ error }], 'none'),
        },
        'a response, after its output began': {
          path: '/v1/responses',
          body: { ...QUESTION, stream: true },
          responses: double.sse([...started, failed], 'none'),
        },
      }
    let keeping: RunningGateway
    before(async () => {
      keeping = await startGateway(server.url, {}, { audit: { store_content: true } })
    })
    after(() => keeping.close())

    for (const [name, { path, body, responses, chat }] of Object.entries(ways))
      it(`quote nothing of ${name}, unless content is kept`, async () => {
        for (const gateway of [running, keeping]) {
          if (responses) server.on('/responses', responses)
          if (chat) server.on('/chat/completions', chat)
          const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
          const reply = await fetch(gateway.url + path, { method: 'POST', body: JSON.stringify(body), headers })
          assert.ok((await reply.text()).includes(QUOTE), 'its client hears what the upstream said')
          const calls = async () => (await gateway.gateway.calls.history({ limit: responses && chat ? 2 : 1 })).items
          await until(async () => (await calls()).length === (responses && chat ? 2 : 1))
          for (const record of await calls()) {
            assert.equal(record.status, 'error')
            assert.equal(record.error?.includes(QUOTE), gateway === keeping)
            if (gateway === running)
              assert.match(
                record.error ?? '',
                /^The upstream \S+ (answered 400|reported an error) \(content_filter\)\.$/,
              )
          }
        }
      })
  })

  it('lists the aliases of models that are there, then what the upstream lists, and gives one model', async () => {
    server.on('/models', double.json(200, { data: [{ id: 'a/b', object: 'model', created: 1, owned_by: 'double' }] }))
    const aliases = { mine: 'a/b', gone: 'retired' }
    const fresh = await startGateway(server.url, {}, { upstream: { aliases } })
    const get = async (path: string) => fetch(fresh.url + path, { headers: { authorization: `Bearer ${fresh.key}` } })
    const list = (await (await get('/v1/models')).json()) as { object: string; data: Array<{ id: string }> }
    assert.equal(list.object, 'list')
    assert.deepEqual(
      list.data.map((model) => model.id),
      ['mine', 'a/b'],
    )
    assert.equal(((await (await get('/v1/models/a/b')).json()) as { id: string }).id, 'a/b')
    assert.equal((await get('/v1/models/none')).status, 404)
    assert.equal(server.received.filter((entry) => entry.path === '/v1/models').length, 1, 'asked once a minute')
    await fresh.close()
  })

  describe('any base URL', () => {
    /** A local server as LM Studio or Ollama are: it has what was installed, and no responses endpoint. */
    async function local(
      ids: string[],
      work: (
        ask: (path: string, body: object) => Promise<string>,
        recorded: () => Promise<CallRecord[]>,
      ) => Promise<void>,
    ) {
      server.on('/models', double.json(200, { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }))
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      server.on('/responses', double.fails(404))
      const fresh = await startGateway(server.url, {}, { upstream: { aliases: {} } })
      const headers = { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' }
      try {
        await work(
          async (path, body) => {
            const reply = await fetch(fresh.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
            assert.equal(reply.status, 200)
            return sentBody().model as string
          },
          async () => (await fresh.gateway.calls.history({ limit: 50 })).items,
        )
      } finally {
        await fresh.close()
      }
    }

    it('answers a chat that names no model, or one of our names, with the first model that can', () =>
      local(['text-embedding-nomic', 'qwen3:8b', 'llama3:latest'], async (ask) => {
        assert.equal(await ask('/v1/chat/completions', ASK), 'qwen3:8b')
        assert.equal(await ask('/v1/chat/completions', { ...ASK, model: 'llm-3-fast' }), 'qwen3:8b')
        assert.equal(await ask('/v1/chat/completions', { ...ASK, model: 'llama3:latest' }), 'llama3:latest')
        assert.equal(server.received.filter(({ path }) => path === '/v1/models').length, 1)
      }))

    it('records nothing of what is looked up for a chat', () =>
      local(['qwen3:8b'], async (ask, recorded) => {
        await ask('/v1/chat/completions', ASK)
        await until(async () => (await recorded()).length > 0)
        assert.deepEqual(
          (await recorded()).map(({ path, requested_model, model }) => [path, requested_model, model]),
          [['/v1/chat/completions', 'llm-3-fast', 'qwen3:8b']],
        )
      }))

    it("keeps the client's model where the responses endpoint fails and no alias is for the fallback", () =>
      local(['qwen3:8b', 'llama3:latest'], async (ask) => {
        assert.equal(await ask('/v1/responses', { ...QUESTION, model: 'llama3:latest' }), 'llama3:latest')
        assert.equal(await ask('/v1/responses', QUESTION), 'qwen3:8b')
      }))

    it('sends our own name where the upstream has it, or lists nothing', async () => {
      await local(['other', 'llm-3-fast'], async (ask) => {
        assert.equal(await ask('/v1/chat/completions', ASK), 'llm-3-fast')
      })
      await local([], async (ask) => assert.equal(await ask('/v1/chat/completions', ASK), 'llm-3-fast'))
    })
  })

  it('finds the calls of an alias', async () => {
    const fresh = await startGateway(server.url, {}, { upstream: { aliases: { mine: 'theirs' } } })
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    for (const model of ['mine', 'theirs', 'other'])
      await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ASK, model }),
      })
    const { calls } = fresh.gateway
    await until(async () => (await calls.history({ limit: 50 })).total === 3)
    const { items, total } = await calls.history({ limit: 50, model: 'mine' })
    assert.deepEqual([items.map((call) => call.requested_model), total], [['theirs', 'mine'], 2])
    await fresh.close()
  })

  it('sends each configured header once, however it is spelt', async () => {
    const sent: [string, string][][] = []
    const notes =
      (then: double.Behaviour): double.Behaviour =>
      (response, entry) => {
        const raw = response.req.rawHeaders
        sent.push(raw.flatMap((name, i) => (i % 2 ? [] : [[name.toLowerCase(), raw[i + 1] ?? '']])))
        return then(response, entry)
      }
    server.on('/chat/completions', notes(double.json(200, double.completion('Hello.'))))
    server.on('/models', notes(double.json(200, { data: [] })))
    const headers = {
      'User-Agent': 'mine/1',
      Authorization: 'Basic of-another',
      'Content-Type': 'text/plain',
      'X-Org': 'o',
    }
    const fresh = await startGateway(null, {}, { upstream: { provider: server.url, headers } })
    const init = { headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' } }
    await fetch(`${fresh.url}/v1/chat/completions`, { ...init, method: 'POST', body: JSON.stringify(ASK) })
    await fetch(`${fresh.url}/v1/models`, init)
    await fresh.close()
    assert.equal(sent.length, 2)
    for (const pairs of sent) {
      const { authorization, 'user-agent': agent, 'x-org': org } = Object.fromEntries(pairs)
      assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, 'none twice')
      assert.deepEqual([authorization, agent, org], ['Bearer upstream-secret-key', 'mine/1', 'o'])
    }
  })

  it('lists all models of an upstream that has many, whatever the tool may reach', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => ({ id: `vendor/${i}`, description: 'x'.repeat(800) }))
    server.on('/models', double.json(200, { data: many }))
    const fresh = await startGateway(server.url, {}, { upstream: { allowed_paths: ['/embeddings'] } })
    const headers = { authorization: `Bearer ${fresh.key}` }
    const list = (await (await fetch(`${fresh.url}/v1/models`, { headers })).json()) as { data: object[] }
    assert.equal(list.data.length, 3000)
    assert.equal((await fetch(`${fresh.url}/v1/models/vendor/2999`, { headers })).status, 200)
    await fresh.close()
  })

  it('stores, recalls and lists memories', async () => {
    const stored = await post('/memory/store', { key: 'a', value: { b: 1 } })
    assert.equal(stored.status, 201)
    assert.equal((await post('/memory/store', { key: 'a', value: 2 })).status, 200)
    const recalled = (await (await request('/memory/recall?key=a')).json()) as {
      memory: { value: number; version: number }
    }
    assert.deepEqual([recalled.memory.value, recalled.memory.version], [2, 2])
    assert.equal((await request('/memory/recall?key=b')).status, 404)
    assert.equal((await errorOf(await request('/memory/recall'))).param, 'key')
    assert.equal(((await (await request('/memory/recent?limit=1')).json()) as { items: unknown[] }).items.length, 1)
    assert.equal((await request('/memory/recent?limit=0')).status, 422)
    assert.equal((await request('/memory/recent?limit=1&limit=2')).status, 422)
  })

  it('answers a repeated Idempotency-Key with the first reply', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await post('/memory/store', { key: 'i', value: 1 }, key)
    const again = await post('/memory/store', { key: 'i', value: 1 }, key)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual([again.status, await again.json()], [first.status, await first.json()])
    assert.equal((await post('/memory/store', { key: 'i', value: 2 }, key)).status, 422)
  })

  it('stores a memory once under an Idempotency-Key, though the first reply was lost with its process', async (t) => {
    const { memory } = running.gateway
    const own = memory.of(null)
    t.mock.method(memory, 'of', () => ({ ...own, store: dies(own.store) }), { times: 1 })
    const store = (value: string, headers = {}) => post('/memory/store', { key: 'plan', value }, headers)
    const lost = { 'idempotency-key': 'lost' }
    assert.equal((await store('old', lost)).status, 500)
    await store('new')
    const again = await store('old', lost)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
    assert.equal((await (await request('/memory/recall?key=plan')).text()).includes('old'), false)
  })

  it('limits the requests of a key where it is told to', async () => {
    const limited = await startGateway(server.url, {}, { http: { rate_limit: { requests_per_minute: 3 } } })
    const get = () => fetch(`${limited.url}/memory/recent`, { headers: { authorization: `Bearer ${limited.key}` } })
    const statuses = [(await get()).status, (await get()).status, (await get()).status]
    assert.deepEqual(statuses, [200, 200, 200])
    const reply = await get()
    assert.equal(reply.status, 429)
    assert.ok(Number(reply.headers.get('retry-after')) > 0)
    await limited.close()
  })

  it('tells what is left of the limit with every reply, a model’s and a refusal too', async () => {
    const limited = await startGateway(server.url, {}, { http: { rate_limit: { requests_per_minute: 5 } } })
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    server.on('/responses', double.json(200, double.response('Hello.')))
    const headers = { authorization: `Bearer ${limited.key}`, 'content-type': 'application/json' }
    const get = () => fetch(`${limited.url}/memory/recent`, { headers })
    const call = (path: string, body: unknown) =>
      fetch(limited.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const chat = '/v1/chat/completions'
    const replies = [
      await get(),
      await call(chat, ASK),
      await call(chat, { ...ASK, stream: true }),
      await call('/v1/responses', QUESTION),
      await call(chat, 'no object'),
      await call(chat, ASK),
      await get(),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200, 422, 429, 429],
    )
    for (const [index, reply] of replies.entries()) {
      await reply.text()
      const [limit, remaining, policy] = ['limit', 'remaining', 'policy'].map((name) =>
        reply.headers.get(`ratelimit-${name}`),
      )
      assert.deepEqual([limit, remaining, policy], ['5', String(Math.max(0, 4 - index)), '5;w=60'])
      const reset = Number(reply.headers.get('ratelimit-reset'))
      assert.ok(reset > 0 && reset <= 60, String(reset))
    }
    await limited.close()
  })

  it('answers others while a thousand slow connections wait', async () => {
    const port = Number(new URL(running.url).port)
    const slow = Array.from({ length: 1000 }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: loc')
      return socket
    })
    await Promise.all(slow.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    assert.equal((await request('/health')).status, 200)
    for (const socket of slow) socket.destroy()
  })

  it('lets one request try an endpoint that was left alone, and nobody wait for it', async () => {
    const fresh = await startGateway(server.url)
    const call = (signal?: AbortSignal) =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        ...(signal && { signal }),
      })
    let answer = () => {}
    const told = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.on('/chat/completions', async (response, received) => {
      await told
      await double.json(200, double.completion('Slow.'))(response, received)
    })
    const slow = call()
    await until(async () => server.received.length === 1)
    server.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 10; i++) await call()
    server.on('/chat/completions', double.hangs)
    server.received.length = 0
    const leaving = new AbortController()
    let trial = call(leaving.signal)
    const isRefused = () => trial.then(({ status }) => status === 503)
    while (await Promise.race([isRefused(), until(async () => server.received.length === 1).then(() => false)]))
      trial = call(leaving.signal)

    assert.equal((await call()).status, 503, 'others are refused at once')
    answer()
    assert.equal((await slow).status, 200, 'what had been asked before is not held back')
    leaving.abort()
    await assert.rejects(trial)
    await server.received[0]?.aborted
    await until(async () => (await fresh.gateway.calls.history({ limit: 1, status: 'aborted' })).total === 1)
    assert.equal((await call()).status, 503, 'whoever leaves has not seen that it is back')
    assert.equal(server.received.length, 1)
    await fresh.close()
  })

  it('leaves an endpoint alone whatever it answers to what had been asked before', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    const call = () =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    server.on('/chat/completions', double.fails(503))
    await call()
    let answer = () => {}
    const told = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.on('/chat/completions', async (response, received) => {
      await told
      await double.json(200, double.completion('Slow.'))(response, received)
    })
    const slow = call()
    await until(async () => server.received.length === 2)
    server.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 9; i++) await call()
    answer()
    assert.equal((await slow).status, 200)
    server.received.length = 0
    assert.equal((await call()).status, 503)
    assert.equal(server.received.length, 0)
  })

  it('says for how long it leaves an endpoint alone', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    const pass = holdTime(t)
    const retryAfter = async () => {
      const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
      const { message } = await errorOf(reply)
      return { isLeftAlone: String(message).includes('left alone'), seconds: Number(reply.headers.get('retry-after')) }
    }
    server.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 10; i++) await retryAfter()
    let longest = 0
    for (let trial = 0; trial < 12; trial++) {
      const { isLeftAlone, seconds } = await retryAfter()
      assert.ok(isLeftAlone && Number.isInteger(seconds) && seconds >= 1 && seconds <= 15, `${seconds} s`)
      longest = Math.max(longest, seconds)
      pass(1000 * (seconds - 1))
      assert.deepEqual(await retryAfter(), { isLeftAlone: true, seconds: 1 })
      pass(1000)
      assert.equal((await retryAfter()).isLeftAlone, false, 'tried again as soon as it was told')
    }
    assert.ok(longest > 2, `${longest} s`)
  })

  it('goes by the time that passed where the clock is set back', async (t) => {
    const fresh = await startGateway(server.url)
    t.after(() => fresh.close())
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const setBack = () => t.mock.timers.setTime(Date.now() - 3_600_000)
    const call = () =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    server.on('/chat/completions', (response, received) => {
      setBack()
      return double.fails(503)(response, received)
    })
    for (let i = 0; i < 10; i++) await call()
    setBack()
    const reply = await call()
    assert.match(String((await errorOf(reply)).message), /left alone/)
    assert.equal(reply.headers.get('retry-after'), '1')
    await fresh.gateway.calls.flush()
    const { items } = await fresh.gateway.calls.history({ limit: 20 })
    assert.ok(items.length >= 10)
    for (const { latency_ms } of items) assert.ok(latency_ms >= 0, `${latency_ms} ms`)
  })

  it('does not leave an endpoint alone for replies that break off', async () => {
    const fresh = await startGateway(server.url)
    const statuses: number[] = []
    server.on(
      '/chat/completions',
      begins(200, (socket) => socket.resetAndDestroy()),
    )
    for (let i = 0; i < 12; i++) {
      const headers = { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' }
      const reply = await fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers,
      })
      statuses.push(reply.status)
      await reply.body?.cancel()
    }
    assert.deepEqual(statuses, Array(12).fill(502))
    await fresh.close()
  })

  describe('an endpoint that was left alone', () => {
    let fresh: RunningGateway
    beforeEach(async () => {
      fresh = await startGateway(server.url)
    })
    afterEach(() => fresh.close())

    const call = (signal?: AbortSignal) =>
      fetch(`${fresh.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        ...(signal && { signal }),
      })
    const statusOf = async (reply: Promise<Response>) => {
      const { status, body } = await reply
      await body?.cancel()
      return status
    }
    async function fails(): Promise<void> {
      server.on('/chat/completions', double.fails(503))
      for (let i = 0; i < 10; i++) await statusOf(call())
      server.received.length = 0
    }

    it('is back as soon as a reply has begun, however long the rest of it takes', async (t) => {
      const pass = holdTime(t)
      await fails()
      pass(1000)
      let finish = () => {}
      const text = JSON.stringify(double.completion('Slow.'))
      server.on(
        '/chat/completions',
        (response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, 20))
          finish = () => response.end(text.slice(20))
        },
        double.json(200, double.completion('Fast.')),
      )
      const slow = call()
      await until(async () => server.received.length === 1)
      await until(async () => (await statusOf(call())) === 200)
      assert.deepEqual(await Promise.all([statusOf(call()), statusOf(call())]), [200, 200])
      finish()
      assert.equal((await slow).status, 200)
      assert.match(await (await slow).text(), /Slow/)
    })

    it('is tried by another request after each pause while the first has no reply yet', async (t) => {
      const pass = holdTime(t)
      await fails()
      const leaving = new AbortController()
      const tries: Promise<unknown>[] = []
      server.on('/chat/completions', double.hangs)
      pass(1000)
      for (let n = 1; n <= 6; n++) {
        tries.push(assert.rejects(call(leaving.signal)))
        await until(async () => server.received.length === n)
        const refused = await call()
        const seconds = Number(refused.headers.get('retry-after'))
        assert.equal((await errorOf(refused)).code, 'upstream_unreachable')
        assert.ok(seconds >= 1 && seconds <= 15, `${seconds} s`)
        pass(1000 * seconds)
      }
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      assert.deepEqual([await statusOf(call()), await statusOf(call())], [200, 200])
      leaving.abort()
      await Promise.all(tries)
      assert.equal(await statusOf(call()), 200)
    })
  })

  it('leaves an endpoint alone that keeps failing, and falls back at once', async () => {
    const fresh = await startGateway(server.url)
    const call = (path: string, body: unknown) =>
      fetch(fresh.url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
      })
    server.on('/responses', double.drops)
    server.on('/chat/completions', double.json(200, double.completion('From chat.')))
    for (let i = 0; i < 10; i++) await call('/v1/responses', QUESTION)
    server.received.length = 0
    assert.equal((await call('/v1/responses', QUESTION)).headers.get('x-gazeway-route'), 'chat_fallback')
    assert.deepEqual(
      server.received.map((entry) => entry.path),
      ['/v1/chat/completions'],
    )
    await fresh.close()
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

const happens = (response: ServerResponse, name: string) => new Promise((resolve) => response.once(name, resolve))

/** Waits until a condition holds that an event outside this process's reach brings about; five seconds at most. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  // Not by a clock, which some tests hold.
  const deadline = AbortSignal.timeout(5000)
  while (!(await holds())) {
    if (deadline.aborted) assert.fail('It did not happen within 5 s.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
