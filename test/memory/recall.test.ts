import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HELD_OUT_SET } from '../../bench/retrieval/memory-sets.ts'
import { measureRecall } from '../../bench/retrieval.ts'

describe('recall of memories', () => {
  it('answers questions that nothing is fitted on, and finds nothing for questions without an answer', async () => {
    const { keyword, near, unanswerable } = await measureRecall(HELD_OUT_SET, { others: 0, withAlso: true })
    assert.ok(keyword >= 98, `${keyword} % of keyword questions`)
    assert.ok(near >= 85, `${near} % of paraphrased questions`)
    assert.ok(unanswerable <= 5, `${unanswerable} % of unanswerable questions`)
  })
})
