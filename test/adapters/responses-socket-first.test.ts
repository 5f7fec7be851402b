import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, describe, it, type TestContext } from 'node:test'
import { createResponsesSocket } from '../../adapters/http/responses-socket/responses-socket.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { openGateway } from './http-gateway.ts'

const { server, running } = await openGateway()
const calls = await running.gateway.upstream.openCalls()
after(() => calls.close())

const OPCODE = { text: 1, ping: 9, pong: 10 } as const
/** A frame of a client, under a mask that changes nothing. */
function frame(payload: string, { opcode = 'text' as keyof typeof OPCODE, fin = true, isMasked = true } = {}): Buffer {
  const bytes = Buffer.from(payload)
  const length = Buffer.alloc(bytes.length < 126 ? 1 : 9)
  if (bytes.length >= 126) length.writeBigUInt64BE(BigInt(bytes.length), 1)
  length[0] = (isMasked ? 0x80 : 0) | (bytes.length < 126 ? bytes.length : 127)
  return Buffer.concat([Buffer.of((fin ? 0x80 : 0) | OPCODE[opcode]), length, Buffer.alloc(isMasked ? 4 : 0), bytes])
}
const ASK = frame(JSON.stringify({ type: 'response.create', model: 'm', store: false, input: 'Hello' }))

/** An upgrade request, as bytes. */
const upgrade = (key: string) =>
  Buffer.from(
    `GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
  )

/** A client that is no WebSocket: bytes alone. */
async function open(t: TestContext, url = running.url) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => void socket.destroy())
  await once(socket, 'connect')
  const pieces: Buffer[] = []
  socket.on('data', (piece) => void pieces.push(piece))
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return { socket, closed, said: () => Buffer.concat(pieces).toString('latin1') }
}

/** A server of its own for the socket, and the connections that it got. */
async function ownServer(t: TestContext, { pingMs = 60_000, idleMs = 60_000 } = {}) {
  const { gateway } = running
  const hosts = { allowedHosts: new Set(['127.0.0.1']), allowedOrigins: new Set<string>(), anyHost: false }
  const socket = createResponsesSocket(gateway, {
    ...{ calls, keys: gateway.keys, hosts, pingMs, idleMs },
    count() {},
    refused() {},
  })
  const raws: Duplex[] = []
  const listening = createServer().on('upgrade', (incoming, raw, head) => {
    raws.push(raw)
    socket.upgrade(incoming, raw, head)
  })
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.after(() => {
    socket.stop()
    listening.close()
  })
  return { url: `http://127.0.0.1:${(listening.address() as { port: number }).port}`, socket, raws }
}

/** Writes until the other side takes no more, or has ended the connection. @returns whether it has */
async function flood(socket: Socket, bytes: Buffer, times: number): Promise<boolean> {
  for (let i = 0; i < times && !socket.destroyed; i++)
    if (!socket.write(bytes))
      await new Promise<void>((resolve) => void socket.once('drain', resolve).once('close', () => resolve()))
  return socket.destroyed
}

describe('a client of the WebSocket that speaks first', () => {
  const answers = () => server.on('/responses', double.sse([{ type: 'response.completed', response: { id: 'r' } }]))

  it('is answered: its request is in the packet of its upgrade, or right behind it', async (t) => {
    answers()
    const together = await open(t)
    together.socket.write(Buffer.concat([upgrade(running.key), ASK]))
    const behind = await open(t)
    behind.socket.setNoDelay()
    behind.socket.write(upgrade(running.key))
    behind.socket.write(ASK.subarray(0, 20))
    setImmediate(() => behind.socket.write(ASK.subarray(20)))
    for (const { said } of [together, behind]) {
      await until(() => said().includes('response.completed'))
      assert.match(said(), /^HTTP\/1\.1 101/)
    }
    assert.equal(server.received.length, 2)
  })

  it('gets the refusal of its upgrade, whatever it sends behind it', async (t) => {
    const { socket, closed, said } = await open(t)
    socket.write(Buffer.concat([upgrade('gzw_unknown'), ASK, Buffer.alloc(4 * 1024 ** 2)]))
    await closed
    assert.match(said(), /^HTTP\/1\.1 401[\s\S]*"code":"/)
    assert.equal(server.received.length, 0)
  })

  it('is disconnected where what it sends is no message: 1002', async (t) => {
    const unmasked = frame('{}', { isMasked: false })
    for (const bytes of [unmasked, Buffer.from('GET / HTTP/1.1\r\n\r\n')]) {
      const { socket, closed, said } = await open(t)
      socket.write(Buffer.concat([upgrade(running.key), bytes]))
      await closed
      const [, frames = ''] = said().split('\r\n\r\n')
      assert.deepEqual([...Buffer.from(frames, 'latin1')].slice(0, 4), [
        0x88,
        frames.length - 2,
        1002 >> 8,
        1002 & 0xff,
      ])
    }
    assert.equal(server.received.length, 0)
  })

  it('leaves nothing behind when it has left before its upgrade is answered', async (t) => {
    const { url, socket: served, raws } = await ownServer(t)
    const { socket } = await open(t, url)
    socket.write(Buffer.concat([upgrade(running.key), ASK]))
    await until(() => raws.length === 1)
    socket.destroy()
    await until(() => raws[0]?.destroyed)
    await until(() => served.open() === 0)
  })
})

describe('a client of the WebSocket that stalls', () => {
  it('is disconnected when it says nothing after its upgrade, not even to a ping', async (t) => {
    const { url, socket: served } = await ownServer(t, { pingMs: 20 })
    const { socket, closed } = await open(t, url)
    socket.write(upgrade(running.key))
    await closed
    await until(() => served.open() === 0)
  })

  it('is disconnected within a message that does not end, also when it answers pings', async (t) => {
    const { url, socket: served } = await ownServer(t, { idleMs: 100 })
    const { socket, closed } = await open(t, url)
    socket.write(Buffer.concat([upgrade(running.key), frame('{"type":', { fin: false })]))
    const beats = setInterval(() => socket.write(frame('', { opcode: 'pong' })), 10)
    t.after(() => clearInterval(beats))
    await closed
    await until(() => served.open() === 0)
  })
})

describe('a client of the WebSocket that floods it', () => {
  it('with pings and acknowledgements, and reads nothing, is left before its pongs fill the memory', async (t) => {
    const { url, raws } = await ownServer(t)
    const { socket, said } = await open(t, url)
    socket.write(upgrade(running.key))
    await until(() => said().includes('101'))
    socket.pause()
    const acknowledged = frame(JSON.stringify({ type: 'response.processed' }))
    const pings = Buffer.concat(Array.from({ length: 500 }, () => frame('x'.repeat(125), { opcode: 'ping' })))
    assert.ok(await flood(socket, Buffer.concat([pings, acknowledged]), 1000), `${raws[0]?.writableLength} bytes wait`)
  })
})
