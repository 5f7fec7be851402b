import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedItem } from '../../src/review/acknowledged-items.ts'
import { type Hunk, Part, requireTrue } from '../../src/review/change-parts.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { numbered } from './repository.ts'

const [hunk] = hunksOf('a.txt', numbered(20), numbered(20).replace('line 9\n', 'nine\nmore\n')) as [Hunk]
const entry = { mode: '100644', oid: 'a'.repeat(40) }
const item = movedItem({ path: 'a', old: entry, new: null }, { path: 'b', old: null, new: entry })

const withRow = (index: number, change: object): Hunk => ({
  ...hunk,
  rows: hunk.rows.map((row, at) => (at === index ? { ...row, ...change } : row)),
})

describe('parts that a client sends', () => {
  it('are taken when their digests and numbers are those of what is shown', () => {
    assert.doesNotThrow(() => requireTrue([hunk, item]))
  })

  it('are refused when something else is shown than is signed', () => {
    const lies: Part[] = [
      { ...hunk, path: 'b.txt' },
      { ...hunk, lines: 1 },
      withRow(3, { text: 'shown\n' }),
      withRow(3, { kind: ' ' }),
      withRow(3, { old: 1 }),
      withRow(4, { new: 1 }),
      { ...hunk, rows: hunk.rows.slice(1) },
      { ...item, from: 'c' },
      { ...item, kind: 'mode' },
    ]
    for (const [index, lie] of lies.entries())
      assert.throws(() => requireTrue([item, lie]), { code: 'validation_failed', param: 'parts.1' }, `lie ${index}`)
  })

  it('have one line a row', () => {
    for (const text of ['one\n+two\n', 'one\ntwo', '\n\n', '\u2028'])
      assert.equal(Part.safeParse(withRow(3, { text })).success, false, JSON.stringify(text))
    assert.equal(Part.safeParse(withRow(3, { text: 'caf\u00c3\u00a9\r\n' })).success, true)
  })
})
