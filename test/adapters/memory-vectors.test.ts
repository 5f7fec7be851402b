import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

describe('memories by the vectors of an upstream', () => {
  let running: RunningGateway
  before(async () => {
    const embeddings = { model: 'words', upstream: 'shelf', timeout_ms: 10_000 }
    running = await startGateway(
      'sandbox',
      {},
      { upstreams: { shelf: { provider: 'sandbox' } }, memory: { embeddings } },
    )
  })
  after(() => running.close())

  const callsTo = async (path: string) => {
    const { calls } = running.gateway
    await calls.flush()
    return (await calls.history({ path, limit: 50 })).items
  }

  it('are made and searched by calls in the audit trail, to the upstream that is named', async () => {
    const { memory, sweeps } = running.gateway
    await memory.store(MemoryInput.parse({ key: 'release', value: 'Releases happen on Thursdays' }))
    const sweep = sweeps.find(({ name }) => name === 'memory.vectors')
    assert.ok(sweep, 'there is a sweep that makes vectors')
    await sweep.batch(500)
    assert.deepEqual(await memory.embedding(), { memories: 1, embedded: 1, failure: null })
    const { mode, results } = await memory.search(MemorySearch.parse({ query: 'releases on thursdays' }), {
      surface: 'http',
      callerId: 'key_caller',
    })
    assert.deepEqual([mode, results.map(({ memory: found }) => found.key)], ['hybrid', ['release']])
    const found = await callsTo('/v1/embeddings')
    assert.ok(found.length >= 2, 'each call has a record')
    assert.deepEqual([...new Set(found.map(({ upstream, status }) => `${upstream} ${status}`))], ['shelf ok'])
    assert.equal(found[0]?.caller_id, 'key_caller')
  })

  it('are not asked of the upstream for a key without credit, whose search is by words', async () => {
    const limits = { credit_limit_usd: 0 }
    const { record } = await running.gateway.keys.create({ name: 'poor', scopes: ['platform'], limits })
    const context = { surface: 'platform' as const, callerId: record.id }
    const { mode } = await running.gateway.memory.search(MemorySearch.parse({ query: 'releases' }), context)
    assert.equal(mode, 'lexical')
    const calls = (await callsTo('/v1/embeddings')).filter(({ caller_id }) => caller_id === record.id)
    assert.deepEqual(
      calls.map(({ status, http_status }) => [status, http_status]),
      [['refused', 402]],
    )
  })

  it('are not asked for any more once no model is set', async () => {
    await running.gateway.config.set({ 'memory.embeddings.model': null })
    const { memory } = running.gateway
    const before = (await callsTo('/v1/embeddings')).length
    assert.equal((await memory.search(MemorySearch.parse({ query: 'releases' }))).mode, 'lexical')
    assert.equal((await callsTo('/v1/embeddings')).length, before)
  })
})
