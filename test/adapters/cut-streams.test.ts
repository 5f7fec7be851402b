import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { responseEvents } from '../../src/inference/convert/response-events.ts'
import { messageStream, named } from '../doubles/anthropic.ts'
import { until } from '../doubles/until.ts'
import { type Behaviour, chunks, response, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { ask } from '../matrix/clients.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

let upstream: UpstreamDouble
let claude: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  claude = await startUpstream()
  const document = {
    wallet: { wait_ms: 0, max_output_tokens: 500 },
    pricing: { models: { dear: { input: 3, output: 1000 } } },
    upstreams: { claude: { provider: claude.url, protocol: 'anthropic' } },
    routes: [
      { model: 'claude-first', to: ['claude', 'default'] },
      { model: 'chat-first', to: ['default', 'claude'] },
      { model: 'claude-or-dear', to: ['claude', 'default/dear'] },
    ],
  }
  running = await startPlatform(upstream.url, { document })
})
after(async () => {
  await running.close()
  await claude.close()
  await upstream.close()
})

const WORDS = Array.from({ length: 2000 }, (_, at) => ` word${at % 977}`)

it('a Response that a second candidate continues costs what was delivered where its budget ends, and says so', async () => {
  const begun = [...responseEvents(response('Hello'))].slice(0, 2)
  upstream.on('/responses', (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write(begun.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), () => reply.socket?.destroy())
  })
  upstream.on('/chat/completions', sse(chunks(WORDS, null)))
  const limits = { credit_limit_usd: 0.004 }
  const { key, record } = await running.gateway.keys.create({
    name: 'poor',
    scopes: ['inference'],
    billing: 'cost',
    limits,
  })
  const door = { url: running.gatewayUrl, key, headers: {} }
  const got = await ask('R', { input: 'Hello', model: 'default/m', stream: true }, door)
  assert.deepEqual([got.status, got.said?.text.length, got.faults], [200, undefined, []], got.reason)
  assert.match(got.reason, /was cut off: the budget or credit of this key is used up/)

  await running.gateway.calls.flush()
  const { items } = await running.gateway.calls.history({ caller_id: record.id, limit: 10 })
  assert.deepEqual(
    items.map(({ path, status }) => [path, status]),
    [
      ['/v1/chat/completions', 'error'],
      ['/v1/responses', 'error'],
    ],
  )
  const receipts = (await running.gateway.wallet.usage({ caller_id: record.id, limit: 10 })).items
  const paid = receipts.reduce((sum, { billing }) => sum + billing.total_usd, 0)
  // 3 micro-dollars a token, and a quarter more is reserved than its tokens cost.
  assert.ok(paid > 0.002 && paid <= 0.004, `${paid}`)
  assert.ok(receipts.every(({ usage }) => usage?.estimated))
})

/** First chunk of a chat, and a connection that then breaks. */
const begunChat: Behaviour = (reply) => {
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  reply.write(`data: ${JSON.stringify(chunks([], null)[0])}\n\n`, () => reply.socket?.destroy())
}
const begunMessage = named(messageStream([]).slice(0, 1), 'break')
const wordyChat = sse(chunks(WORDS, null))
const wordyMessage = named(messageStream(WORDS))

async function poorKey(name: string) {
  const terms = { scopes: ['inference' as const], billing: 'cost' as const, limits: { credit_limit_usd: 0.004 } }
  const { key, record } = await running.gateway.keys.create({ name, ...terms })
  return { id: record.id, door: { url: running.gatewayUrl, key, headers: {} } }
}
/** Receipts of a key, the latest first, and its account. */
async function accountOf(id: string) {
  const { calls, wallet } = running.gateway
  await calls.flush()
  const [{ items, totals }, balances] = [await wallet.usage({ caller_id: id, limit: 10 }), await wallet.balances(id)]
  return { items, account: [totals.total_usd, balances.available_usd, balances.held_usd] }
}
const messages = [{ role: 'user', content: 'Hello' }]

for (const [what, model, chat, message] of [
  ['chat completions', 'claude-first', wordyChat, begunMessage],
  ['an upstream of Messages', 'chat-first', begunChat, wordyMessage],
] as const)
  it(`a chat that ${what} continues is charged to the micro-dollar where its budget ends, and says so`, async () => {
    upstream.on('/chat/completions', chat)
    claude.on('/messages', message)
    const { id, door } = await poorKey(what)
    const got = await ask('C', { model, stream: true, messages }, door)
    assert.deepEqual([got.status, got.said?.text.length, got.faults], [200, undefined, []], got.reason)
    assert.match(got.reason, /was cut off: the budget or credit of this key is used up/)

    const { items, account } = await accountOf(id)
    const [answered, failed] = items
    assert.deepEqual([items.length, answered?.charged, failed?.charged], [2, true, false])
    const { usage, price, billing } = answered as (typeof items)[0]
    const micros =
      (usage?.prompt_tokens ?? 0) * (price?.input ?? 0) + (usage?.completion_tokens ?? 0) * (price?.output ?? 0)
    assert.equal(billing.total_usd, Math.ceil(micros) / 1e6)
    assert.ok(billing.total_usd > 0.002 && billing.total_usd <= 0.004, `${billing.total_usd}`)
    assert.deepEqual(account, [billing.total_usd, -billing.total_usd, 0])
  })

for (const [what, model, chat, message] of [
  ['chat completions', 'claude-first', wordyChat, begunMessage],
  ['an upstream of Messages', 'chat-first', begunChat, wordyMessage],
] as const)
  it(`a Message that ${what} continues begins once, and says where a budget ends it, which has what it cost`, async () => {
    upstream.on('/chat/completions', chat)
    claude.on('/messages', message)
    const { calls, keys } = running.gateway
    const limits = { budgets: [{ usd: 0.004, per: 'day' as const }] }
    const { key, record } = await keys.create({ name: what, scopes: ['inference'], billing: 'recorded', limits })
    const door = { url: running.gatewayUrl, key, headers: {} }
    // The longest answer is reserved; the provider does not keep to it.
    const got = await ask('M', { model, stream: true, max_tokens: 50, messages }, door)
    assert.deepEqual([got.status, got.said?.text.length, got.faults], [200, undefined, []], got.reason)
    assert.match(got.reason, /was cut off/)

    // A budget of the key is settled once the client has its end.
    const items = await until(async () => {
      await calls.flush()
      const { items } = await calls.history({ caller_id: record.id, limit: 10 })
      return items.length === 2 && items
    })
    assert.deepEqual(
      items.map(({ status }) => status),
      ['error', 'error'],
    )
    const [answered, failed] = items.map(({ upstream_cost_usd }) => Math.round((upstream_cost_usd ?? 0) * 1e6))
    const { spend } = (await keys.list({ limit: 100 })).items.find(({ id }) => id === record.id) ?? {}
    assert.equal(Math.round((spend?.month_usd ?? 0) * 1e6), (answered ?? 0) + (failed ?? 0))
    assert.ok((answered ?? 0) > 2000 && (answered ?? 0) <= 4000, `${answered}`)
  })

it('a Message is refused before its first byte where a budget does not reach for one of its candidates', async () => {
  upstream.on('/chat/completions', wordyChat)
  claude.on('/messages', begunMessage)
  const asked = [upstream.received.length, claude.received.length]
  const { id, door } = await poorKey('a Message')
  const body = { model: 'claude-or-dear', stream: true, max_tokens: 500, messages }
  const got = await ask('M', body, door)
  assert.deepEqual([got.status, got.said, got.faults], [402, null, []])
  assert.match(got.reason, /This may cost 0\.50/)
  assert.deepEqual([upstream.received.length, claude.received.length], asked)
  const { items, account } = await accountOf(id)
  assert.deepEqual([items, account], [[], [0, 0, 0]])
  const affordable = await ask('M', { ...body, model: 'claude-first' }, door)
  assert.deepEqual([affordable.status, affordable.faults], [200, []], affordable.reason)
  const [answered, failed] = (await accountOf(id)).items
  assert.deepEqual([answered?.charged, failed?.charged], [true, false])
  assert.ok((answered?.billing.total_usd ?? 1) <= 0.004)
})
