import assert from 'node:assert/strict'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import { Claim, Completion, NewTask } from '../../src/tasks/tasks.ts'

const context = { surface: 'platform' as const, callerId: null }
const TITLES = ['Build the parcel tracker', 'Ship the parcel tracker']

/** Opens the gateway on a store. Warnings go to stderr. */
export async function openOn(storeUrl: string, folder: string): Promise<Gateway> {
  const flags = { data: folder, store: storeUrl, upstream: 'sandbox' }
  const loaded = await loadConfig({ env: {}, flags })
  return createGateway(loaded, createLog({ level: 'warn', secrets: () => loaded.secrets }))
}

/** Writes something of each kind that a store must keep. A later migration may add to it, and to `readStory`. */
export async function tellStory(gateway: Gateway): Promise<void> {
  const { keys, wallet, memory, metering, upstream, tasks, calls } = gateway
  const scopes: ('inference' | 'platform')[] = ['inference', 'platform']
  const shop = await keys.create({ name: 'shop', scopes, billing: 'metered', limits: { requests_per_minute: 60 } })
  const agent = await keys.create({ name: 'agent', scopes })
  await wallet.deposit({ caller_id: shop.record.id, amount_usd: 10, reference: 'story' })
  for (const value of ['uses the us-east cluster', 'uses the eu-west cluster'])
    await memory.store(MemoryInput.parse({ key: 'deploy/staging', value, tags: ['deploy'] }))
  await memory.of(shop.record.id).store(MemoryInput.parse({ key: 'greeting', value: { text: 'hello' } }))
  const paid = { callerId: shop.record.id, context: { ...context, callerId: shop.record.id } }
  await metering.call({ model: 'llm-4-1-fast-reasoning', prompt: 'What is tracked?', max_tokens: 50 }, paid)
  await upstream.chat({ model: 'sandbox', messages: [{ role: 'user', content: 'Hello.' }] }, context)
  await calls.flush()

  const creator = await identity(gateway, shop.record.id)
  const worker = await identity(gateway, agent.record.id)
  const [first, second] = TITLES
  const built = await tasks.create(NewTask.parse({ title: first, reward_usd: 2.5, capabilities: ['ts'] }), creator.id)
  await tasks.create(NewTask.parse({ title: second, depends_on: [built.id] }), creator.id)
  await tasks.claim(built.id, Claim.parse({ agent: 'ada' }), worker)
  await tasks.complete(built.id, Completion.parse({ agent: 'ada', result: { commit: 'abc' } }), worker)
}

/** Asserts that services find what {@link tellStory} wrote, and no fault in the ledger. */
export async function readStory({ keys, wallet, memory, tasks, calls, escrows }: Gateway): Promise<void> {
  const { items: listed } = await keys.list({ limit: 10 })
  assert.deepEqual(listed.map(({ name }) => name).sort(), ['agent', 'shop'])
  const shop = listed.find(({ name }) => name === 'shop')
  assert.ok(shop)
  assert.equal(shop.limits.requests_per_minute, 60)

  const { memory: staging } = await memory.recall({ key: 'deploy/staging', namespace: 'default' })
  assert.deepEqual([staging?.value, staging?.version], ['uses the eu-west cluster', 2])
  const earlier = await memory.recall({ key: 'deploy/staging', namespace: 'default', version: 1 })
  assert.equal(earlier.memory?.value, 'uses the us-east cluster')
  const { results } = await memory.search(MemorySearch.parse({ query: 'which cluster' }))
  assert.deepEqual(
    results.map(({ memory: { key } }) => key),
    ['deploy/staging'],
  )
  const own = await memory.of(shop.id).recall({ key: 'greeting', namespace: 'default' })
  assert.deepEqual(own.memory?.value, { text: 'hello' })

  const { items: receipts } = await wallet.receipts({ caller_id: shop.id, limit: 10 })
  assert.equal(receipts.length, 1)
  const { items: statement } = await wallet.statement(shop.id, { limit: 10 })
  assert.ok(statement.length >= 2)
  assert.deepEqual([...(await wallet.verify()).faults, ...(await escrows.verify())], [])
  assert.equal((await calls.history({ limit: 10 })).items.length, 2)

  const { items: found } = await tasks.list({ limit: 10 }, null)
  assert.deepEqual(found.map(({ title, status }) => [title, status]).reverse(), [
    [TITLES[0], 'completed'],
    [TITLES[1], 'open'],
  ])
  assert.deepEqual(found[1]?.result, { commit: 'abc' })
}

async function identity({ keys }: Gateway, id: string) {
  const found = await keys.find(id)
  assert.ok(found)
  return found
}
