import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { completion, json, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

let server: UpstreamDouble
let running: RunningPlatform
before(async () => {
  server = await startUpstream()
  running = await startPlatform(server.url, {
    // A token costs a micro-dollar, or ten.
    document: { pricing: { models: { any: { input: 1, output: 10 } } }, wallet: { search_tokens: 1000 } },
  })
})
after(async () => {
  await running.close()
  await server.close()
})

async function newKey(input: Partial<z.input<typeof NewKey>>) {
  const { key, record } = await running.gateway.keys.create({ name: 'thief', scopes: ['inference'], ...input })
  return { key, id: record.id }
}
const post = (key: string, path: string, body: object) =>
  fetch(running.gatewayUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'any', ...body }),
  })
const chat = (key: string) =>
  post(key, '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 })
/** Continues a stored response, whose length the request does not tell. */
const goOn = (key: string) =>
  post(key, '/v1/responses', { input: 'Go on.', previous_response_id: 'resp_0', max_output_tokens: 100 })
const chatUses = (prompt_tokens: number, completion_tokens: number) =>
  server.on(
    '/chat/completions',
    json(200, completion('Hi', { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens })),
  )
const responseUses = (input_tokens: number, output_tokens: number) => {
  const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
  server.on('/responses', json(200, { ...response('Hi'), usage }))
}
async function spent(id: string): Promise<number> {
  await running.gateway.calls.flush()
  const { items } = await running.gateway.keys.list({ limit: 1000 })
  return Math.round((items.find((key) => key.id === id)?.spend.month_usd ?? 0) * 1e6)
}
const balance = async (id: string) => Math.round((await running.gateway.wallet.balances(id)).available_usd * 1e6)
const receipt = async (id: string) => (await running.gateway.wallet.usage({ caller_id: id, limit: 1 })).items[0]

describe('usage beyond the reservation', () => {
  it('counts in budgets to the micro-dollar, and ends them', async () => {
    const { key, id } = await newKey({ billing: 'recorded', limits: { budgets: [{ usd: 0.5, per: 'month' }] } })
    responseUses(300_000, 50)
    assert.equal((await goOn(key)).status, 200)
    assert.equal(await spent(id), 300_500)
    chatUses(10, 40_000)
    assert.equal((await chat(key)).status, 200)
    assert.equal(await spent(id), 300_500 + 400_010)
    const refused = await chat(key)
    const { error } = (await refused.json()) as { error: { code: string } }
    assert.deepEqual([refused.status, error.code], [402, 'budget_reached'])
  })

  it('never has customers pay for output beyond the limit that they sent, and counts it in their budgets', async () => {
    const limits = { credit_limit_usd: 1, budgets: [{ usd: 5, per: 'month' as const }] }
    const { key, id } = await newKey({ billing: 'cost', limits })
    chatUses(10, 40_000)
    assert.equal((await chat(key)).status, 200)
    assert.equal(await spent(id), 400_010)
    assert.ok((await balance(id)) >= -2000, `${await balance(id)}`)
    assert.deepEqual(await running.gateway.wallet.verify().then(({ faults }) => faults), [])
  })

  it('is paid by customers who caused it, into debt that a deposit ends', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 0.1 } })
    responseUses(300_000, 50)
    assert.equal((await goOn(key)).status, 200)
    assert.equal(await balance(id), -300_500)
    assert.equal((await receipt(id))?.billing.total_usd, 0.3005)
    assert.equal((await chat(key)).status, 402)
    assert.deepEqual(await running.gateway.wallet.verify().then(({ faults }) => faults), [])
    await running.gateway.wallet.deposit({ caller_id: id, amount_usd: 1, reference: 'paid' })
    chatUses(10, 10)
    assert.equal((await chat(key)).status, 200)
  })
})
