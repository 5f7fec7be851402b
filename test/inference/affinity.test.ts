import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { affinityOf, drawn } from '../../src/inference/session/affinity.ts'

const WAYS = [
  { name: 'a', weight: 1 },
  { name: 'b', weight: 3 },
  { name: 'c', weight: 0.5 },
  { name: 'd', weight: 1 },
]
const orderOf = (affinity: string | null, of = WAYS) => drawn(of, (way) => way, affinity).map(({ name }) => name)
const said = (callerId: string | null, session_id: string) =>
  affinityOf({ callerId, session: { ...NO_SESSION, session_id } })

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
