import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const CHAT = '/chat/completions'
const BUDGET: Partial<z.input<typeof NewKey>> = { limits: { budgets: [{ usd: 1, per: 'day' }] } }

describe('a model without a price', () => {
  let upstream: UpstreamDouble
  let other: UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await startUpstream()
    other = await startUpstream()
    running = await startGateway(
      upstream.url,
      {},
      {
        pricing: { unknown: null, models: { priced: { input: 2, output: 10 } } },
        upstreams: {
          other: { provider: other.url },
          dear: { provider: other.url, unknown_price: 'dearest' },
          own: { provider: other.url, unknown_price: 'free' },
          closed: { provider: other.url, unknown_price: 'refuse' },
        },
        routes: [{ model: 'routed', to: ['default/priced', 'other/unpriced'] }],
      },
    )
  })
  beforeEach(() => {
    for (const one of [upstream, other]) {
      one.received.length = 0
      one.on(CHAT, json(200, completion('Hello.', { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 })))
      for (const path of ['/embeddings', '/moderations']) one.on(path, json(200, { usage: { prompt_tokens: 1000 } }))
    }
  })
  after(async () => {
    await running.close()
    await upstream.close()
    await other.close()
  })

  async function ask(key: Partial<z.input<typeof NewKey>>, model: string | undefined, path = CHAT) {
    const { gateway, url } = running
    const { key: secret, record } = await gateway.keys.create({ name: 'caller', scopes: ['inference'], ...key })
    const input =
      path === CHAT ? { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 } : { input: 'Hello' }
    const reply = await fetch(`${url}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model, ...input }),
    })
    const { error } = (await reply.json()) as { error?: { code: string; message: string } }
    await gateway.calls.flush()
    const { items } = await gateway.calls.history({ caller_id: record.id, limit: 1, offset: 0 })
    return { status: reply.status, code: error?.code, message: error?.message, record: items[0] }
  }
  const asked = () => [...upstream.received, ...other.received].filter(({ method }) => method === 'POST').length

  it('is refused to keys with a budget or a charge before anything is sent, and the refusal is recorded', async () => {
    const { gateway } = running
    const group = await gateway.groups.create({ name: 'team', budgets: [{ usd: 1, per: 'month' }] })
    for (const key of [BUDGET, { group: group.id }, { billing: 'cost' }, { billing: 'metered' }] as const) {
      const { status, code, message, record } = await ask(key, 'invented')
      assert.deepEqual([status, code, record?.status], [403, 'model_not_priced', 'refused'])
      assert.match(message ?? '', /"invented".*pricing\.models.*pricing\.unknown/)
    }
    assert.equal(asked(), 0)
  })

  it('is refused on every way to it: a route, a name of an upstream, other endpoints, no name at all', async () => {
    for (const [model, path] of [
      ['routed', CHAT],
      ['other/unpriced', CHAT],
      ['invented', '/embeddings'],
      [undefined, '/moderations'],
    ] as const)
      assert.deepEqual([(await ask(BUDGET, model, path)).code, asked()], ['model_not_priced', 0], `${model} at ${path}`)
  })

  it('has the flat price for keys without limits, and its records say so', async () => {
    const { status, record } = await ask({}, 'invented')
    assert.deepEqual([status, record?.upstream_cost_usd, record?.price_from], [200, 0.0033, 'flat'])
    const { record: priced } = await ask(BUDGET, 'priced')
    assert.deepEqual([priced?.upstream_cost_usd, priced?.price_from], [0.003, 'configuration'])
  })

  it('costs what its upstream says: the dearest known price, nothing, or it is refused to all', async () => {
    const dear = await ask(BUDGET, 'dear/unpriced')
    assert.deepEqual([dear.status, dear.record?.price_from], [200, 'dearest'])
    assert.ok((dear.record?.upstream_cost_usd ?? 0) > 0.0033, 'more than the flat price')
    const own = await ask(BUDGET, 'own/unpriced')
    assert.deepEqual([own.status, own.record?.upstream_cost_usd, own.record?.price_from], [200, 0, 'free'])
    assert.deepEqual((await ask({}, 'closed/unpriced')).code, 'model_not_priced')
  })

  it('is marked in the list of models', async () => {
    upstream.on('/models', json(200, { object: 'list', data: [{ id: 'priced' }, { id: 'invented' }] }))
    const reply = await fetch(`${running.url}/v1/models`, { headers: { authorization: `Bearer ${running.key}` } })
    const { data } = (await reply.json()) as { data: Array<{ id: string; priced?: boolean }> }
    const marked = (id: string) => data.find((model) => model.id === id)?.priced
    assert.deepEqual([marked('priced'), marked('invented'), marked('routed')], [undefined, false, false])
    assert.equal(marked('llm-4-1-fast-reasoning'), undefined, 'which has the flat price by specification')
  })
})

it('calls to the sandbox are free for keys with a budget', async (t) => {
  const running = await startGateway('sandbox', {}, { pricing: { unknown: null }, upstream: { unknown_price: null } })
  t.after(running.close)
  const { key, record } = await running.gateway.keys.create({ name: 'caller', scopes: ['inference'], ...BUDGET })
  const reply = await fetch(`${running.url}/v1${CHAT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'llm-3-fast', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  assert.equal(reply.status, 200)
  await reply.text()
  await running.gateway.calls.flush()
  const { items } = await running.gateway.calls.history({ caller_id: record.id, limit: 1, offset: 0 })
  assert.deepEqual([items[0]?.upstream_cost_usd, items[0]?.price_from], [0, 'free'])
})
