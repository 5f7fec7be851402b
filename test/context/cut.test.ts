import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cut } from '../../src/text/cut.ts'

describe('a cut', () => {
  it('takes what slice takes, without half a character at either end', () => {
    assert.equal(cut('abc', 1), 'bc')
    assert.equal(cut('a👋b', 0, 2), 'a')
    assert.equal(cut('a👋b', 2), 'b')
    assert.equal(cut('👋👋', -3), '👋')
    assert.equal(cut('👋', 1, 1), '')
  })

  it('leaves whole characters, wherever it is made', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer(), fc.integer(), (text, start, end) => {
        const kept = cut(text, start, end)
        assert.doesNotMatch(kept, /\p{Cs}/u)
        assert.ok(text.slice(start, end).length - kept.length <= 2)
      }),
    )
  })
})
