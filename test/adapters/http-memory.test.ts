import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dies } from './dying.ts'
import { errorOf, openGateway } from './http-gateway.ts'

const { running, request, post } = await openGateway()

describe('memories over HTTP', () => {
  it('stores, recalls and lists memories', async () => {
    const stored = await post('/memory/store', { key: 'a', value: { b: 1 } })
    assert.equal(stored.status, 201)
    assert.equal((await post('/memory/store', { key: 'a', value: 2 })).status, 200)
    const recalled = (await (await request('/memory/recall?key=a')).json()) as {
      memory: { value: number; version: number }
    }
    assert.deepEqual([recalled.memory.value, recalled.memory.version], [2, 2])
    assert.equal((await request('/memory/recall?key=b')).status, 404)
    assert.equal((await errorOf(await request('/memory/recall'))).param, 'key')
    assert.equal(((await (await request('/memory/recent?limit=1')).json()) as { items: unknown[] }).items.length, 1)
    assert.equal((await request('/memory/recent?limit=0')).status, 422)
    assert.equal((await request('/memory/recent?limit=1&limit=2')).status, 422)
  })

  it('answers a repeated Idempotency-Key with the first reply', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await post('/memory/store', { key: 'i', value: 1 }, key)
    const again = await post('/memory/store', { key: 'i', value: 1 }, key)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual([again.status, await again.json()], [first.status, await first.json()])
    assert.equal((await post('/memory/store', { key: 'i', value: 2 }, key)).status, 422)
  })

  it('stores a memory once under an Idempotency-Key, though the first reply was lost with its process', async (t) => {
    const { memory } = running.gateway
    const own = memory
    t.mock.method(memory, 'of', () => ({ ...own, store: dies(own.store) }), { times: 1 })
    const store = (value: string, headers = {}) => post('/memory/store', { key: 'plan', value }, headers)
    const lost = { 'idempotency-key': 'lost' }
    assert.equal((await store('old', lost)).status, 500)
    await store('new')
    const again = await store('old', lost)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
    assert.equal((await (await request('/memory/recall?key=plan')).text()).includes('old'), false)
  })
})
