import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createModelList } from '../../src/upstream/model-list.ts'
import type { PassthroughReply } from '../../src/upstream/passthrough.ts'
import type { Provider } from '../../src/upstream/provider.ts'

describe('the models that clients can ask for', () => {
  /** A list whose upstream answers what it is told, at times that it is told. */
  function createList() {
    let at = Date.parse('2026-11-22T09:00:00Z')
    let answers: () => Partial<PassthroughReply> = () => ({})
    let asked = 0
    const list = createModelList({
      provider: { aliases: ['own'] } as unknown as Provider,
      askForModels: async () => {
        asked++
        return { status: 200, headers: {}, truncated: false, call_id: 'call_1', body: null, ...answers() }
      },
      now: () => new Date(at),
    })
    return {
      asked: () => asked,
      upstream(next: typeof answers) {
        answers = next
      },
      async after(seconds: number) {
        at += seconds * 1000
        const models = await list({ surface: 'http', callerId: null })
        assert.deepEqual(models[0], { id: 'own', object: 'model', created: 1795338000, owned_by: 'gazeway' })
        return models.slice(1)
      },
    }
  }

  it('are ours, then what the upstream lists, which is asked once a minute', async () => {
    const { after, upstream, asked } = createList()
    upstream(() => ({ body: { data: [{ id: 'a', created: 5, owned_by: 'me' }, { id: 'own' }, null] } }))
    const listed = [{ id: 'a', object: 'model', created: 5, owned_by: 'me' }]
    for (const seconds of [0, 30, 29]) assert.deepEqual(await after(seconds), listed)
    assert.equal(asked(), 1)
    upstream(() => ({ body: { data: [] } }))
    assert.deepEqual(await after(1), [])
  })

  it('have all their fields, whatever the upstream tells', async () => {
    const { after, upstream } = createList()
    upstream(() => ({ body: { data: [{ id: 'a', created: '2024', owned_by: 5 }, { id: 7 }] } }))
    assert.deepEqual(await after(0), [{ id: 'a', object: 'model', created: 0, owned_by: 'upstream' }])
  })

  it('are those of a list alone, too', async () => {
    const { after, upstream } = createList()
    upstream(() => ({ body: [{ id: 'a', created: 5, owned_by: 'me' }, null, 'b'] }))
    assert.deepEqual(await after(0), [{ id: 'a', object: 'model', created: 5, owned_by: 'me' }])
    for (const body of ['a', 5, [['a']], { data: { id: 'a' } }]) {
      upstream(() => ({ body }))
      assert.deepEqual(await after(60), [])
    }
  })

  it('are ours alone while the upstream is down, and all again soon after', async () => {
    const { after, upstream } = createList()
    const ids = async (seconds: number) => (await after(seconds)).map(({ id }) => id)
    const up = () => ({ body: { data: [{ id: 'a' }] } })
    upstream(up)
    assert.deepEqual(await ids(0), ['a'])
    upstream(() => {
      throw new Error('down')
    })
    assert.deepEqual(await ids(60), [])
    upstream(up)
    assert.deepEqual(await ids(5), ['a'])
    upstream(() => ({ status: 503 }))
    assert.deepEqual(await ids(60), [])
  })

  it('are asked for again soon after an upstream that was busy, and hold while it is busy but up', async () => {
    const { after, upstream, asked } = createList()
    const up = () => ({ body: { data: [{ id: 'a' }] } })
    for (const [status, listed] of [
      [503, 0],
      [429, 1],
    ] as const) {
      upstream(up)
      assert.equal((await after(60)).length, 1)
      upstream(() => ({ status }))
      assert.equal((await after(60)).length, listed)
      const before = asked()
      upstream(up)
      assert.equal((await after(4)).length, listed)
      assert.equal(asked(), before)
      assert.equal((await after(1)).length, 1)
      assert.equal(asked(), before + 1)
    }
  })
})
