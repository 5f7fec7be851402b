import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { basename, dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

describe('requests that reach no route', () => {
  let server: double.UpstreamDouble
  let running: RunningGateway

  before(async () => {
    server = await double.startUpstream()
    running = await startGateway(server.url, {}, { http: { header_timeout_ms: 1000, request_timeout_ms: 1000 } })
  })
  after(async () => {
    await running.close()
    await server.close()
  })

  /** Sends bytes, and reads what comes back until the server closes the connection. */
  async function send(bytes: string) {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.write(bytes)
    const reply = await text(socket)
    const [head = '', body = ''] = reply.split('\r\n\r\n')
    const [statusLine = '', ...lines] = head.split('\r\n')
    const headers = new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]))
    return { status: Number(statusLine.split(' ')[1]), headers, body }
  }

  const head = 'POST /memory/store HTTP/1.1\r\nHost: localhost\r\n'
  const json = 'Content-Type: application/json\r\n'
  const cases: [what: string, bytes: string, status: number, code: string][] = [
    ['has no Host header', 'GET /health HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    ['has no Host header, as HTTP/1.0 may', 'GET /health HTTP/1.0\r\n\r\n', 400, 'invalid_request'],
    ['has a malformed Host header', 'GET /health HTTP/1.1\r\nHost: a b\r\n\r\n', 400, 'invalid_request'],
    ['hides a path in its Host', 'GET /health HTTP/1.1\r\nHost: 127.0.0.1:1/../x\r\n\r\n', 400, 'invalid_request'],
    ['has no path', 'GET health HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, 'invalid_request'],
    [
      'has two Host headers',
      'GET /health HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'asks another host by its target',
      'GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'asks another port by its target',
      'GET http://localhost:1/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'has a user in its target',
      'GET http://me@localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['is no HTTP', 'hello there\r\n\r\n', 400, 'invalid_request'],
    [
      'says its length in two ways',
      `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'invalid_request',
    ],
    ['has a malformed chunk', `${head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`, 400, 'invalid_request'],
    ['has 20 kB of headers', `${head}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'header_too_large'],
    ['names a session of 1 MB', `${head}X-Gazeway-Session: ${'x'.repeat(2 ** 20)}\r\n\r\n`, 431, 'header_too_large'],
    ['expects what nobody knows', `${head}Expect: foo\r\n\r\n`, 417, 'expectation_failed'],
    ['never ends its headers', head, 408, 'request_timeout'],
    ['never sends its body', `${head}${json}Content-Length: 10\r\n\r\n{`, 408, 'request_timeout'],
  ]
  for (const [what, bytes, status, code] of cases)
    it(`answers one that ${what} with ${status} and an error body, and closes`, async () => {
      const authorized = bytes.replace('Host: localhost\r\n', `$&Authorization: Bearer ${running.key}\r\n`)
      const reply = await send(authorized)
      assert.equal(reply.status, status)
      assert.equal(reply.headers.get('content-type'), 'application/json')
      assert.equal(reply.headers.get('connection'), 'close')
      assert.equal(reply.headers.get('content-length'), String(Buffer.byteLength(reply.body)))
      const { error } = JSON.parse(reply.body)
      assert.deepEqual([error.code, error.type, error.param], [code, 'invalid_request_error', null])
      assert.match(error.request_id, /^req_[0-9a-f]{32}$/)
      assert.equal(reply.headers.get('x-request-id'), error.request_id)
    })

  it('answers one whose target is an absolute address of the same host', async () => {
    for (const target of ['http://localhost/health', 'http://LOCALHOST:80/health'])
      assert.equal((await send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).status, 200)
  })

  it('names no absolute path in an error', async () => {
    const { storeUrl } = running.gateway.loaded
    const file = storeUrl.slice('sqlite:'.length)
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    const body = JSON.stringify({ key: 'k', value: 1 })
    const reply = await send(
      `POST /memory/store HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${running.key}\r\n` +
        `${json}Content-Length: ${body.length}\r\n\r\n${body}`,
    )
    other.close()
    assert.equal(reply.status, 503)
    assert.match(reply.body, new RegExp(`The store ${basename(file)}: another process has locked it`))
    assert.ok(!reply.body.includes(dirname(file)), reply.body)
  })

  it('keeps the request id of the caller where it could be read', async () => {
    for (const bytes of [
      'GET /health HTTP/1.1\r\nHost: a b\r\nX-Request-Id: mine\r\n\r\n',
      `${head}Expect: foo\r\nX-Request-Id: mine\r\n\r\n`,
    ]) {
      const { headers, body } = await send(bytes)
      assert.equal(headers.get('x-request-id'), 'mine')
      assert.equal(JSON.parse(body).error.request_id, 'mine')
    }
  })

  it('closes a connection that has never sent a byte without a word', async () => {
    const before = running.logged.length
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    assert.equal(await text(socket), '')
    assert.doesNotMatch(running.logged.slice(before).join(''), /could not be read/)
  })

  it('writes no refusal into a reply that has begun', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Say hello.' }], stream: true })
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
        `${json}Content-Length: ${body.length}\r\n\r\n${body}`,
    )
    const [first] = await once(socket, 'data')
    socket.write('garbage\r\n\r\n')
    const reply = String(first) + (await text(socket))
    assert.match(reply, /^HTTP\/1\.1 200 /)
    assert.equal(reply.match(/HTTP\/1\.1 /g)?.length, 1)
  })
})

describe('a time for whole requests that is shorter than the one for their heads', () => {
  it('is the time for heads too', async () => {
    const running = await startGateway('sandbox', {}, { http: { request_timeout_ms: 1000 } })
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n')
    assert.match(await text(socket), /^HTTP\/1\.1 408 /)
    await running.close()
  })
})

describe('the body of a request', () => {
  let running: RunningGateway

  before(async () => {
    running = await startGateway('sandbox')
  })
  after(() => running.close())

  const stored = JSON.stringify({ key: 'é', value: 1 })
  const cases: [
    what: string,
    headers: Record<string, string>,
    body: NonNullable<RequestInit['body']>,
    status: number,
    code: string | null,
  ][] = [
    ['JSON', { 'content-type': 'application/json' }, stored, 201, null],
    ['JSON that names its charset', { 'content-type': 'Application/JSON ; Charset="UTF-8"' }, stored, 200, null],
    ['a kind of JSON', { 'content-type': 'application/ld+json' }, stored, 200, null],
    ['JSON sent as it is', { 'content-type': 'application/json', 'content-encoding': 'identity' }, stored, 200, null],
    ['JSON lines', { 'content-type': 'application/json-seq' }, stored, 415, 'unsupported_media_type'],
    ['another charset', { 'content-type': 'application/json; charset=latin1' }, stored, 415, 'unsupported_media_type'],
    [
      'compressed JSON',
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      gzipSync(stored),
      415,
      'unsupported_media_type',
    ],
    [
      'text that is not UTF-8',
      { 'content-type': 'application/json' },
      Buffer.from(stored, 'latin1'),
      400,
      'invalid_json',
    ],
    ['nothing', { 'content-type': 'application/json' }, '', 400, 'invalid_json'],
  ]
  for (const [what, headers, body, status, code] of cases)
    it(`is ${code === null ? 'taken' : `refused with ${status}`} where it is ${what}`, async () => {
      const reply = await fetch(`${running.url}/memory/store`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${running.key}` },
        body,
      })
      const { error } = (await reply.json()) as { error?: { code: string } }
      assert.deepEqual([reply.status, error?.code ?? null], [status, code])
    })
})
