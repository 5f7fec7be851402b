import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import { chunks, completion, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1000 }
/** Reservation of a call at 3 micro-dollars a token with its prompt counted: 2 tokens and a quarter, 256 around them. */
const RESERVED_USD = (1000 + 256 + 10) * 3e-6

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  running = await startPlatform(upstream.url, { document: { wallet: { wait_ms: 1500 } } })
})
beforeEach(() => upstream.on('/chat/completions', json(200, completion('Hello back'))))
after(async () => {
  await running.close()
  await upstream.close()
})

/** A key whose budget reaches for one call at a time, and what it spends. */
async function newKey(limits: { usd: number; group?: string }) {
  const { usd, group } = limits
  const { key, record } = await running.gateway.keys.create({
    name: 'caller',
    scopes: ['inference'],
    billing: 'recorded',
    ...(group === undefined ? { limits: { budgets: [{ usd, per: 'day' }] } } : { group }),
  })
  return { key, id: record.id }
}
const chat = (key: string, body: object = {}, signal: AbortSignal | null = null) =>
  fetch(`${running.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...CHAT, ...body }),
    signal,
  })
const asked = () => upstream.received.filter(({ path }) => path.endsWith('/chat/completions')).length
const round = (usd: number) => Math.ceil(usd * 1e6) / 1e6

/** Has the upstream hold its answers until the returned function is called. */
function held(): () => void {
  let answer = () => {}
  const all = new Promise<void>((resolve) => {
    answer = resolve
  })
  upstream.on('/chat/completions', async (reply, request) => {
    await all
    const { stream } = request.body as { stream?: boolean }
    await (stream ? sse(chunks(['Hello'])) : json(200, completion('Hello back')))(reply, request)
  })
  return answer
}

describe('a call that its budget reaches for, but for what calls in flight hold', () => {
  it('waits for them, streamed or not, and is answered', async () => {
    const { key } = await newKey({ usd: round(RESERVED_USD * 1.5) })
    const before = asked()
    const answer = held()
    const replies = Array.from({ length: 6 }, (_, i) => chat(key, { stream: i % 2 === 0 }))
    await until(async () => asked() - before === 1)
    answer()
    for (const reply of replies) {
      assert.equal((await reply).status, 200)
      await (await reply).text()
    }
  })

  it('waits for those of another key of its group', async () => {
    const budgets = [{ usd: round(RESERVED_USD * 1.5), per: 'day' as const }]
    const group = await running.gateway.groups.create({ name: 'waiting', budgets })
    const [one, other] = [await newKey({ usd: 0, group: group.id }), await newKey({ usd: 0, group: group.id })]
    const before = asked()
    const answer = held()
    const first = chat(one.key)
    await until(async () => asked() - before === 1)
    const second = chat(other.key)
    answer()
    assert.deepEqual([(await first).status, (await second).status], [200, 200])
  })

  it('is refused with the reason once it has waited for `wallet.wait_ms`', async () => {
    const { key } = await newKey({ usd: round(RESERVED_USD * 1.5) })
    const before = asked()
    const answer = held()
    const first = chat(key)
    await until(async () => asked() - before === 1)
    const began = performance.now()
    const second = await chat(key)
    const { error } = (await second.json()) as { error: { code: string; message: string } }
    assert.deepEqual([second.status, error.code], [402, 'budget_reached'])
    assert.match(error.message, /may cost 0\.0038\d* USD, and 0\.0016\d* USD is left .* Calls in flight hold the rest/)
    const waitedMs = performance.now() - began
    assert.ok(waitedMs > 900, `${waitedMs} ms`)
    answer()
    await first
  })

  it('is not made once its client has left', async () => {
    const { key } = await newKey({ usd: round(RESERVED_USD * 1.5) })
    const before = asked()
    const answer = held()
    const first = chat(key)
    await until(async () => asked() - before === 1)
    const client = new AbortController()
    const second = chat(key, {}, client.signal)
    second.catch(() => undefined)
    const refusals = () => running.gateway.calls.history({ status: 'refused', limit: 100 })
    const known = (await refusals()).items.length
    client.abort()
    await until(async () => (await refusals()).items.length > known)
    answer()
    assert.equal((await first).status, 200)
    assert.equal(asked() - before, 1)
  })
})

it('is refused at once where calls in flight can free nothing for it', async () => {
  const { key } = await newKey({ usd: round(RESERVED_USD / 2) })
  const other = await newKey({ usd: round(RESERVED_USD * 1.5) })
  const before = asked()
  const answer = held()
  const first = chat(other.key)
  await until(async () => asked() - before === 1)
  const refused: string[] = []
  const ask = async (name: string, of: string) => {
    assert.equal((await chat(of)).status, 402)
    refused.push(name)
  }
  await Promise.all([ask('the one that waits', other.key), ask('the one that cannot', key)])
  assert.deepEqual(refused, ['the one that cannot', 'the one that waits'])
  answer()
  await first
})
