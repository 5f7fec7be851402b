import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { until } from '../doubles/until.ts'
import { type GatewayProcess, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'

/** Time limit for a change to reach the other gateway, and for recovery after a fault. */
const SOON_S = 5
const KEY = 'an-admin-key-of-the-tests'

/** As in deploy/compose.yaml: a request goes to the next gateway, and to the other one where that cannot be reached. */
async function startBalancer(targets: readonly string[]): Promise<{ url: string; server: Server }> {
  let turn = 0
  const server = createServer((incoming, reply) => {
    const pass = (attempts: number) => {
      const target = targets[turn++ % targets.length] ?? ''
      const { method, headers } = incoming
      const outgoing = request(`${target}${incoming.url}`, { method: method ?? 'GET', headers }, (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(reply)
      })
      outgoing.on('error', () => {
        if (attempts > 1 && method === 'GET') pass(attempts - 1)
        else reply.writeHead(502).end()
      })
      incoming.pipe(outgoing)
    }
    pass(targets.length)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('two gateways on one PostgreSQL behind a balancer', () => {
  let postgres: PostgresServer
  let url: string
  let gateways: [GatewayProcess, GatewayProcess]
  let balancer: { url: string; server: Server }

  before(async () => {
    postgres = await startPostgres({ durable: true })
    url = await postgres.database()
    const start = () =>
      startGatewayProcess(newPlace(), {
        args: ['--upstream', 'sandbox', '--store', url],
        env: { GAZEWAY_API_KEY: KEY },
      })
    gateways = await Promise.all([start(), start()])
    balancer = await startBalancer(gateways.map((gateway) => gateway.url))
  })
  after(async () => {
    balancer.server.close()
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await postgres.remove()
  })

  const call = (url: string, path: string, { key = KEY, ...init }: RequestInit & { key?: string } = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers },
      signal: AbortSignal.timeout(20_000),
    })
  const store = (url: string, key: string, more: Record<string, string> = {}) =>
    call(url, '/memory/store', { method: 'POST', body: JSON.stringify({ key, value: 'shared' }), headers: more })
  const recall = (url: string, key: string) => call(url, `/memory/recall?key=${key}`)

  it('have one memory, one audit trail and one set of idempotency keys', async () => {
    const [a, b] = gateways
    assert.equal((await store(a.url, 'one', { 'idempotency-key': 'k1' })).status, 201)
    const again = await store(b.url, 'one', { 'idempotency-key': 'k1' })
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
    const { memory } = (await (await recall(b.url, 'one')).json()) as { memory: { version: number } }
    assert.equal(memory.version, 1)
  })

  it('refuse a key soon after another process has revoked it', async () => {
    const shared = await openStore(url)
    const keys = createKeys({
      store: shared,
      now: () => new Date(),
      fixedKey: null,
      onError: (error) => assert.fail(String(error)),
    })
    const { key, record } = await keys.create({ name: 'short-lived', scopes: ['inference'] })
    for (const gateway of gateways) assert.equal((await call(gateway.url, '/memory/recent', { key })).status, 200)
    await keys.revoke(record.id)
    for (const gateway of gateways)
      await until(async () => (await call(gateway.url, '/memory/recent', { key })).status === 401, { seconds: SOON_S })
    await keys.close()
    await shared.close()
  })

  it('stop although a table is locked, and say what is not recorded there', { timeout: 90_000 }, async () => {
    const own = await postgres.database()
    const gateway = await startGatewayProcess(newPlace(), {
      args: ['--upstream', 'sandbox', '--store', own],
      env: { GAZEWAY_API_KEY: KEY },
    })
    const admin = new pg.Client(own)
    await admin.connect()
    await admin.query('begin; lock table call_totals in access exclusive mode')
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello.' }] })
    for (let i = 0; i < 2; i++)
      assert.equal((await call(gateway.url, '/v1/chat/completions', { method: 'POST', body })).status, 200)
    assert.deepEqual(await gateway.stop(), { code: 1, signal: null })
    assert.match(gateway.stderr(), /gazeway: 2 of the call records could not be written: /)
    await admin.end()
  })

  it('go on when one of them is killed and when the database restarts', { timeout: 90_000 }, async () => {
    const shared = await openStore(url)
    const keys = createKeys({
      store: shared,
      now: () => new Date(),
      fixedKey: null,
      onError: (e) => assert.fail(String(e)),
    })
    const { key: collector } = await keys.create({ name: 'collector', scopes: ['admin'] })
    const { key: late } = await keys.create({ name: 'late', scopes: ['admin'] })
    await keys.close()
    await shared.close()
    for (const { url } of gateways) assert.equal((await call(url, '/metrics', { key: collector })).status, 200)
    await postgres.stop()
    // Its entry in the cache of keys has to be too old for other requests.
    const [one] = gateways
    await until(async () => (await call(one.url, '/memory/recent', { key: collector })).status === 503, { seconds: 30 })
    const scrape = await call(one.url, '/metrics', { key: collector })
    assert.deepEqual([scrape.status, /^gazeway_store_up (\d)$/m.exec(await scrape.text())?.[1]], [200, '0'])
    assert.equal((await call(one.url, '/metrics', { key: late })).status, 503, 'a key that it has never read')
    const health = (await (await call(balancer.url, '/health')).json()) as { status: string }
    assert.equal(health.status, 'degraded')
    const probed = (path: string) => Promise.all(gateways.map(async ({ url }) => (await call(url, path)).status))
    assert.deepEqual(
      [await probed('/readyz'), await probed('/livez')],
      [
        [503, 503],
        [200, 200],
      ],
    )
    await postgres.start()
    await until(
      () =>
        store(balancer.url, 'after-restart').then(
          ({ ok }) => ok,
          () => false,
        ),
      { seconds: SOON_S },
    )
    await until(async () => (await probed('/readyz')).every((status) => status === 200), { seconds: SOON_S })

    gateways[0].kill('SIGKILL')
    await gateways[0].exit
    for (let i = 0; i < 6; i++) assert.equal((await recall(balancer.url, 'after-restart')).status, 200)
  })
})
