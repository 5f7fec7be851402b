import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { detect } from '../../src/agent-gateway/detect.ts'
import { freePort } from '../doubles/free-port.ts'

type Replies = Record<string, [status: number, body: unknown]>

describe('what answers at an agent gateway’s address', () => {
  const closing: Array<() => void> = []
  after(() => {
    for (const close of closing) close()
  })

  /** A server that knows these paths, and what it was sent there. */
  async function serving(replies: Replies) {
    const received: Array<[path: string, authorization: string | undefined]> = []
    const server = createServer((request, response) => {
      received.push([request.url ?? '', request.headers.authorization])
      const [status, body] = replies[request.url ?? ''] ?? [404, 'not here']
      const isText = typeof body === 'string'
      const headers = { location: '/elsewhere', 'content-type': isText ? 'text/html' : 'application/json' }
      response.writeHead(status, headers).end(isText ? body : JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(() => {
      server.close()
      server.closeAllConnections()
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
  }
  const look = (url: string, key: string | null = null, patienceMs = 5000) =>
    detect({ url, key, isOwn: false }, AbortSignal.timeout(patienceMs))
  const found = async (url: string) => {
    const { kind, version, supported, reachable } = await look(url, 'agent-key')
    return { kind, version, supported, reachable }
  }
  const agent = (version?: string) => ({ status: 'ok', platform: 'an-agent', version })

  for (const [name, replies, expected] of [
    ['0.17, by its health', { '/health': [200, agent('0.17.0')] }, ['agent_gateway', '0.17.0', true]],
    [
      'a later one, with words around',
      { '/health': [200, agent('Agent 0.21.5 (dev)')] },
      ['agent_gateway', '0.21.5', true],
    ],
    ['1.0', { '/health': [200, agent('1.0')] }, ['agent_gateway', '1.0', true]],
    ['one that is too old', { '/health': [200, agent('0.11.3')] }, ['agent_gateway', '0.11.3', false]],
    [
      '0.12 to 0.16, by their routes',
      { '/health': [200, agent()], '/v1/capabilities': [200, {}] },
      ['agent_gateway', '>=0.12 <0.17', true],
    ],
    [
      'the same where the key is refused',
      { '/health': [200, agent('dev')], '/v1/capabilities': [401, {}] },
      ['agent_gateway', '>=0.12 <0.17', true],
    ],
    ['0.11, which lacks the route', { '/health': [200, agent()] }, ['agent_gateway', '<0.12', false]],
    [
      'a Gazeway',
      { '/health': [200, { status: 'ok', version: '0.1.0', store: { engine: 'sqlite', ok: true } }] },
      ['gazeway', '0.1.0', true],
    ],
    [
      'one whose health has a version and no platform',
      { '/health': [200, { status: 'ok', version: '0.17.2' }], '/v1/capabilities': [200, {}] },
      ['agent_gateway', '0.17.2', true],
    ],
    [
      'from it what has a version and none of its routes',
      { '/health': [200, { status: 'ok', version: '1.4.0' }], '/v1/models': [200, { object: 'list', data: [] }] },
      ['unknown', null, false],
    ],
    ['something else', { '/health': [200, '<html>'] }, ['unknown', null, false]],
  ] as Array<[string, Replies, [string, string | null, boolean]]>)
    it(`tells ${name}`, async () => {
      const { url } = await serving(replies)
      const [kind, version, supported] = expected
      assert.deepEqual(await found(url), { kind, version, supported, reachable: true })
    })

  it('sends the key to the routes that ask for it, and follows no redirect', async () => {
    const { url, received } = await serving({
      '/health': [200, agent()],
      '/v1/capabilities': [302, ''],
      '/v1/models': [302, ''],
    })
    await found(url)
    assert.deepEqual(received, [
      ['/health', undefined],
      ['/v1/capabilities', 'Bearer agent-key'],
      ['/v1/models', 'Bearer agent-key'],
    ])
  })

  const GAZEWAY = { status: 'ok', version: '0.1.0', store: { engine: 'sqlite', ok: true } }
  const LIST = { object: 'list', data: [] }

  for (const [what, health] of [
    ['has no health', [404, 'not here']],
    ['takes other methods there', [405, '']],
    ['keeps its health to itself', [401, {}]],
    ['has an empty health', [200, '']],
  ] as Array<[string, Replies[string]]>)
    it(`takes what ${what} and lists models for something that infers`, async () => {
      const { url } = await serving({ '/health': health, '/v1/models': [200, LIST] })
      const { reachable, kind, error } = await look(url, 'agent-key')
      assert.deepEqual([reachable, kind, error], [true, 'unknown', null])
    })

  for (const [what, health] of [
    ['an agent gateway of 0.17', [200, agent('0.17.0')]],
    ['an agent gateway that is older', [200, agent()]],
    ['a Gazeway', [200, GAZEWAY]],
    ['something that infers', [200, '']],
    ['something that has no health', [404, '']],
    ['something that refuses even there', [401, {}]],
  ] as Array<[string, Replies[string]]>)
    it(`tells that ${what} refuses the key, or asks for one`, async () => {
      for (const status of [401, 403]) {
        const refusal = [status, {}] as [number, unknown]
        const { url } = await serving({ '/health': health, '/v1/capabilities': refusal, '/v1/models': refusal })
        const wrong = await look(url, 'agent-key')
        assert.equal(wrong.reachable, true)
        assert.match(wrong.error ?? '', new RegExp(`refuses the key .*${status}.*check GAZEWAY_AGENT_GATEWAY_KEY\\.$`))
        assert.match((await look(url)).error ?? '', /asks for a key .*set GAZEWAY_AGENT_GATEWAY_KEY\.$/)
      }
    })

  it('asks no list of models of a Gazeway, which would ask its provider, and no key of this process’s own', async () => {
    const { url, received } = await serving({ '/health': [200, GAZEWAY], '/v1/capabilities': [401, {}] })
    await look(url, 'agent-key')
    const own = await detect({ url, key: null, isOwn: true }, AbortSignal.timeout(5000))
    assert.equal(own.error, null)
    assert.deepEqual(
      received.map(([path]) => path),
      ['/health', '/v1/capabilities', '/health'],
    )
  })

  it('takes no web page, and nothing that is not there, for something that infers', async () => {
    for (const [replies, reachable, error] of [
      [{ '/health': [200, '<html>'], '/v1/models': [200, '<html>'] }, true, /answered 200 on \/v1\/models, not with a/],
      [{ '/health': [200, '<html>'] }, true, /answered 404 on \/v1\/models, .* check GAZEWAY_AGENT_GATEWAY_URL\.$/],
      [{}, false, /answered 404 on \/v1\/models, not with a list of models\.$/],
    ] as Array<[Replies, boolean, RegExp]>) {
      const told = await look((await serving(replies)).url)
      assert.equal(told.reachable, reachable)
      assert.match(told.error ?? '', error)
    }
  })

  it('takes what infers for reached where its models are not listed for the moment, and blames no address', async () => {
    const later = 'It answered 503 on /v1/models. Retry later.'
    for (const [health, models, reachable, error] of [
      [200, 429, true, null],
      [404, 429, true, null],
      [200, 503, true, later],
      [404, 503, false, later],
    ] as const) {
      const told = await look((await serving({ '/health': [health, ''], '/v1/models': [models, ''] })).url)
      assert.deepEqual([told.reachable, told.error], [reachable, error])
    }
  })

  it('takes what is healthy for reached where the list of its models does not come in time', async () => {
    const patience = new AbortController()
    const slow = createServer(({ url }, response) => {
      if (url === '/health') response.end()
      else patience.abort()
    }).listen(0, '127.0.0.1')
    await once(slow, 'listening')
    closing.push(() => {
      slow.close()
      slow.closeAllConnections()
    })
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
    const told = await detect({ url, key: null, isOwn: false }, patience.signal)
    assert.deepEqual([told.reachable, told.error], [true, null])
  })

  it('tells why nothing was reached', async () => {
    const { url } = await serving({ '/health': [503, ''] })
    const failing = await look(url)
    assert.deepEqual([failing.reachable, failing.error], [false, 'It answered 503 on /health.'])
    const nobody = await look(`http://127.0.0.1:${await freePort()}`)
    assert.deepEqual([nobody.reachable, nobody.latencyMs], [false, null])
    assert.match(nobody.error ?? '', /ECONNREFUSED/)
  })

  it('reads no more of a health reply than one can have', async () => {
    const { url } = await serving({ '/health': [200, { ...agent('0.17.0'), note: 'x'.repeat(70_000) }] })
    const endless = await look(url)
    assert.equal(endless.reachable, false)
    assert.match(endless.error ?? '', /reply is too large/)
  })

  it('gives up in time on one that says nothing', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = server.address() as AddressInfo
    const silent = await look(`http://127.0.0.1:${port}`, null, 50)
    assert.deepEqual([silent.reachable, silent.error], [false, 'It did not answer in time.'])
  })
})
