import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSegment } from '../../../src/context/search/segment.ts'
import { createSegmentBuilder } from '../../../src/context/search/segment-builder.ts'

describe('the index of a project', () => {
  it('counts each word of a file of 20,000 words', () => {
    const words = Array.from(
      { length: 20_000 },
      (_, i) => `q${i.toString(26).replace(/\d/g, (digit) => 'zyxwvutsrq'[Number(digit)] ?? '')}x`,
    )
    const builder = createSegmentBuilder()
    builder.add({ path: 'words.txt', key: '' }, words.join(' '))
    const segment = openSegment(builder.finish('/'))
    assert.ok(segment)
    let counted = 0
    for (const { term, postings } of segment.startingWith(''))
      if (term !== 'txt') counted += (postings.marks[0] ?? 0) >>> 8
    assert.equal(counted, words.length)
  })
})
