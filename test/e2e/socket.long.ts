import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { connectWithKey, openSocket, type Welcomed } from '../adapters/socket-client.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import * as double from '../doubles/upstream.ts'
import { startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

const PLATFORM = ['--platform', '--platform-port', '0']
const IDLE = 1000
const CHATTING = 100
const CHATS = 5
/** Time limit to close a connection that another process serves. */
const SOON_MS = 5000

/** A platform in a process of its own. */
interface Platform {
  url: string
  gateway: GatewayProcess
}

async function startPlatformProcess(args: string[], env: Record<string, string> = {}): Promise<Platform> {
  const gateway = await startGatewayProcess(newPlace(), { args: [...PLATFORM, ...args], env })
  return { url: await platformOf(gateway), gateway }
}

async function callPlatform(
  { url, gateway }: Platform,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const reply = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  assert.ok(reply.ok, await reply.clone().text())
  return reply.json()
}

describe('the agent socket of a process', () => {
  let upstream: UpstreamDouble
  let platform: Platform
  before(async () => {
    upstream = await startUpstream()
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    platform = await startPlatformProcess(['--upstream', upstream.url])
  })
  after(async () => {
    await platform.gateway.stop()
    await upstream.close()
  })
  const connect = () => connectWithKey(platform, platform.gateway.key)
  const many = (count: number) => Promise.all(Array.from({ length: count }, connect))

  it(`serves ${CHATTING} connections that chat beside ${IDLE} that do not`, { timeout: 300_000 }, async () => {
    const idle: Welcomed[] = []
    while (idle.length < IDLE) idle.push(...(await many(100)))
    const chatting = await many(CHATTING)
    await Promise.all(
      chatting.map(async (client) => {
        for (let id = 0; id < CHATS; id++) {
          client.send({ type: 'chat', content: 'Hello.', id })
          const reply = await client.next()
          assert.deepEqual([reply.type, reply.id], ['reply', id], JSON.stringify(reply))
        }
      }),
    )
    const { total } = (await callPlatform(platform, 'GET', '/api/connections')) as { total: number }
    assert.equal(total, IDLE + CHATTING)
    for (const client of [...idle, ...chatting]) client.ws.terminate()
  })

  it('says why it cannot answer while the upstream is down, and answers once it is back', async () => {
    const client = await connect()
    client.send({ type: 'chat', content: 'One.' })
    assert.equal((await client.next()).type, 'reply')
    upstream.on('/chat/completions', double.drops)
    client.send({ type: 'chat', content: 'Two.' })
    const error = await client.next()
    assert.deepEqual([error.type, error.code], ['error', 'upstream_unreachable'])
    upstream.on('/chat/completions', double.json(200, double.completion('Back.')))
    client.send({ type: 'chat', content: 'Three.' })
    assert.equal((await client.next()).content, 'Back.')
    client.ws.close()
    await client.closed
  })
})

describe('the agent socket of a process that is asked to stop', () => {
  it('closes with 1001, and the process ends well', async () => {
    const { url, gateway } = await startPlatformProcess(['--upstream', 'sandbox'])
    const client = await connectWithKey({ url }, gateway.key)
    gateway.kill('SIGTERM')
    assert.equal((await client.closed).code, 1001)
    assert.deepEqual(await gateway.exit, { code: 0, signal: null })
  })
})

describe('two processes on one PostgreSQL', () => {
  let postgres: PostgresServer
  let platforms: [Platform, Platform]
  before(async () => {
    postgres = await startPostgres()
    const store = await postgres.database()
    const start = () =>
      startPlatformProcess(['--upstream', 'sandbox', '--store', store], {
        GAZEWAY_API_KEY: 'an-admin-key-of-the-tests',
      })
    platforms = await Promise.all([start(), start()])
  })
  after(async () => {
    await Promise.all(platforms.map(({ gateway }) => gateway.stop()))
    await postgres.remove()
  })

  it('take each other’s tickets, see each other’s connections, and close them', async () => {
    const [here, there] = platforms
    const made = (await callPlatform(here, 'POST', '/api/connections', { user: 'ada', role: 'admin' })) as {
      id: string
      ticket: string
    }
    const client = await openSocket(there.url, { protocols: ['gazeway.v1', `ticket.${made.ticket}`] })
    const ready = await client.next()
    assert.deepEqual([ready.type, ready.connection_id, ready.role], ['ready', made.id, 'admin'])
    client.send({ type: 'chat', content: 'Hello.' })
    assert.equal((await client.next()).type, 'reply')
    await callPlatform(there, 'GET', '/api/connections')
    const { items } = (await callPlatform(here, 'GET', '/api/connections')) as { items: { id: string }[] }
    assert.deepEqual(
      items.map(({ id }) => id),
      [made.id],
    )
    const asked = performance.now()
    assert.deepEqual(await callPlatform(here, 'DELETE', `/api/connections/${made.id}`), {
      id: made.id,
      status: 'closing',
    })
    const [code] = await Promise.race([client.closed.then(({ code }) => [code]), once(client.ws, 'error')])
    assert.equal(code, 4000)
    assert.ok(performance.now() - asked < SOON_MS, 'it took longer than that')
  })
})
