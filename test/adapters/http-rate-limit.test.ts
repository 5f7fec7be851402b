import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countPerMinute } from '../../adapters/web/rate-limit.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, openGateway, QUESTION } from './http-gateway.ts'

const { server } = await openGateway()

describe('the limit of requests', () => {
  it('counts each client for a minute from its first request', () => {
    let time = 0
    const count = countPerMinute(2, () => time)
    assert.deepEqual(count('ann'), { left: 1, seconds: 60 })
    time = 59_000
    assert.deepEqual(count('ann'), { left: 0, seconds: 1 })
    assert.deepEqual(count('ann'), { left: -1, seconds: 1 })
    assert.deepEqual(count('bob'), { left: 1, seconds: 60 })
    time = 60_000
    assert.deepEqual(count('ann'), { left: 1, seconds: 60 })
    assert.deepEqual(count('bob'), { left: 0, seconds: 59 })
    time = 90_789.6399 // (time + 60_000) - time is more than 60,000.
    assert.deepEqual(count('carol'), { left: 1, seconds: 60 })
  })

  it('limits the requests of a key when a limit is set', async (t) => {
    const limited = await startGateway(server.url, {}, { http: { rate_limit: { requests_per_minute: 3 } } })
    t.after(() => limited.close())
    const get = () => fetch(`${limited.url}/memory/recent`, { headers: { authorization: `Bearer ${limited.key}` } })
    const statuses = [(await get()).status, (await get()).status, (await get()).status]
    assert.deepEqual(statuses, [200, 200, 200])
    const reply = await get()
    assert.equal(reply.status, 429)
    assert.ok(Number(reply.headers.get('retry-after')) > 0)
  })

  it('sends the remaining limit with every reply, refusals included', async (t) => {
    const limited = await startGateway(server.url, {}, { http: { rate_limit: { requests_per_minute: 5 } } })
    t.after(() => limited.close())
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    server.on('/responses', double.json(200, double.response('Hello.')))
    const headers = { authorization: `Bearer ${limited.key}`, 'content-type': 'application/json' }
    const get = () => fetch(`${limited.url}/memory/recent`, { headers })
    const call = (path: string, body: unknown) =>
      fetch(limited.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const chat = '/v1/chat/completions'
    const replies = [
      await get(),
      await call(chat, ASK),
      await call(chat, { ...ASK, stream: true }),
      await call('/v1/responses', QUESTION),
      await call(chat, 'no object'),
      await call(chat, ASK),
      await get(),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200, 422, 429, 429],
    )
    for (const [index, reply] of replies.entries()) {
      await reply.text()
      const [limit, remaining, policy] = ['limit', 'remaining', 'policy'].map((name) =>
        reply.headers.get(`ratelimit-${name}`),
      )
      assert.deepEqual([limit, remaining, policy], ['5', String(Math.max(0, 4 - index)), '5;w=60'])
      const reset = Number(reply.headers.get('ratelimit-reset'))
      assert.ok(reset > 0 && reset <= 60, String(reset))
    }
  })
})
