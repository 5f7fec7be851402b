import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { distance } from 'fastest-levenshtein'
import { startsCorrected, typosAllowed, typosBetween } from '../../src/memory/words/typos.ts'

/** The textbook table of the restricted edit distance with swaps, to check against. */
function reference(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i ? i : j)))
  const at = (i: number, j: number) => d[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const swap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      const replace = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      d[i]?.splice(j, 1, Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replace, swap))
    }
  return at(a.length, b.length)
}

const word = fc.string({ unit: fc.constantFrom(...'abcd'), minLength: 1, maxLength: 9 })

describe('typos', () => {
  it('are forgiven by the length of the word', () => {
    assert.deepEqual(['abc', 'abcd', 'abcdefg', 'abcdefgh'].map(typosAllowed), [0, 1, 1, 2])
  })

  it('are not forgiven in numbers and names with a digit, for another number is not the same with a typo', () => {
    assert.deepEqual(['10000001', 'ticket7', 'a1b2c3d4', '१९८४'].map(typosAllowed), [0, 0, 0, 0])
  })

  it('count an inserted, missing, wrong or swapped letter as one each', () => {
    for (const typo of ['stagging', 'stging', 'stuging', 'stgaing']) assert.equal(typosBetween(typo, 'staging', 1), 1)
    assert.equal(typosBetween('dpeloymnet', 'deployment', 2), 2)
    assert.equal(typosBetween('dpeloymnet', 'deployment', 1), Number.POSITIVE_INFINITY)
    assert.equal(typosBetween('same', 'same', 0), 0)
  })

  it('count as the textbook does when there is one, and not more when there are two', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        const expected = reference(a, b)
        assert.equal(typosBetween(a, b, 1), expected <= 1 ? expected : Number.POSITIVE_INFINITY)
        if (expected <= 2) assert.ok(typosBetween(a, b, 2) <= expected)
        // Each typo, a swap too, is at most two insertions, omissions or replacements.
        assert.ok(distance(a, b) <= 2 * typosBetween(a, b, 2))
      }),
      { numRuns: 2000 },
    )
  })

  it('in the first two letters are corrected by trying every letter', () => {
    const alphabet = fc.constantFrom(...'abcxyz')
    fc.assert(
      fc.property(
        fc.string({ unit: alphabet, minLength: 4, maxLength: 8 }),
        fc.string({ unit: alphabet, minLength: 4, maxLength: 8 }),
        (a, b) => {
          if (reference(a, b) === 1 && a.slice(0, 2) !== b.slice(0, 2))
            assert.ok(startsCorrected(a).includes(b), `${a} ${b}`)
        },
      ),
      { numRuns: 5000 },
    )
    for (const typo of ['tsaging', 'satging', 'taging', 'sstaging', 'xtaging', 'sxaging', 'xstaging'])
      assert.ok(startsCorrected(typo).includes('staging'), typo)
  })
})
