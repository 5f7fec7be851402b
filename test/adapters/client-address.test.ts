import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { clientAddresses } from '../../adapters/web/client-address.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'
import { openSocket } from './socket-client.ts'

const TRUSTED = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8']

describe('the address of a client', () => {
  const of = (headers: Record<string, string>, peer = '127.0.0.1', trusted = TRUSTED) =>
    clientAddresses(trusted).of({ headers, socket: { remoteAddress: peer } })
  const chain = (list: string, peer?: string) => of({ 'x-forwarded-for': list }, peer)

  it('is that of the connection where no proxy is trusted, or another sends the request', () => {
    assert.equal(of({ 'x-forwarded-for': '203.0.113.7' }, '127.0.0.1', []), '127.0.0.1')
    assert.equal(chain('203.0.113.7', '192.0.2.1'), '192.0.2.1')
    assert.equal(of({}, '::ffff:192.0.2.1'), '192.0.2.1')
    assert.equal(clientAddresses(TRUSTED).of({ headers: {}, socket: {} }), null)
  })

  it('is the last one that no trusted proxy has, whatever the client wrote before it', () => {
    assert.equal(chain('203.0.113.7'), '203.0.113.7')
    assert.equal(chain('127.0.0.1, 198.51.100.1, 203.0.113.7, 10.1.2.3,fd00::9'), '203.0.113.7')
    assert.equal(chain('203.0.113.7', '::ffff:10.9.9.9'), '203.0.113.7')
    assert.equal(chain('10.0.0.2, 10.0.0.1'), '10.0.0.2')
  })

  it('is read with a port, in brackets and mapped to IPv6', () => {
    assert.equal(chain('203.0.113.7:4711'), '203.0.113.7')
    assert.equal(chain('[2001:db8::7]:4711'), '2001:db8::7')
    assert.equal(chain('::ffff:203.0.113.7'), '203.0.113.7')
  })

  it('is the nearest one known where a proxy names none', () => {
    assert.equal(chain('203.0.113.7, unknown, 10.0.0.1'), '10.0.0.1')
    assert.equal(chain(''), '127.0.0.1')
    assert.equal(of({}), '127.0.0.1')
  })

  it('is read from Forwarded where X-Forwarded-For is absent', () => {
    const forwarded = (list: string) => of({ forwarded: list })
    assert.equal(
      forwarded('for=198.51.100.1;proto=http, For="[2001:db8::7]:4711";by="a,b;for=x", for=10.0.0.1'),
      '2001:db8::7',
    )
    assert.equal(forwarded('for=_hidden, for=10.0.0.1'), '10.0.0.1')
    assert.equal(forwarded('for=198.51.100.1;by=", for="[2001:db8::7]"'), '127.0.0.1', 'a quote that the client opened')
    assert.equal(of({ forwarded: 'for=198.51.100.1', 'x-forwarded-for': '203.0.113.7' }), '203.0.113.7')
  })
})

describe('a client behind a trusted proxy', () => {
  const CHAT = { messages: [{ role: 'user', content: 'Hello?' }] }
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    upstream = await double.startUpstream()
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    running = await startPlatform(upstream.url, {
      document: { http: { trusted_proxies: ['127.0.0.1'], allowed_hosts: ['gateway.example'], keep_alive_ms: 2000 } },
    })
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  let clients = 0
  /** An address of its own, so that the one record of it is found. */
  const nextClient = () => `203.0.113.${++clients}`
  const behind = (address: string) => ({ 'x-forwarded-for': `198.51.100.1, ${address}` })
  async function recordOf(address: string): Promise<Record<string, unknown>> {
    const reply = await ask(running, 'GET', '/api/calls', { key: running.admin })
    const { items } = (await reply.json()) as { items: Record<string, unknown>[] }
    const [found, ...more] = items.filter((item) => item.address === address)
    assert.ok(found && more.length === 0, JSON.stringify(items.map((item) => item.address)))
    return found
  }
  const chatOn = (url: string, key: string, address: string) =>
    ask({ ...running, url }, 'POST', '/v1/chat/completions', { key, body: CHAT, headers: behind(address) })

  it('is in the record of its call, on both services', async () => {
    const [direct, forwarded] = [nextClient(), nextClient()]
    const { key } = await running.gateway.keys.create({ name: 'assistant', scopes: ['inference'] })
    for (const [url, by, address] of [
      [running.gatewayUrl, key, direct],
      [running.url, running.key, forwarded],
    ] as const) {
      const reply = await chatOn(url, by, address)
      assert.equal(reply.status, 200, await reply.text())
      assert.equal((await recordOf(address)).surface, 'http')
    }
  })

  it('is in the record of a metered call, and of a chat in a session and on the socket', async () => {
    const [metered, session, socket] = [nextClient(), nextClient(), nextClient()]
    const body = { model: 'llm-4-1-fast-reasoning', prompt: 'Hello?', max_tokens: 20, caller_id: running.key }
    await ask(running, 'POST', '/api/wallet/metered/call', { body, headers: behind(metered) })
    const { id } = (await (await ask(running, 'POST', '/api/sessions', { body: {} })).json()) as { id: string }
    await ask(running, 'POST', `/api/sessions/${id}/chat`, { body: { message: 'Hello?' }, headers: behind(session) })
    const headers = { ...behind(socket), authorization: `Bearer ${running.key}` }
    const client = await openSocket(running.url, { headers })
    await client.next()
    client.send({ type: 'chat', content: 'Hello?' })
    await client.next()
    const { items } = await running.gateway.calls.history({ limit: 100 })
    for (const address of [metered, session, socket]) assert.equal((await recordOf(address)).status, 'ok', address)
    assert.equal(items.find((item) => item.address === socket)?.surface, 'socket')
    const listed = await ask(running, 'GET', '/api/connections', { key: running.admin })
    assert.match(await listed.text(), new RegExp(`"remote":"${socket}"`))
    client.ws.close()
    await client.closed
  })

  it('is in the record of its refused call, and in the line of its request in the log', async () => {
    const address = nextClient()
    assert.equal((await chatOn(running.gatewayUrl, 'gzw_wrong', address)).status, 401)
    const { status, caller_id } = await recordOf(address)
    assert.deepEqual([status, caller_id], ['refused', null])
    await until(async () =>
      running.logged.some((line) => line.includes('"Request"') && line.includes(`"address":"${address}"`)),
    )
  })

  it('does not pass for this machine at its metrics', async () => {
    const metrics = (headers: Record<string, string>) =>
      fetch(`${running.gatewayUrl}/metrics`, { headers }).then(({ status }) => status)
    assert.deepEqual([await metrics({}), await metrics(behind(nextClient()))], [200, 401])
  })

  it('keeps its idle connection open for as long as http.keep_alive_ms says', async () => {
    for (const url of [running.url, running.gatewayUrl])
      assert.equal((await fetch(`${url}/livez`)).headers.get('keep-alive'), 'timeout=2')
  })

  it('answers probes whatever the Host, and nothing else', async () => {
    const withHost = (url: string) =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        request(url, { headers: { host: 'gazeway_upstream' } }, async (reply) =>
          resolve([reply.statusCode, await text(reply)]),
        )
          .on('error', reject)
          .end()
      })
    for (const url of [running.url, running.gatewayUrl]) {
      assert.deepEqual(await withHost(`${url}/livez`), [200, '{"status":"ok"}'])
      assert.equal((await withHost(`${url}/health`))[0], 200)
      const [status, body] = await withHost(`${url}/v1/models`)
      assert.deepEqual([status, JSON.parse(body).error.code], [403, 'forbidden_origin'])
      const page = await fetch(`${url}/livez`, { headers: { origin: 'https://evil.example' } })
      assert.equal(page.status, 403)
    }
  })
})
