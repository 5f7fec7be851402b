import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, errorOf, openGateway, QUESTION } from './http-gateway.ts'

const { server, running, request, post } = await openGateway()

describe('the door of the gateway', () => {
  it('answers /health without a key', async () => {
    const reply = await request('/health', { key: null })
    assert.equal(reply.status, 200)
    const body = (await reply.json()) as Record<string, unknown>
    assert.deepEqual(Object.keys(body), ['status', 'version', 'uptime_seconds', 'store', 'upstream', 'upstreams'])
  })

  it('accepts any number of spaces before a key, and its scheme in any case', async () => {
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

  it('refuses foreign hosts, but of probes, and foreign origins', async () => {
    const named = (path: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
        let text = ''
        socket.on('data', (data) => {
          text += data
        })
        socket.on('close', () => resolve(text))
        socket.end(`GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
      })
    for (const path of ['/v1/models', '/metrics']) assert.match(await named(path), /^HTTP\/1\.1 403 /)
    for (const probe of ['/health', '/livez', '/readyz']) assert.match(await named(probe), /^HTTP\/1\.1 200 /)
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
      assert.equal((await post(path, 'x'.repeat(33 * 1024 * 1024))).status, 413)
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
})
