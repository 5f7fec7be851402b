import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  attentionInterest,
  changeInterest,
  decay,
  decayedDwell,
  focusInterest,
  HALF_LIFE_MS,
  historyInterest,
  type InterestTerms,
  interestOf,
  queryInterest,
  weightOf,
} from '../../src/context/interest.ts'

const ms = fc.double({ min: 0, max: 1e9, noNaN: true })
const age = fc.double({ min: -1e9, max: 1e11, noNaN: true })
const terms: fc.Arbitrary<InterestTerms> = fc.record({
  dwellMs: ms,
  changeAgeMs: fc.option(age),
  commitRanks: fc.array(fc.nat(49)),
  focusDistance: fc.option(fc.nat(5)),
  match: fc.double({ min: 0, max: 1, noNaN: true }),
  referred: fc.double({ min: 0, max: 1, noNaN: true }),
  landmark: fc.boolean(),
})

describe('degree of interest', () => {
  it('is a weight from 0 to 1 for whatever terms', () => {
    fc.assert(fc.property(terms, (any) => weightOf(interestOf(any)) >= 0 && weightOf(interestOf(any)) <= 1))
  })

  it('never falls when there is more attention', () => {
    fc.assert(fc.property(ms, ms, (a, b) => attentionInterest(a) <= attentionInterest(a + b)))
    fc.assert(
      fc.property(terms, ms, (any, more) => interestOf(any) <= interestOf({ ...any, dwellMs: any.dwellMs + more })),
    )
  })

  it('never rises as attention, changes and commits age', () => {
    fc.assert(fc.property(age, ms, (a, later) => decay(a) >= decay(a + later)))
    fc.assert(fc.property(age, ms, (a, later) => changeInterest(a) >= changeInterest(a + later)))
    fc.assert(
      fc.property(ms, age, ms, (dwellMs, ageMs, later) => {
        return decayedDwell([{ dwellMs, ageMs }]) >= decayedDwell([{ dwellMs, ageMs: ageMs + later }])
      }),
    )
    fc.assert(
      fc.property(fc.nat(49), fc.nat(49), (rank, more) => historyInterest([rank]) >= historyInterest([rank + more])),
    )
  })

  it('never falls with another visit or another commit', () => {
    const visit = fc.record({ dwellMs: ms, ageMs: age })
    fc.assert(fc.property(fc.array(visit), visit, (some, one) => decayedDwell(some) <= decayedDwell([...some, one])))
    fc.assert(
      fc.property(fc.array(fc.nat(49)), fc.nat(49), (some, one) => {
        return historyInterest(some) <= historyInterest([...some, one]) + 1e-12
      }),
    )
  })

  it('halves attention in a day, and keeps half of an uncommitted change for ever', () => {
    assert.equal(decayedDwell([{ dwellMs: 8000, ageMs: HALF_LIFE_MS }]), 4000)
    assert.equal(changeInterest(0), 1.2)
    assert.equal(changeInterest(Number.POSITIVE_INFINITY), 0.6)
  })

  it('weighs as its documentation says', () => {
    assert.equal(attentionInterest(60_000), 1.5)
    assert.equal(focusInterest(0), 2)
    assert.equal(focusInterest(1), 0.5)
    assert.equal(focusInterest(null), 0)
    assert.equal(queryInterest(1), 3)
    assert.equal(historyInterest([]), 0)
    assert.equal(weightOf(0), 0)
    assert.equal(weightOf(1), 0.632)
  })
})
