import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { affinityOf, drawn } from '../../src/inference/session/affinity.ts'
import { cacheKeyFor } from '../../src/inference/session/cache-key.ts'

const WAYS = [
  { name: 'a', weight: 1 },
  { name: 'b', weight: 3 },
  { name: 'c', weight: 0.5 },
  { name: 'd', weight: 1 },
]
const orderOf = (affinity: string | null, of = WAYS) => drawn(of, (way) => way, affinity).map(({ name }) => name)
const said = (callerId: string | null, session_id: string) =>
  affinityOf({ callerId, session: { ...NO_SESSION, session_id } })

const CHAT = '/chat/completions'
const keyAt = (accepts: string[], path: string, callerId: string, session_id: string | null, sent: object = {}) =>
  cacheKeyFor(accepts, path, sent, { callerId, session: { ...NO_SESSION, session_id } })

describe("The key of a provider's cache", () => {
  it('is made of the session and the caller, where the provider takes one', () => {
    const { fields } = keyAt(['cache_key'], CHAT, 'key_a', 's1')
    assert.match(String(fields.prompt_cache_key), /^[0-9a-f]{32}$/)
    assert.deepEqual(keyAt(['cache_key'], '/responses', 'key_a', 's1').fields, fields)
    assert.deepEqual(keyAt(['conversation_id'], '/responses', 'key_a', 's1').fields, fields)
    assert.deepEqual(keyAt(['conversation_id'], CHAT, 'key_a', 's1'), {
      fields: {},
      headers: { 'x-grok-conv-id': fields.prompt_cache_key },
    })
    assert.notDeepEqual(keyAt(['cache_key'], CHAT, 'key_b', 's1').fields, fields)
  })

  it('is none where the request has one, the provider takes none, or no conversation is named', () => {
    const none = { fields: {}, headers: {} }
    assert.deepEqual(keyAt(['cache_key'], CHAT, 'key_a', 's1', { prompt_cache_key: 'mine' }), none)
    assert.deepEqual(keyAt(['system_first'], CHAT, 'key_a', 's1'), none)
    for (const id of [null, 'trace:1', 'user:ann']) assert.deepEqual(keyAt(['cache_key'], CHAT, 'key_a', id), none)
  })
})

describe('The affinity of a session', () => {
  it('keeps its order, also in another order of the alternatives and without some of them', () =>
    fc.assert(
      fc.property(fc.string(), fc.shuffledSubarray(WAYS), (affinity, some) => {
        const names = some.map(({ name }) => name)
        assert.deepEqual(
          orderOf(affinity, some),
          orderOf(affinity).filter((name) => names.includes(name)),
        )
      }),
      { numRuns: 100 },
    ))

  it('is the same in every process', () => assert.deepEqual(orderOf('key_a\0s1'), ['a', 'd', 'c', 'b']))

  it('draws each alternative first as often as its weight says', () => {
    const firsts = Array.from({ length: 5500 }, (_, i) => orderOf(`key\0${i}`)[0])
    for (const { name, weight } of WAYS) {
      const share = firsts.filter((first) => first === name).length / 1000
      assert.ok(Math.abs(share - weight) < 0.2, `${name} ${share} times of ${weight}`)
    }
  })

  it('is that of one key, and none for a trace', () => {
    assert.notEqual(said('key_a', 's1'), said('key_b', 's1'))
    assert.equal(said('key_a', 's1'), said('key_a', 's1'))
    assert.equal(said('key_a', 'trace:0af7651916cd43dd8448eb211c80319c'), null)
    assert.equal(affinityOf({ callerId: 'key_a', session: NO_SESSION }), null)
  })
})
