import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import { completion, json, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

let server: UpstreamDouble
let running: RunningPlatform
before(async () => {
  server = await startUpstream()
  running = await startPlatform(server.url, {
    // A token costs a micro-dollar, or ten.
    document: {
      pricing: { models: { any: { input: 1, output: 10 }, tame: { input: 1, output: 10 } } },
      wallet: { search_tokens: 1000 },
    },
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
const HELLO = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 }
const chat = (key: string) => post(key, '/v1/chat/completions', HELLO)
const month = () => new Date().toISOString().slice(0, 7)
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
async function record(id: string) {
  await running.gateway.calls.flush()
  const { items } = await running.gateway.keys.list({ limit: 1000 })
  return items.find((key) => key.id === id)
}
const spent = async (id: string) => Math.round(((await record(id))?.spend.month_usd ?? 0) * 1e6)
const debt = async (id: string) => (await record(id))?.debt_usd
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
    const { key, id } = await newKey({
      ...{ billing: 'cost', scopes: ['inference', 'platform'] },
      limits: { credit_limit_usd: 0.1 },
    })
    responseUses(300_000, 50)
    assert.equal((await goOn(key)).status, 200)
    assert.equal(await balance(id), -300_500)
    assert.equal((await receipt(id))?.billing.total_usd, 0.3005)
    const refused = await chat(key)
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    assert.deepEqual([refused.status, error.code], [402, 'debt_open'])
    assert.match(error.message, /0\.2005 USD/)
    assert.deepEqual([await debt(id), (await receipt(id))?.debt_usd], [0.2005, 0.2005])
    const { ledger } = (await (await ask(running, 'GET', '/api/wallet', { key })).json()) as {
      ledger: { debt_usd: number }
    }
    assert.equal(ledger.debt_usd, 0.2005)
    assert.deepEqual(await running.gateway.wallet.verify().then(({ faults }) => faults), [])
    await running.gateway.wallet.deposit({ caller_id: id, amount_usd: 1, reference: 'paid' })
    assert.equal(await debt(id), 0)
    chatUses(10, 10)
    assert.equal((await chat(key)).status, 200)
  })

  const message = (content: object, more: object = {}) => ({
    messages: [{ role: 'user', content: [content], ...more }],
    max_tokens: 100,
  })
  const READ: Readonly<Record<string, object>> = {
    'an address in capitals': message({ type: 'image_url', image_url: { url: 'HTTPS://example.com/a.png' } }),
    'a document by its address': message({ type: 'document_url', document_url: 'https://example.com/a.pdf' }),
    'speech that was answered before': message({ type: 'text', text: 'Go on.' }, { audio: { id: 'audio_0' } }),
    'a prompt that the provider keeps': {
      ...HELLO,
      extra_body: { google: { cached_content: 'cachedContents/0' } },
    },
    'searches of a model': { ...HELLO, web_search_options: {} },
    'a stored item': { input: [{ type: 'item_reference', id: 'msg_0' }], max_output_tokens: 100 },
    'a stored item, named by its id alone': { input: [{ id: 'msg_0' }], max_output_tokens: 100 },
  }
  it('is paid by customers whatever they have the provider read', async () => {
    chatUses(300_000, 50)
    responseUses(300_000, 50)
    for (const [what, body] of Object.entries(READ)) {
      const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
      assert.equal(
        (await post(key, 'input' in body ? '/v1/responses' : '/v1/chat/completions', body)).status,
        200,
        what,
      )
      const found = await receipt(id)
      assert.deepEqual([found?.billing.total_usd, found?.absorbed_usd], [0.3005, 0], what)
    }
  })

  it('of a model that ignores limits is borne by the operator up to a bound a day, stated, and then refused', async () => {
    const { key, id } = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    chatUses(10, 60_000)
    assert.equal((await chat(key)).status, 200)
    assert.equal((await chat(key)).status, 200)
    const refused = await chat(key)
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    assert.deepEqual([refused.status, error.code], [403, 'limit_not_kept'])
    assert.match(error.message, /wallet\.absorbed_usd_per_day/)
    chatUses(10, 10)
    assert.equal((await post(key, '/v1/chat/completions', { model: 'tame', ...HELLO })).status, 200)
    const { totals, charges } = await running.gateway.wallet.periodStatement(month(), { caller_id: id })
    assert.ok(Math.abs(totals.absorbed_usd - 1.2) < 0.01, `${totals.absorbed_usd}`)
    assert.equal(charges.find(({ model }) => model === 'any')?.capped_calls, 2)
    // Counted in budgets, the bill of the provider is what was charged and what was borne.
    assert.equal(await spent(id), 2 * 600_010 + 110)
    assert.equal(Math.round((totals.absorbed_usd - totals.upstream_cost_usd) * 1e6), 2 * 600_010 + 110)
    assert.deepEqual(await running.gateway.wallet.verify().then(({ faults }) => faults), [])
  })

  it('by one key of a group blocks that key alone, until an admin forgives it', async () => {
    const group = await running.gateway.groups.create({ name: 'team', budgets: [{ usd: 0.2, per: 'month' }] })
    const [thief, other] = [
      await newKey({ billing: 'recorded', group: group.id }),
      await newKey({ billing: 'recorded', group: group.id }),
    ]
    responseUses(300_000, 50)
    assert.equal((await goOn(thief.key)).status, 200)
    await running.gateway.calls.flush()
    chatUses(10, 10)
    assert.deepEqual([(await chat(thief.key)).status, (await chat(other.key)).status], [402, 200])
    await running.gateway.calls.flush()
    const groups = await running.gateway.groups.list({ limit: 10 })
    assert.equal(groups.items.find((one) => one.id === group.id)?.debt_usd, 0.10061)
    const forgive = (path: string) => ask(running, 'POST', path, { key: running.admin })
    const replies = [await forgive(`/api/groups/${group.id}/forgive`), await forgive(`/api/groups/${group.id}/forgive`)]
    assert.equal(replies[0]?.status, 200, await replies[0]?.clone().text())
    const forgiven = await Promise.all(replies.map((reply) => reply.json() as Promise<{ forgiven_usd: number }>))
    assert.deepEqual(
      forgiven.map(({ forgiven_usd }) => forgiven_usd),
      [0.10061, 0],
    )
    assert.equal((await forgive(`/api/keys/key_${'0'.repeat(32)}/forgive`)).status, 404)
  })
})
