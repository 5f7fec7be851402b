import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { until } from '../doubles/until.ts'
import { type Behaviour, chunks, completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

/** US dollars per million tokens: a token costs a micro-dollar, or ten. */
const PRICES = { input: 1, output: 10 }
const MONTH = new Date().toISOString().slice(0, 7)

let server: UpstreamDouble
let second: UpstreamDouble
let running: RunningPlatform
before(async () => {
  server = await startUpstream()
  second = await startUpstream()
  const at = (url: string) => ({ provider: 'openai', base_url: url, api_keys: ['upstream-secret-key'] })
  running = await startPlatform(server.url, {
    document: {
      pricing: { models: { any: PRICES, 'stops-any': PRICES, either: PRICES } },
      wallet: { receipts: 'all', read_on_ms: 50, wait_ms: 500 },
      upstreams: { stops: { ...at(server.url), models: ['stops-*'] }, second: at(second.url) },
      routes: [{ model: 'either', to: ['default/any', 'second/any'] }],
    },
  })
})
after(async () => {
  await running.close()
  await server.close()
  await second.close()
})

/** Micro-dollars that the provider has billed. */
let billed = 0

/** Bills an answer that ends with an error. */
const breaksOff: Behaviour = (reply, request) => {
  const usage = { prompt_tokens: 40, completion_tokens: 90, total_tokens: 130 }
  billed += 940
  json(200, { error: { message: 'The worker died.', code: 502 }, usage })(reply, request)
}

async function newKey(input: Partial<z.input<typeof NewKey>>) {
  const { key, record } = await running.gateway.keys.create({ name: 'thief', scopes: ['inference'], ...input })
  return { key, id: record.id }
}

const chat = (key: string, body: object = {}, signal?: AbortSignal) =>
  fetch(`${running.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100, ...body }),
    ...(signal && { signal }),
  })

const micros = (usd: number | undefined) => Math.round((usd ?? 0) * 1e6)

/** Amounts of a key or group in budgets and on its statement, in micro-dollars. */
async function amountsOf(of: { caller_id: string } | { group: string }) {
  await running.gateway.calls.flush()
  const { totals } = await running.gateway.wallet.periodStatement(MONTH, of)
  const listed = 'group' in of ? running.gateway.groups : running.gateway.keys
  const { items } = await listed.list({ limit: 1000 })
  const { spend } = items.find(({ id }) => Object.values(of).includes(id)) ?? assert.fail()
  return {
    counted: micros(spend.month_usd),
    charged: micros(0 - totals.upstream_cost_usd),
    recorded: micros(totals.recorded_usd),
    absorbed: micros(totals.absorbed_usd),
  }
}

describe('an answer that nobody gets', () => {
  it('counts in the budgets of a charged key and its group, which end it, and is borne on the statement', async () => {
    billed = 0
    const group = await running.gateway.groups.create({ name: 'team', budgets: [{ usd: 1, per: 'month' }] })
    const { key, id } = await newKey({
      billing: 'cost',
      group: group.id,
      limits: { credit_limit_usd: 1, budgets: [{ usd: 0.01, per: 'day' }] },
    })
    server.on('/chat/completions', breaksOff)
    let reply = await chat(key)
    for (let calls = 1; reply.status !== 402; calls++) {
      assert.ok(calls < 20 && reply.status === 502, `${calls} ${reply.status}`)
      reply = await chat(key, { stream: calls % 2 === 0 })
    }
    assert.ok(billed > 0.8 * 10_000 && billed <= 10_000, `${billed}`)
    const borne = { counted: billed, charged: 0, recorded: 0, absorbed: billed }
    assert.deepEqual(await amountsOf({ caller_id: id }), borne)
    assert.deepEqual(await amountsOf({ group: group.id }), borne)
    assert.equal((await running.gateway.wallet.balances(id)).available_usd, 0)
    const { items } = await running.gateway.wallet.usage({ caller_id: id, limit: 1 })
    assert.deepEqual([items[0]?.charged, items[0]?.billing.total_usd], [false, 0])
    assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
  })

  it('of the first candidate is not paid by the customer whom the second answers', async () => {
    billed = 0
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    server.on('/chat/completions', breaksOff)
    second.on(
      '/chat/completions',
      json(200, completion('Hi', { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 })),
    )
    assert.equal((await chat(key, { model: 'either' })).status, 200)
    assert.equal(billed, 940)
    assert.deepEqual(await amountsOf({ caller_id: id }), { counted: 970, charged: 30, recorded: 0, absorbed: 940 })
  })

  it('is on the statement of a recorded key where all calls have receipts', async () => {
    billed = 0
    const { key, id } = await newKey({ billing: 'recorded', limits: { budgets: [{ usd: 1, per: 'day' }] } })
    server.on('/chat/completions', breaksOff)
    for (let call = 0; call < 2; call++) assert.equal((await chat(key)).status, 502)
    assert.deepEqual(await amountsOf({ caller_id: id }), { counted: 1880, charged: 0, recorded: 1880, absorbed: 0 })
  })

  it('that its client left for hidden reasoning ends the budget, time after time', async () => {
    const { key, id } = await newKey({
      billing: 'cost',
      limits: { credit_limit_usd: 1, budgets: [{ usd: 0.003, per: 'day' }] },
    })
    const [role] = chunks(['Hello'], null)
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(role)}\n\n`)
    })
    let [left, status] = [0, 200]
    while (status === 200 && left < 40) {
      const client = new AbortController()
      const reply = await chat(key, { model: 'stops-any', stream: true, max_tokens: 200 }, client.signal)
      status = reply.status
      client.abort()
      if (status !== 200) break
      left += 1
      const made = left
      await until(
        async () => (await running.gateway.calls.history({ limit: 100, caller_id: id })).items.length === made,
      )
    }
    assert.equal(status, 402)
    const { counted, charged, absorbed } = await amountsOf({ caller_id: id })
    assert.deepEqual([charged + absorbed, charged], [counted, 0])
    assert.ok(counted <= 3000, `${counted} of 3000 after ${left}`)
  })
})

it('takes no count of its own for proof that a model has ignored a limit', async () => {
  const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
  const said = 'Incomprehensibilities, nevertheless. '.repeat(2)
  server.on('/chat/completions', json(200, completion(said, null)))
  assert.equal((await chat(key, { max_tokens: 20 })).status, 200)
  const { items } = await running.gateway.wallet.usage({ caller_id: id, limit: 1 })
  assert.ok((items[0]?.usage.completion_tokens ?? 0) > 20)
  assert.deepEqual([items[0]?.usage.estimated, items[0]?.capped, items[0]?.absorbed_usd], [true, false, 0])
})

it('never has a customer pay output beyond the limit it sent, even where more is reserved for the prompt', async () => {
  const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
  const content = 'word '.repeat(2000)
  const usage = { prompt_tokens: 2000, completion_tokens: 400, total_tokens: 2400 }
  server.on('/chat/completions', json(200, completion('Long', usage)))
  assert.equal((await chat(key, { messages: [{ role: 'user', content }] })).status, 200)
  assert.deepEqual(await amountsOf({ caller_id: id }), { counted: 6000, charged: 3000, recorded: 0, absorbed: 3000 })
  const { items } = await running.gateway.wallet.usage({ caller_id: id, limit: 1 })
  assert.deepEqual([items[0]?.capped, items[0]?.absorbed_usd], [true, 0.003])
  assert.deepEqual((await running.gateway.wallet.verify()).faults, [])
})
