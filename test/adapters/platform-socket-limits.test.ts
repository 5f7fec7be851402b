import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { Hono } from 'hono'
import { WebSocket } from 'ws'
import { operatorQueries } from '../../adapters/platform/socket/queries.ts'
import { type AgentSocket, createAgentSocket } from '../../adapters/platform/socket/socket.ts'
import { clientAddresses } from '../../adapters/web/client-address.ts'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { hostRules } from '../../adapters/web/hosts.ts'
import { type Listening, serve } from '../../adapters/web/serve.ts'
import { until } from '../doubles/until.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey, openSocket, refusalOf, type SocketClient } from './socket-client.ts'

/** Long enough for a busy machine to answer in: client and server share this process. */
const PING_MS = 1000
const AUTH_MS = 1000
const MAX_UNKNOWN = 3
const MAX_UNKNOWN_PER_NETWORK = 2

describe('the agent socket in a hurry', () => {
  let running: RunningPlatform
  let socket: AgentSocket
  let listening: Listening
  before(async () => {
    running = await startPlatform('sandbox', { withHttp: false })
    const { gateway } = running
    socket = createAgentSocket(gateway, {
      agent: gateway.agent,
      queries: operatorQueries({ ...gateway, config: () => gateway.loaded.config }),
      hosts: hostRules('127.0.0.1', [], []),
      count: () => {},
      pingMs: PING_MS,
      authMs: AUTH_MS,
      maxUnknown: MAX_UNKNOWN,
      maxUnknownPerNetwork: MAX_UNKNOWN_PER_NETWORK,
    })
    listening = await serve(new Hono<Frame>(), {
      host: '127.0.0.1',
      port: 0,
      flag: '--platform-port',
      headerTimeoutMs: 10_000,
      requestTimeoutMs: 10_000,
      keepAliveMs: 75_000,
      drainMs: () => 10_000,
      addresses: clientAddresses(['127.0.0.1']),
      log: gateway.log,
      onUpgrade: socket.upgrade,
    })
  })
  after(async () => {
    await Promise.all([listening.stop(), socket.stop()])
    await running.close()
  })

  it('closes with 4401 when no auth frame comes in time', async () => {
    const client = await openSocket(listening.url)
    assert.deepEqual(await client.closed, { code: 4401, reason: 'No auth frame came in time.' })
  })

  it('turns away one more client that does not say who it is, but none that does', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const unknown = await Promise.all(
      ['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((address) => openSocket(listening.url, from(address))),
    )
    const { status, body } = await refusalOf(listening.url, from('203.0.113.4'))
    assert.equal(status, 429)
    assert.equal(JSON.parse(body).error.code, 'rate_limited')
    const known = await connectWithKey(listening, running.key)
    for (const { closed } of unknown) assert.equal((await closed).code, 4401)
    const later = await openSocket(listening.url)
    assert.equal((await later.closed).code, 4401)
    known.ws.close()
    await known.closed
  })

  it('turns away one network that takes more than its share, and no other', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const network = ['2001:db8::1', '2001:db8::2']
    const unknown = await Promise.all(network.map((address) => openSocket(listening.url, from(address))))
    const { status, body } = await refusalOf(listening.url, from('2001:db8::3'))
    assert.equal(status, 429)
    assert.match(JSON.parse(body).error.message, /from your address/)
    const other = await openSocket(listening.url, from('203.0.113.7'))
    for (const { closed } of [...unknown, other]) assert.equal((await closed).code, 4401)
    const later = await openSocket(listening.url, from('2001:db8::3'))
    assert.equal((await later.closed).code, 4401)
  })

  it('keeps a client that answers pings, and cuts off one that does not', async () => {
    const alive = await connectWithKey(listening, running.key)
    const dead = new WebSocket(`${listening.url.replace('http', 'ws')}/agent`, {
      headers: { authorization: `Bearer ${running.key}` },
      autoPong: false,
    })
    const [code] = await once(dead, 'close')
    assert.equal(code, 1006)
    await Promise.race([once(alive.ws, 'ping'), unexpected(alive)])
    alive.send({ type: 'chat', content: 'Hello.' })
    assert.equal((await alive.next()).type, 'reply')
    alive.ws.close()
    await alive.closed
  })

  it('cuts off a client that has stopped to read', async () => {
    const client = await connectWithKey(listening, running.key)
    client.ws.pause()
    for (let i = 0; i < 100_000; i++) client.send(`{"type":"nonsense","id":"${'x'.repeat(100)}"}`)
    const id = String(client.ready.connection_id)
    const isListed = async () =>
      (await socket.connections.list({ limit: 1000 }, null)).items.some((one) => one.id === id)
    await until(async () => !(await isListed()))
    client.ws.terminate()
  })

  it('answers a burst of 10,000 frames without keeping them', async () => {
    const client = await connectWithKey(listening, running.key)
    const burst = 10_000
    let answered = 0
    const all = new Promise<void>((resolve) => {
      client.ws.on('message', () => {
        answered += 1
        if (answered === burst) resolve()
      })
    })
    const before = process.memoryUsage().external
    for (let i = 0; i < burst; i++) client.send({ type: 'nonsense' })
    await Promise.race([all, unexpected(client)])
    const grown = process.memoryUsage().external - before
    assert.ok(grown < 32 * 1024 * 1024, `${grown} bytes of buffers are kept`)
    client.ws.close()
    await client.closed
  })
})

/** @throws Error once the server closes a socket that it ought to keep */
async function unexpected({ closed }: SocketClient): Promise<never> {
  const { code, reason } = await closed
  throw new Error(`The server closed the socket: ${code} ${reason}`)
}
