import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fuse } from '../../src/memory/search/fusion.ts'

describe('two lists of memories', () => {
  const hits = (...seqs: number[]) => seqs.map((seq) => ({ seq, score: 0.5 }))

  it('become one by their ranks: first what is high in both', () => {
    assert.deepEqual(
      fuse(hits(1, 2, 3), hits(2, 4)).map(({ seq }) => seq),
      [2, 1, 4, 3],
    )
  })

  it('give the first of both 1, and the first of one a half', () => {
    assert.deepEqual(fuse(hits(7), hits(7)), [{ seq: 7, score: 1 }])
    assert.deepEqual(fuse(hits(7), []), [{ seq: 7, score: 0.5 }])
    assert.deepEqual(fuse([], []), [])
  })
})
