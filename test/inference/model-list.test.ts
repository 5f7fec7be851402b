import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createProvider } from '../../src/inference/upstreams/create-provider.ts'
import { createModelList } from '../../src/inference/upstreams/model-list.ts'
import type { DirectReply } from '../../src/inference/verbatim/direct-call.ts'

const OWN = { id: 'own', object: 'model', created: 1795338000, owned_by: 'gazeway' }
const A = { id: 'a', object: 'model', created: 5, owned_by: 'me' }
const ROLES = { primary: 'p', fallback: 'f', chat: 'c' }
const anyone = { surface: 'http', callerId: null } as const

describe('the models that clients can ask for', () => {
  /** A list whose upstream answers what it is told, at times that it is told. */
  function createList(aliases: Record<string, string> = { own: 'a' }) {
    let at = Date.parse('2026-11-22T09:00:00Z')
    let answers: () => Partial<DirectReply> = () => ({})
    let asked = 0
    const models = {
      primary: 'llm-4.20-multi-agent-beta-0309',
      fallback: 'llm-4.20-0309-reasoning',
      chat: 'llm-3-fast',
    }
    const config = { api_key: null, headers: {}, timeout_ms: 1000, max_retries: 0, models, aliases }
    async function ask() {
      asked++
      return { status: 200, headers: {}, truncated: false, call_id: 'call_1', body: null, ...answers() }
    }
    const list = createModelList({
      provider: createProvider({ ...config, provider: 'http://127.0.0.1:1/v1' }),
      askForModels: ask,
      now: () => new Date(at),
    })
    return {
      asked: () => asked,
      upstream(next: typeof answers) {
        answers = next
      },
      listed: () => list.listed(anyone),
      async after(seconds: number) {
        at += seconds * 1000
        return list.all(anyone)
      },
    }
  }

  it('are ours, then what the upstream lists, which is asked once a minute', async () => {
    const { after, upstream, asked, listed } = createList()
    upstream(() => ({ body: { data: [A, { id: 'own' }, null] } }))
    for (const seconds of [0, 30, 29]) assert.deepEqual(await after(seconds), [OWN, A])
    assert.deepEqual(await listed(), ['a', 'own'])
    assert.equal(asked(), 1)
    upstream(() => ({ body: { data: [] } }))
    assert.deepEqual(await after(1), [])
    assert.deepEqual(await listed(), [])
  })

  it('are named in errors as the catalogue has them, until the upstream has listed them', async () => {
    const config = { api_key: 'k', headers: {}, timeout_ms: 1000, max_retries: 0, models: ROLES, aliases: { own: 'a' } }
    const ask = async () => ({ status: 200, headers: {}, truncated: false, call_id: 'call_1', body: { data: [A] } })
    const provider = createProvider({ ...config, provider: 'openai', id: 'main' })
    const list = createModelList({ provider, askForModels: ask, now: () => new Date() })
    assert.deepEqual([list.known().includes('main/own'), list.known().includes('main/gpt-5')], [true, true])
    await list.all(anyone)
    assert.deepEqual(list.known(), ['main/own', 'main/a'])
  })

  it('leave out the models of the roles at an upstream beside default', async () => {
    const config = { api_key: 'k', headers: {}, timeout_ms: 1000, max_retries: 0, models: ROLES, aliases: { own: 'a' } }
    const ask = () => Promise.reject(new Error('down'))
    const provider = createProvider({ ...config, provider: 'http://127.0.0.1:1/v1', id: 'main' })
    const list = createModelList({ provider, askForModels: ask, now: () => new Date() })
    assert.deepEqual(
      (await list.all(anyone)).map(({ id }) => id),
      ['main/own'],
    )
  })

  it('exclude those that the upstream lacks: aliases of other models, and names without an alias', async () => {
    const { after, upstream } = createList({ own: 'a', gone: 'retired', 'llm-3-fast': 'b' })
    const ids = async (seconds: number) => (await after(seconds)).map(({ id }) => id)
    upstream(() => ({ body: { data: [A, { id: 'b:latest' }] } }))
    assert.deepEqual(await ids(0), ['llm-3-fast', 'own', 'a', 'b:latest'])
  })

  it('have all their fields, whatever the upstream tells', async () => {
    const { after, upstream } = createList({})
    upstream(() => ({ body: { data: [{ id: 'a', created: '2024', owned_by: 5 }, { id: 7 }] } }))
    assert.deepEqual(await after(0), [{ id: 'a', object: 'model', created: 0, owned_by: 'upstream' }])
  })

  it('are those of a list alone, too', async () => {
    const { after, upstream, listed } = createList()
    upstream(() => ({ body: [A, null, 'b'] }))
    assert.deepEqual(await after(0), [OWN, A])
    for (const body of ['a', 5, { data: { id: 'a' } }]) {
      upstream(() => ({ body }))
      assert.deepEqual(await after(60), [OWN])
      assert.equal(await listed(), null)
    }
  })

  it('are ours alone while the upstream is down, and all again soon after', async () => {
    const { after, upstream } = createList()
    const up = () => ({ body: { data: [A] } })
    upstream(up)
    assert.deepEqual(await after(0), [OWN, A])
    upstream(() => {
      throw new Error('down')
    })
    assert.deepEqual(await after(60), [OWN])
    upstream(up)
    assert.deepEqual(await after(5), [OWN, A])
    upstream(() => ({ status: 503 }))
    assert.deepEqual(await after(60), [OWN])
  })

  it('are asked for again soon after an upstream that was busy, and hold while it is busy but up', async () => {
    const { after, upstream, asked } = createList()
    const up = () => ({ body: { data: [A] } })
    for (const [status, models] of [
      [503, [OWN]],
      [429, [OWN, A]],
    ] as const) {
      upstream(up)
      assert.deepEqual(await after(60), [OWN, A])
      upstream(() => ({ status }))
      assert.deepEqual(await after(60), models)
      const before = asked()
      upstream(up)
      assert.deepEqual(await after(4), models)
      assert.equal(asked(), before)
      assert.deepEqual(await after(1), [OWN, A])
      assert.equal(asked(), before + 1)
    }
  })
})
