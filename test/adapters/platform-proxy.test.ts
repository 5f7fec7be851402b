import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { requestHeaders } from '../../adapters/platform/proxy/proxy-headers.ts'
import { identityWithoutKey } from '../../src/identity/identity.ts'
import { freePort } from '../doubles/free-port.ts'
import * as double from '../doubles/upstream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = { messages: [{ role: 'user', content: 'Say hello.' }] }

describe('the passage to an agent gateway', () => {
  let server: Server
  let behave: RequestListener
  let running: RunningPlatform

  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/health') response.end('{"status": "ok", "platform": "agent", "version": "0.17.1"}')
      else behave(request, response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    running = await startPlatform('sandbox', {
      env: {
        GAZEWAY_AGENT_GATEWAY_URL: `http://127.0.0.1:${port}/base/v1/`,
        GAZEWAY_AGENT_GATEWAY_KEY: 'agent-secret-key',
      },
      document: { agent_gateway: { timeout_ms: 2000 }, http: { max_model_body_bytes: 100_000 } },
    })
  })
  afterEach(() => assert.ok(!running.logged.join('').includes('agent-secret-key')))
  after(async () => {
    await running.close()
    server.close()
    server.closeAllConnections()
  })

  it('keeps method, path, query, body and status', async () => {
    behave = async (request, response) => {
      const body = (await request.toArray()).join('')
      response.writeHead(418, { 'content-type': 'application/json', 'x-kept': 'yes' })
      response.end(JSON.stringify({ method: request.method, url: request.url, body }))
    }
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const body = method === 'GET' ? undefined : '{"a": 1}'
      const reply = await ask(running, method, '/v1/things/%C3%A9/a%20b?q=1&q=%26&empty', { body })
      assert.equal(reply.status, 418)
      assert.equal(reply.headers.get('x-kept'), 'yes')
      assert.deepEqual(await reply.json(), {
        method,
        url: '/base/v1/things/%C3%A9/a%20b?q=1&q=%26&empty',
        body: body ?? '',
      })
    }
    const head = await ask(running, 'HEAD', '/v1/things')
    assert.deepEqual([head.status, head.headers.get('x-kept')], [418, 'yes'])
  })

  it('keeps the Responses of one key from the others', async () => {
    const newKey = async () => (await running.gateway.keys.create({ name: 'caller', scopes: ['platform'] })).key
    const [maker, stranger] = [await newKey(), await newKey()]
    const made = (id: string) => ({ ...double.response('Hello'), id })
    const created = (id: string) => ({ type: 'response.created', response: { ...made(id), output: [] } })
    behave = async (request, response) => {
      const { stream } = JSON.parse((await request.toArray()).join('') || '{}')
      const [id, type] = stream ? ['resp_0002', 'text/event-stream'] : ['resp_0001', 'application/json']
      const completed = { type: 'response.completed', response: made(id) }
      const events = [created(id), completed].map((event) => `data: ${JSON.stringify(event)}\n\n`)
      response.writeHead(200, { 'content-type': type }).end(stream ? events.join('') : JSON.stringify(made(id)))
    }
    for (const stream of [false, true]) {
      const body = { model: 'm', input: 'Hi', stream }
      await (await ask(running, 'POST', '/v1/responses', { key: maker, body })).text()
    }
    for (const id of ['resp_0001', 'resp_0002'])
      for (const [key, status] of [
        [stranger, 404],
        [maker, 200],
        [running.admin, 200],
      ] as const) {
        const body = { model: 'm', input: 'And?', previous_response_id: id }
        const statuses = [
          await ask(running, 'POST', '/v1/responses', { key, body }),
          await ask(running, 'POST', '/v1/other', { key, body: { at: id } }),
          await ask(running, 'GET', `/v1/responses/${id.replace('_', '%5F')}`, { key }),
          await ask(running, 'GET', `/v1/responses?after=${id}`, { key }),
          await ask(running, 'DELETE', `/v1/responses/${id}`, { key }),
        ].map((reply) => reply.status)
        assert.deepEqual(statuses, Array(5).fill(status), id)
      }
    assert.equal((await ask(running, 'GET', '/v1/responses/resp_unknown_1', { key: stranger })).status, 200)
  })

  it('sends what remains of the platform’s own limit, if one is set', async () => {
    behave = (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('x')
    await running.gateway.config.set({ 'http.rate_limit.requests_per_minute': 1000 })
    const limited = await ask(running, 'GET', '/v1/models')
    assert.deepEqual([limited.status, limited.headers.get('ratelimit-remaining')], [200, '999'])
    await running.gateway.config.set({ 'http.rate_limit.requests_per_minute': null })
    assert.equal((await ask(running, 'GET', '/v1/models')).headers.get('ratelimit-remaining'), null)
  })

  it('sends its own key, and neither the caller’s credentials nor what belongs to one connection', async () => {
    let headers: Record<string, unknown> = {}
    behave = (request, response) => {
      headers = request.headers
      response.writeHead(200, {
        'set-cookie': 'a=b',
        'www-authenticate': 'Bearer',
        'access-control-allow-origin': '*',
        'keep-alive': 'timeout=99',
        connection: 'x-hop',
        'x-hop': '1',
      })
      response.end()
    }
    const sent = {
      cookie: 'session=1',
      'x-api-key': running.key,
      'proxy-authorization': 'Basic eA==',
      te: 'trailers',
      'x-mine': '1',
      'x-once': '1',
      connection: 'x-once',
      'x-request-id': 'mine',
      'x-forwarded-for': '203.0.113.7',
      forwarded: 'for=203.0.113.7',
      'x-real-ip': '203.0.113.7',
    }
    const url = new URL(`${running.url}/v1/models`)
    const outgoing = httpRequest(url, { headers: { ...sent, authorization: `Bearer ${running.key}` } }).end()
    const [reply] = await once(outgoing, 'response')
    reply.resume()
    assert.equal(headers.authorization, 'Bearer agent-secret-key')
    assert.deepEqual([headers['x-mine'], headers['x-request-id']], ['1', 'mine'])
    for (const name of ['cookie', 'x-api-key', 'proxy-authorization', 'te', 'x-once', 'forwarded', 'x-real-ip'])
      assert.equal(headers[name], undefined, name)
    assert.ok(!JSON.stringify(headers).includes(running.key))
    assert.equal(headers['x-forwarded-for'], '127.0.0.1', 'its peer, and not whom the caller claims to be')
    for (const name of ['set-cookie', 'www-authenticate', 'access-control-allow-origin', 'x-hop'])
      assert.equal(reply.headers[name], undefined, name)
    assert.equal(reply.headers['x-request-id'], 'mine')
  })

  it('does not send a key that is in the query, as Google’s API takes it', async () => {
    behave = (request, response) => response.end(request.url)
    const { key } = await running.gateway.keys.create({ name: 'caller', scopes: ['platform'], billing: 'recorded' })
    for (const [query, passed] of [
      [`key=${key}`, ''],
      [`a=1&key=${key}&b=%26`, '?a=1&b=%26'],
      [`k%65y=${key}&alt=sse`, '?alt=sse'],
    ])
      for (const path of ['/v1/models/m:generateContent', '/v1/models/m%3AgenerateContent']) {
        const reply = await fetch(`${running.url}${path}?${query}`, { method: 'POST', body: '{"contents":[]}' })
        assert.deepEqual([reply.status, await reply.text()], [200, `/base${path}${passed}`])
      }
  })

  it('blames no caller where the agent gateway refuses the platform’s key, and does not repeat that', async () => {
    for (const [body, told] of [
      [
        '{"error": {"message": "Unknown key agent-secret-key"}}',
        /answered 401: Unknown key \*\*\*\. .*not yours: check/,
      ],
      ['{"error": "Unauthorized"}', /answered 401\. It refused the platform's own key/],
      [`<html>${'x'.repeat(100_000)}`, /answered 401\. It refused the platform's own key/],
    ] as const) {
      behave = (_, response) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(body)
      const reply = await ask(running, 'POST', '/v1/chat/completions', { body: CHAT })
      assert.deepEqual([reply.status, reply.headers.get('www-authenticate')], [502, null])
      const { code, message } = await errorOf(reply)
      assert.equal(code, 'upstream_error')
      assert.match(message, told)
    }
  })

  it('names the agent gateway’s sessions for admins alone, who alone may see them', async () => {
    let headers: Record<string, unknown> = {}
    behave = (request, response) => {
      headers = request.headers
      response.end('{}')
    }
    const sent = { 'X-Hermes-Session-Id': 'theirs', 'x-hermes-session-key': 'their-memory', 'x-hermes-client': 'mine' }
    await ask(running, 'POST', '/v1/chat/completions', { body: CHAT, headers: sent })
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('x-hermes')),
      ['x-hermes-client'],
    )
    await ask(running, 'POST', '/v1/chat/completions', { body: CHAT, headers: sent, key: running.admin })
    assert.deepEqual([headers['x-hermes-session-id'], headers['x-hermes-session-key']], ['theirs', 'their-memory'])
  })

  it('reads in time by their length which headers belong to one connection', () => {
    // By the square of it, this would take most of an hour.
    const connection = `x-once,${' '.repeat(1_000_000)}x`
    const caller = identityWithoutKey({ id: 'key_a', name: 'a', scopes: new Set(), wallet: null })
    const of = { caller, address: null, token: null, requestId: 'a', isRead: false }
    const sent = requestHeaders({ connection, 'x-once': '1', 'x-mine': '1' }, of)
    assert.deepEqual([sent['x-once'], sent['x-mine']], [undefined, '1'])
  })

  it('tells proxies to pass a stream of events on as it comes, unless the agent gateway says otherwise', async () => {
    for (const [type, said, told] of [
      ['text/event-stream', undefined, 'no'],
      ['text/event-stream', 'yes', 'yes'],
      ['text/plain', undefined, null],
    ] as const) {
      behave = (_, response) => {
        response.writeHead(200, { 'content-type': type, ...(said && { 'x-accel-buffering': said }) }).end(': alive\n\n')
      }
      const { headers } = await ask(running, 'GET', '/v1/events')
      assert.equal(headers.get('x-accel-buffering'), told)
    }
  })

  it('streams both ways, piece by piece', async () => {
    behave = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      request.on('data', (chunk) => response.write(`got ${chunk};`))
      request.on('end', () => response.end('end'))
    }
    const outgoing = httpRequest(`${running.url}/v1/echo`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.key}`, 'transfer-encoding': 'chunked' },
    })
    outgoing.write('one')
    const [reply] = await once(outgoing, 'response')
    assert.equal(String((await once(reply, 'data'))[0]), 'got one;')
    outgoing.write('two')
    assert.equal(String((await once(reply, 'data'))[0]), 'got two;')
    outgoing.end()
    assert.equal(String((await once(reply, 'data'))[0]), 'end')
  })

  it('holds the agent gateway back while its client does not read, and loses nothing', async () => {
    const bytes = randomBytes(1024 * 1024)
    const total = 64
    let written = 0
    behave = async (_, response) => {
      for (; written < total; written++) if (!response.write(bytes)) await once(response, 'drain')
      response.end()
    }
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.write(
      `GET /v1/big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${running.key}\r\n\r\n`,
    )
    await once(socket, 'readable')
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.ok(written < total, `${written} MiB went into nowhere`)
    let size = 0
    for await (const chunk of socket) size += chunk.length
    assert.equal(written, total)
    assert.ok(size >= total * bytes.length)
  })

  it('passes bytes on unchanged', async () => {
    const bytes = randomBytes(90_000)
    behave = (request, response) => void request.pipe(response)
    const reply = await ask(running, 'POST', '/v1/bytes', {
      headers: { 'content-type': 'application/octet-stream' },
    }).then(() =>
      fetch(`${running.url}/v1/bytes`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}` },
        body: bytes,
      }),
    )
    const hash = (of: Uint8Array) => createHash('sha256').update(of).digest('hex')
    assert.equal(hash(new Uint8Array(await reply.arrayBuffer())), hash(bytes))
  })

  it('ends the request to the agent gateway when its client goes away', async () => {
    const ended = new Promise<void>((resolve) => {
      behave = (_, response) => {
        response.writeHead(200).write('first')
        response.on('close', resolve)
      }
    })
    const leaving = new AbortController()
    const reply = await fetch(`${running.url}/v1/slow`, {
      headers: { authorization: `Bearer ${running.key}` },
      signal: leaving.signal,
    })
    assert.equal(reply.status, 200)
    leaving.abort()
    await ended
  })

  it('cuts the reply off where the agent gateway does', async () => {
    behave = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('only this')
      setImmediate(() => response.destroy())
    }
    const reply = await ask(running, 'GET', '/v1/broken')
    await assert.rejects(reply.text())
  })

  it('answers 413 to a body over the limit, whether its length was said or not', async () => {
    let received = 0
    behave = (request, response) => {
      received += 1
      request.resume().on('end', () => response.end())
    }
    const large = 'x'.repeat(150_000)
    const said = await ask(running, 'POST', '/v1/large', { body: large })
    assert.deepEqual([said.status, received], [413, 0])
    const unsaid = httpRequest(`${running.url}/v1/large`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.key}`, 'transfer-encoding': 'chunked' },
    })
    unsaid.on('error', () => {})
    unsaid.end('x'.repeat(20_000_000))
    const [reply] = await once(unsaid, 'response')
    assert.equal(reply.statusCode, 413)
    reply.resume()
  })

  it('answers 502 when the agent gateway drops the connection, and 504 when it says nothing', async () => {
    behave = (_, response) => void response.destroy()
    const dropped = await ask(running, 'GET', '/v1/models')
    assert.deepEqual([dropped.status, (await errorOf(dropped)).code], [502, 'upstream_unreachable'])
    behave = () => {}
    const silent = await ask(running, 'GET', '/v1/models')
    assert.deepEqual([silent.status, (await errorOf(silent)).code], [504, 'upstream_timeout'])
  })

  for (const path of [
    '/v1/../admin',
    '/v1/%2e%2e/admin',
    '/v1/..%2fadmin',
    '/v1/%2e%2e%5cadmin',
    '//v1/x',
    '/v1/../v1/%2e%2e/x',
  ])
    it(`makes no request for ${path}`, async () => {
      let received = 0
      behave = (_, response) => {
        received += 1
        response.end()
      }
      const status = await rawStatus(running, path)
      assert.ok(status === 403 || status === 404, String(status))
      assert.equal(received, 0)
    })

  it('has nothing at /v1 itself', async () => {
    const reply = await ask(running, 'GET', '/v1')
    assert.deepEqual([reply.status, (await errorOf(reply)).code], [404, 'not_found'])
  })

  it('needs a key, and one with the scope platform', async () => {
    assert.equal((await ask(running, 'GET', '/v1/models', { key: null })).status, 401)
    const { key } = await running.gateway.keys.create({ name: 'inference only', scopes: ['inference'] })
    assert.equal((await ask(running, 'GET', '/v1/models', { key })).status, 403)
  })
})

describe('the passage to this process’s own gateway', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    upstream = await double.startUpstream()
    running = await startPlatform(upstream.url)
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  it('makes calls in the name of the caller, whose key goes no further', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const reply = await ask(running, 'POST', '/v1/chat/completions', { body: CHAT })
    assert.equal(reply.status, 200)
    assert.deepEqual(await reply.json(), double.completion('Hello.'))
    await running.gateway.calls.flush()
    const [record] = (await running.gateway.calls.history({ limit: 1 })).items
    assert.equal(record?.caller_id, running.keyId)
    assert.ok(!JSON.stringify(upstream.received).includes(running.key))
  })

  it('streams', async () => {
    upstream.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'])))
    const reply = await ask(running, 'POST', '/v1/chat/completions', { body: { ...CHAT, stream: true } })
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    assert.match(await reply.text(), /data: \[DONE\]\n\n: x-gazeway-call-id=\S+ x-gazeway-cost-usd=0\.080045\n\n$/)
  })

  it('has Google’s Gemini API, charged as the rest, which another agent gateway has not', async () => {
    const key = { 'x-goog-api-key': running.key }
    const asked = { contents: [{ parts: [{ text: 'Hello' }] }] }
    const body = JSON.stringify(asked)
    for (const version of ['v1', 'v1beta', 'v1alpha'])
      for (const [method, answer] of [
        ['generateContent', double.json(200, double.completion('Hello.'))],
        ['streamGenerateContent?alt=sse', double.sse(double.chunks(['Hel', 'lo.']))],
      ] as const) {
        upstream.on('/chat/completions', answer)
        const at = `${running.url}/${version}/models/m:${method}`
        const reply = await fetch(at, { method: 'POST', headers: { 'content-type': 'application/json', ...key }, body })
        assert.equal(reply.status, 200)
        assert.match(await reply.text(), /"role":"model"/)
      }
    await running.gateway.calls.flush()
    const [record] = (await running.gateway.calls.history({ limit: 1 })).items
    assert.equal(record?.caller_id, running.keyId)
    const { items } = await running.gateway.wallet.receipts({ caller_id: running.keyId, limit: 10 })
    assert.equal(items.filter(({ path }) => path === '/v1/generateContent').length, 6)
    const other = await startPlatform('sandbox', { env: { GAZEWAY_AGENT_GATEWAY_URL: upstream.url }, withHttp: false })
    const elsewhere = await ask(other, 'POST', '/v1beta/models/m:generateContent', { body: asked })
    await other.close()
    assert.equal(elsewhere.status, 404)
  })

  it('aborts the provider when the client of a key without limits goes away', async () => {
    const { key } = await running.gateway.keys.create({ name: 'free', scopes: ['platform'], billing: 'recorded' })
    upstream.received.length = 0
    upstream.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    const leaving = new AbortController()
    const reply = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, stream: true }),
      signal: leaving.signal,
    })
    await reply.body?.getReader().read()
    leaving.abort()
    await upstream.received[0]?.aborted
  })

  it('keeps the gateway’s own refusals', async () => {
    const reply = await ask(running, 'POST', '/v1/chat/completions', { body: {} })
    assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, 'messages'])
    assert.equal((await ask(running, 'GET', '/v1/nowhere')).status, 404)
  })

  it('says what is missing when there is no gateway in this process and no key for one', async () => {
    const alone = await startPlatform('sandbox', { withHttp: false })
    const reply = await ask(alone, 'GET', '/v1/models')
    const { code, message } = await errorOf(reply)
    assert.deepEqual([reply.status, code], [503, 'upstream_not_configured'])
    assert.match(message, /--http --platform.*GAZEWAY_AGENT_GATEWAY_KEY/)
    await alone.close()
  })

  it('takes the configured key to a gateway in another process', async () => {
    const { key, record } = await running.gateway.keys.create({ name: 'platform', scopes: ['inference'] })
    const alone = await startPlatform('sandbox', {
      withHttp: false,
      env: { GAZEWAY_AGENT_GATEWAY_URL: running.gatewayUrl, GAZEWAY_AGENT_GATEWAY_KEY: key },
    })
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    assert.equal((await ask(alone, 'POST', '/v1/chat/completions', { body: CHAT })).status, 200)
    await running.gateway.calls.flush()
    assert.equal((await running.gateway.calls.history({ limit: 1 })).items[0]?.caller_id, record.id)
    await alone.close()
  })
})

/** The status of a GET whose path is sent exactly as it is written. */
async function rawStatus(platform: RunningPlatform, path: string): Promise<number> {
  const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
  socket.end(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${platform.key}\r\n\r\n`,
  )
  const text = (await socket.toArray()).join('')
  return Number(text.split(' ')[1])
}

it('an agent gateway that leads back to the platform itself is refused at once', async (t) => {
  const platformPort = await freePort()
  const key = 'the-same-key-everywhere'
  const running = await startPlatform('sandbox', {
    env: {
      GAZEWAY_API_KEY: key,
      GAZEWAY_AGENT_GATEWAY_URL: `http://127.0.0.1:${platformPort}`,
      GAZEWAY_AGENT_GATEWAY_KEY: key,
    },
    platformPort,
  })
  t.after(() => running.close())
  const reply = await ask(running, 'GET', '/v1/models')
  assert.deepEqual([reply.status, (await errorOf(reply)).code], [508, 'loop_detected'])
})
