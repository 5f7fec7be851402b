import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-rates-'))
let upstream: UpstreamDouble
let gateways: [RunningGateway, RunningGateway]
before(async () => {
  upstream = await startUpstream()
  const document = { store: { url: `sqlite:${join(folder, 'store.db')}` }, pricing: { unknown: 'flat' } }
  gateways = [await startGateway(upstream.url, {}, document), await startGateway(upstream.url, {}, document)]
})
after(async () => {
  for (const gateway of gateways) await gateway.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

async function newKey(terms: object) {
  const { key, record } = await gateways[0].gateway.keys.create({
    name: 'caller',
    scopes: ['inference'],
    billing: 'recorded',
    ...terms,
  })
  return { key, id: record.id }
}
const chat = (at: 0 | 1, key: string, body: object = {}, signal: AbortSignal | null = null) =>
  fetch(`${gateways[at].url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }], ...body }),
    signal,
  })
const asked = () => upstream.received.length

/** Has the upstream hold its answers until the returned function is called. */
function held(): () => void {
  let answer = () => {}
  const all = new Promise<void>((resolve) => {
    answer = resolve
  })
  upstream.on('/chat/completions', async (reply, request) => {
    await all
    await json(200, completion('Hello back'))(reply, request)
  })
  return answer
}

describe('the rates of a key on two gateways that share a store', () => {
  it('hold together, and replies say what is left of them', async () => {
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    const { key } = await newKey({ limits: { requests_per_minute: 2, tokens_per_minute: 1000 } })
    const left = async (at: 0 | 1) => {
      const reply = await chat(at, key, { max_tokens: 100 })
      await reply.arrayBuffer()
      const { headers } = reply
      return [reply.status, headers.get('x-ratelimit-remaining-requests'), headers.get('x-ratelimit-limit-tokens')]
    }
    assert.deepEqual(await left(0), [200, '1', '1000'])
    assert.deepEqual(await left(1), [200, '0', '1000'])
    const refused = await until(
      async () => {
        const reply = await chat(0, key)
        assert.equal(reply.status, 429)
        return Number(reply.headers.get('x-ratelimit-remaining-tokens')) > 900 ? reply : null
      },
      { what: 'the tokens that the calls did not use' },
    )
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(seconds >= 58 && seconds <= 61, `${seconds}`)
    assert.match(refused.headers.get('x-ratelimit-reset-requests') ?? '', /^(?:59|6[01])s$/)
  })

  it('let no more tokens through at once than the limit, also of calls without a limit of their own', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 100, total_tokens: 101 }
    upstream.on('/chat/completions', json(200, { ...completion('Hello back'), usage }))
    const { key } = await newKey({ limits: { tokens_per_minute: 1000 } })
    const before = asked()
    for (let i = 0; i < 5; i++) {
      const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => chat(n % 2 === 0 ? 0 : 1, key)))
      await Promise.all(replies.map((reply) => reply.arrayBuffer()))
    }
    const tokens = (asked() - before) * 101
    assert.ok(tokens <= 1010 && tokens >= 800, `${tokens} tokens`)
  })

  it('take nothing for a call that is refused for money', async () => {
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    const budgets = [{ usd: 0.000001, per: 'day' as const }]
    const { key, id } = await newKey({ limits: { requests_per_minute: 1, budgets } })
    for (const at of [0, 1, 0] as const) assert.equal((await chat(at, key)).status, 402)
    await gateways[0].gateway.keys.change(id, { limits: { budgets: [{ usd: 1, per: 'day' }] } })
    assert.deepEqual([(await chat(0, key)).status, (await chat(0, key)).status], [200, 429])
  })

  it('keep a place until the answer has been read, though the client has left', async () => {
    const { key } = await newKey({ limits: { concurrent: 1, budgets: [{ usd: 1, per: 'day' }] } })
    const before = asked()
    const answer = held()
    const client = new AbortController()
    const left = chat(0, key, {}, client.signal)
    left.catch(() => undefined)
    await until(() => asked() - before === 1)
    client.abort()
    await assert.rejects(left)
    assert.equal((await chat(1, key)).status, 429)
    answer()
    await until(async () => (await chat(1, key)).status === 200)
    assert.ok(asked() - before >= 2)
  })
})
