import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deliveredBy, lengthOf } from '../../adapters/console/web/pages/reviews/delivered-change.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { numbered } from './repository.ts'

const SIDE = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
const change = { base: SIDE, head: SIDE, digest: 'c'.repeat(64), parts: hunksOf('a.ts', '', numbered(4)) }

describe('the change in the result of a task, for the one who pays', () => {
  it('is the change alone: an agent says nothing else in the receipt of the payer', () => {
    const own = { repository: 'github.com/acme/shop', policy: 'd'.repeat(64), checks: ['retype'], task_id: 'task_1' }
    const delivered = deliveredBy({ result: { ...change, ...own } })
    assert.deepEqual(delivered, change)
    assert.equal(lengthOf(change), '4 changed lines in 1 file')
  })

  it('is none where the result is anything else', () => {
    const digests = change.parts.map(({ rows: _rows, ...part }) => part)
    const others = [
      { ...change, parts: digests },
      null,
      'done',
      [],
      {},
      { parts: [] },
      { ...change, parts: 'all' },
      { ...change, parts: [null] },
    ]
    for (const result of [...others, { ...change, parts: [{ path: {}, lines: 'many' }] }])
      assert.equal(deliveredBy({ result }), null, JSON.stringify(result))
  })
})
