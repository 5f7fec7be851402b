import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const MIB = 1024 ** 2
const CHAT = '/v1/chat/completions'
const ask = (bytes: number) => JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(bytes) }] })

describe('the memory of request bodies', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await double.startUpstream()
    const http = { max_model_body_bytes: 3 * MIB, max_buffered_bytes: 8 * MIB, request_timeout_ms: 2000 }
    running = await startGateway(upstream.url, {}, { http })
  })
  beforeEach(() => upstream.on('/chat/completions', double.json(200, double.completion('Hi.'))))
  after(async () => {
    await running.close()
    await upstream.close()
  })

  /** Begins a request whose body is sent by its test. */
  function begin(headers: Record<string, string> = {}): { sent: ClientRequest; reply: Promise<IncomingMessage> } {
    const all = { authorization: `Bearer ${running.key}`, 'content-type': 'application/json', ...headers }
    const sent = request(running.url + CHAT, { method: 'POST', headers: all, agent: false })
    sent.on('socket', (socket) => socket.on('error', () => {}))
    const reply = once(sent, 'response').then(([response]) => (response as IncomingMessage).resume())
    // A test that aborts its request waits for no reply.
    reply.catch(() => {})
    return { sent, reply }
  }
  async function statusOf(body: string, headers: Record<string, string> = {}): Promise<number> {
    const { sent, reply } = begin(headers)
    sent.end(body)
    return (await reply).statusCode ?? 0
  }
  /** Tells whether no body is held. */
  const isFree = async () => {
    try {
      running.gateway.buffered.requireRoom({ request: {}, callerId: 'another' }, 4 * MIB)
      return true
    } catch {
      return false
    }
  }

  it('is taken as they arrive, in pieces of unknown length too, and given back when their client leaves', async () => {
    assert.ok(await isFree())
    const { sent } = begin({ 'transfer-encoding': 'chunked' })
    sent.on('error', () => {})
    sent.write(ask(2 * MIB).slice(0, 2 * MIB))
    await until(async () => !(await isFree()))
    sent.destroy()
    await until(isFree)
  })

  it('is given back when a client is too slow, or sends too much', async () => {
    const slow = begin({ 'content-length': String(3 * MIB) })
    slow.sent.on('error', () => {})
    slow.sent.write('x'.repeat(2 * MIB))
    await until(async () => !(await isFree()))
    assert.equal((await slow.reply).statusCode, 408)
    await until(isFree)
    const large = begin({ 'transfer-encoding': 'chunked' })
    large.sent.on('error', () => {})
    large.sent.end(ask(4 * MIB))
    assert.equal((await large.reply).statusCode, 413)
    await until(isFree)
  })

  it('is held while a call lasts: a key is refused at half of it, and its small requests and other keys are served', async () => {
    const waiting: (() => void)[] = []
    upstream.on(
      '/chat/completions',
      async (response, entry) => {
        await new Promise<void>((resolve) => waiting.push(resolve))
        return double.json(200, double.completion('Hi.'))(response, entry)
      },
      double.json(200, double.completion('Hi.')),
    )
    const first = statusOf(ask(2.5 * MIB))
    await until(async () => waiting.length === 1)
    const { sent, reply } = begin()
    sent.end(ask(2 * MIB))
    const refused = await reply
    assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '2'])
    assert.equal(await statusOf(ask(2 * MIB), { 'transfer-encoding': 'chunked' }), 503)
    assert.equal(await statusOf(ask(2000)), 200, 'a small request of the same key')
    const other = await running.gateway.keys.create({ name: 'other', scopes: ['inference'] })
    assert.equal(await statusOf(ask(2 * MIB), { authorization: `Bearer ${other.key}` }), 200, 'another key')
    waiting[0]?.()
    assert.equal(await first, 200)
    await until(isFree)
    assert.equal(await statusOf(ask(2 * MIB)), 200)
  })

  it('includes what their JSON takes once it is parsed', async () => {
    const body = `{"messages":[{"role":"user","content":"Hi."}],"metadata":[${'{},'.repeat(100_000)}{}]}`
    assert.equal(await statusOf(body), 413)
    await until(isFree)
  })
})
