import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { connect, newPlace, run } from './server.ts'

const SANDBOX = ['--upstream', 'sandbox']
const ASK = { messages: [{ role: 'user', content: 'Parcel 9 is in Riga. Where is parcel 9?' }] }
/** Time limit for a running server to refuse a key that another process revoked. */
const REVOKED_WITHIN_MS = 5000

describe('an HTTP gateway beside an assistant’s stdio server', () => {
  const place = newPlace()
  let gateway: GatewayProcess
  let assistant: Awaited<ReturnType<typeof connect>>
  before(async () => {
    gateway = await startGatewayProcess(place, { args: SANDBOX })
    assistant = await connect(place, { args: SANDBOX })
  })
  after(() => gateway.stop())

  const ask = (path: string, body?: unknown, key = gateway.key) =>
    fetch(gateway.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  it('shares its memories, both ways', async () => {
    await ask('/memory/store', { key: 'from/http', value: { answer: 42 } })
    const recalled = await assistant.call('gateway_memory_recall', { key: 'from/http' })
    assert.deepEqual(recalled.structuredContent.memory.value, { answer: 42 })
    await assistant.call('gateway_memory_store', { key: 'from/stdio', value: 'hello' })
    const { project } = place
    const query = new URLSearchParams({ key: 'from/stdio', project })
    const { memory } = (await (await ask(`/memory/recall?${query}`)).json()) as { memory: { value: string } }
    assert.equal(memory.value, 'hello')
    const stored = (await (
      await ask('/memory/store', { key: 'from/stdio', value: 'again', project })
    ).json()) as typeof recalled & {
      memory: { version: number }
    }
    assert.equal(stored.memory.version, 2, 'one version counts in both')
    const general = await ask('/memory/recall?key=from/stdio')
    assert.equal(general.status, 404, 'a memory of a project is not one of every project')
  })

  it('loses no memory that both write at once', async () => {
    const writes = Array.from({ length: 20 }, (_, i) => [
      ask('/memory/store', { key: `both/http/${i}`, value: i }).then(({ status }) => status === 201),
      assistant.call('gateway_memory_store', { key: `both/stdio/${i}`, value: i }).then(({ isError }) => !isError),
    ])
    assert.ok((await Promise.all(writes.flat())).every(Boolean))
    const { total } = (await (await ask('/memory/recent?limit=1')).json()) as { total: number }
    assert.equal(total, 42)
  })

  it('shows its calls in the assistant’s audit trail, with whose they were', async () => {
    const key = (await run(place, ['key', 'create', '--name', 'Ada'])).stdout.trim()
    const id = (await ask('/v1/chat/completions', ASK, key)).headers.get('x-gazeway-call-id')
    await assistant.call('gateway_chat_completion', ASK)
    await assistant.call('gateway_memory_recall', { key: 'from/http' })
    // A record is written within 50 ms of its call's end; the trail is read until it is there.
    let items: Array<{ call_id: string; surface: string; caller_id: string | null; status: string }> = []
    await until(async () => {
      items = (await assistant.call('gateway_upstream_api_history')).structuredContent.items
      return items.some(({ call_id }) => call_id === id)
    })
    const record = items.find(({ call_id }) => call_id === id)
    assert.deepEqual([record?.surface, record?.status], ['http', 'ok'])
    assert.equal(record?.caller_id, key.replace('gzw_', 'key_').split('_').slice(0, 2).join('_'))
    assert.ok(items.some(({ surface }) => surface === 'stdio'))
  })

  it('knows a key as soon as another process has made it, and no more within 5 s of its end', async () => {
    const key = (await run(place, ['key', 'create', '--name', 'Grace', '--scope', 'inference'])).stdout.trim()
    assert.equal((await ask('/v1/models', undefined, key)).status, 200)
    const id = key.replace('gzw_', 'key_').split('_').slice(0, 2).join('_')
    assert.equal((await run(place, ['key', 'revoke', id])).code, 0)
    const revoked = Date.now()
    while ((await ask('/v1/models', undefined, key)).status === 200)
      assert.ok(Date.now() - revoked < REVOKED_WITHIN_MS, 'the revoked key is still honoured')
    assert.equal((await ask('/v1/models', undefined, key)).status, 401)
    assert.equal((await ask('/v1/models')).status, 200)
  })

  it('refuses a key without its scope', async () => {
    const key = (await run(place, ['key', 'create', '--name', 'Platform', '--scope', 'platform'])).stdout.trim()
    assert.equal((await ask('/v1/models', undefined, key)).status, 403)
  })
})
