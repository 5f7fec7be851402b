import assert from 'node:assert/strict'
import { request as send } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

type Line = Record<string, unknown>

describe('the log of requests', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  let inference: { key: string; id: string }
  before(async () => {
    upstream = await double.startUpstream()
    running = await startPlatform(upstream.url, { document: { upstream: { max_retries: 0 } } })
    const { key, record } = await running.gateway.keys.create({ name: 'assistant', scopes: ['inference'] })
    inference = { key, id: record.id }
  })
  beforeEach(() => {
    running.gateway.log.setLevel('debug')
    running.logged.length = 0
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  const lines = (path: string): Line[] =>
    running.logged
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg === 'Request' && line.path === path)
  async function lineOf(path: string): Promise<Line> {
    await until(async () => lines(path).length > 0)
    const [{ time, pid, msg, ms, ...line }, ...more] = lines(path) as [Line, ...Line[]]
    assert.ok(Number.isInteger(ms) && more.length === 0)
    return line
  }
  const onGateway = (path: string, body: unknown, key = inference.key) =>
    fetch(running.gatewayUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': 'asked' },
      body: JSON.stringify(body),
    })

  it('has each of them at debug, with its key and without its query', async () => {
    await ask(running, 'GET', '/api/memory?namespace=private', { headers: { 'x-request-id': 'mine' } })
    assert.deepEqual(await lineOf('/api/memory'), {
      level: 'debug',
      method: 'GET',
      path: '/api/memory',
      status: 200,
      address: '127.0.0.1',
      key_id: running.keyId,
      request_id: 'mine',
    })
    assert.doesNotMatch(running.logged.join(''), /private/)
  })

  it('includes requests on the fast path to a model', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    await (await onGateway('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello?' }] })).text()
    assert.deepEqual(await lineOf('/v1/chat/completions'), {
      level: 'debug',
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      address: '127.0.0.1',
      key_id: inference.id,
      request_id: 'asked',
    })
  })

  it('has failed ones alone at info', async () => {
    running.gateway.log.setLevel('info')
    await ask(running, 'GET', '/api/memory')
    await ask(running, 'GET', '/api/nowhere')
    assert.equal((await lineOf('/api/nowhere')).level, 'info')
    await ask(running, 'GET', '/api/skills', { key: 'gzk_wrong' })
    const refused = await lineOf('/api/skills')
    assert.deepEqual([refused.status, refused.key_id], [401, null])
    upstream.on('/chat/completions', double.fails(500))
    await onGateway('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello?' }] })
    const { status, key_id } = await lineOf('/v1/chat/completions')
    assert.deepEqual([status, key_id], [500, inference.id])
    assert.deepEqual(lines('/api/memory'), [])
    assert.doesNotMatch(running.logged.join(''), /gzk_wrong/)
  })

  it('has the status of an error that took the short way, too', async () => {
    upstream.on('/chat/completions', double.drops)
    const reply = await onGateway('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello?' }] })
    assert.equal(reply.status, 502)
    assert.equal((await lineOf('/v1/chat/completions')).status, 502)
  })

  it('has one whose client left before its reply', async () => {
    upstream.on('/chat/completions', double.hangs)
    const left = send(`${running.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${inference.key}`, 'content-type': 'application/json' },
    })
    left.on('error', () => {})
    left.end(JSON.stringify({ messages: [{ role: 'user', content: 'Hello?' }] }))
    const before = upstream.received.length
    await until(async () => upstream.received.length > before)
    left.destroy()
    assert.equal((await lineOf('/v1/chat/completions')).status, 499)
  })
})
