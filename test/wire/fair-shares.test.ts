import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createFairShares, type FairShares, type Place } from '../../src/wire/fair-shares.ts'

const PLACES = 12

/** Asks for places, as many as there are at all. @returns those that were granted */
const takeAll = (shares: FairShares, callerId: string | null): Place[] =>
  Array.from({ length: PLACES }, () => shares.take(callerId, () => {})).filter((place) => !place.isWaiting())

describe('places that callers share', () => {
  it('leave a caller at most half, and the next one always a place', () => {
    const shares = createFairShares(PLACES)
    assert.deepEqual(
      ['a', 'b', null].map((callerId) => takeAll(shares, callerId).length),
      [6, 3, 1],
    )
  })

  it('are given to the callers that wait, in turns', async () => {
    const shares = createFairShares(4)
    const begun: string[] = []
    const ask = (callerId: string, name: string) => shares.take(callerId, () => void begun.push(name))
    const held = [ask('a', 'a1'), ask('a', 'a2'), ask('b', 'b1'), ask('b', 'b2'), ask('a', 'a3'), ask('a', 'a4')]
    await Promise.resolve()
    assert.deepEqual(begun, ['a1', 'a2', 'b1'])
    held[4]?.end()
    for (const place of held.slice(0, 2)) place.end()
    await Promise.resolve()
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'b2', 'a4'], 'the one that gave up never begins')
  })

  it('are all given back', () => {
    const step = fc.record({ caller: fc.constantFrom('a', 'b', null), ends: fc.option(fc.nat(20)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const shares = createFairShares(PLACES)
        const places: Place[] = []
        for (const { caller, ends } of steps) {
          if (ends === null) places.push(shares.take(caller, () => {}))
          else places.splice(ends, 1)[0]?.end()
        }
        for (const place of places.filter((place) => place.isWaiting())) place.end()
        for (let place = places.pop(); place; place = places.pop()) if (!place.isWaiting()) place.end()
        assert.equal(takeAll(shares, 'c').length, PLACES / 2)
      }),
    )
  })
})
