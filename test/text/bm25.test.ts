import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inverseFrequency, lengthNorm, saturation } from '../../src/text/bm25.ts'

describe('BM25', () => {
  it('weighs a rare term more than a common one, and a term of all documents above zero', () => {
    assert.equal(inverseFrequency(10, 1), Math.log(1 + 9.5 / 1.5))
    assert.ok(inverseFrequency(10, 1) > inverseFrequency(10, 9))
    assert.ok(inverseFrequency(10, 10) > 0)
  })

  it('adds less for each repetition, and nothing for a missing term', () => {
    assert.equal(saturation(0), 0)
    assert.equal(saturation(1.2), 0.5)
    assert.ok(saturation(2) - saturation(1) > saturation(3) - saturation(2))
    assert.ok(saturation(1, 1, { k1: 3, b: 0.75 }) < saturation(1))
  })

  it('favours short documents', () => {
    assert.equal(lengthNorm(100, 100), 1)
    assert.equal(lengthNorm(300, 100), 2.5)
    assert.ok(saturation(1, lengthNorm(50, 100)) > saturation(1, lengthNorm(200, 100)))
  })
})
