import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { diffLines } from '../../src/review/line-diff.ts'

/** Applies blocks to the old lines. */
function applied(oldLines: string[], newLines: string[]): string[] {
  const result: string[] = []
  let at = 0
  for (const { oldFrom, oldTo, newFrom, newTo } of diffLines(oldLines, newLines)) {
    result.push(...oldLines.slice(at, oldFrom), ...newLines.slice(newFrom, newTo))
    at = oldTo
  }
  return [...result, ...oldLines.slice(at)]
}

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 30 })

describe('the line diff', () => {
  it('leads from the old lines to the new ones', () => {
    fc.assert(fc.property(lines, lines, (before, after) => assert.deepEqual(applied(before, after), after)))
  })

  it('leads there with many lines that occur once, too', () => {
    const numbers = fc.array(fc.nat(40).map(String), { maxLength: 40 })
    fc.assert(fc.property(numbers, numbers, (before, after) => assert.deepEqual(applied(before, after), after)))
  })

  it('lists blocks in order, apart from each other, and never an unchanged side', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        let [oldAt, newAt] = [-1, -1]
        for (const { oldFrom, oldTo, newFrom, newTo } of diffLines(before, after)) {
          assert.ok(oldFrom > oldAt && newFrom > newAt && oldTo + newTo > oldFrom + newFrom)
          assert.notDeepEqual(before.slice(oldFrom, oldTo), after.slice(newFrom, newTo))
          oldAt = oldTo
          newAt = newTo
        }
      }),
    )
  })

  it('finds the shortest edits between repeated lines', () => {
    assert.deepEqual(
      diffLines([...'abcabba'], [...'cbabac'])
        .map(size)
        .reduce(sum),
      5,
    )
  })

  it('keeps a line that was there once, and takes what moved for changed', () => {
    assert.deepEqual(diffLines([...'xab'], [...'abx']), [
      { oldFrom: 0, oldTo: 1, newFrom: 0, newTo: 0 },
      { oldFrom: 3, oldTo: 3, newFrom: 2, newTo: 3 },
    ])
  })

  it('compares 50,000 lines without a line that occurs once in time', () => {
    const before = Array.from({ length: 50_000 }, (_, index) => String((index * 7919) % 4999))
    const after = Array.from({ length: 50_000 }, (_, index) => String((index * 104_729) % 4999))
    const started = performance.now()
    assert.ok(diffLines(before, after).length > 0)
    // Without a bound on its search it takes minutes.
    assert.ok(performance.now() - started < 40_000, `${performance.now() - started} ms`)
  })
})

const size = (block: { oldFrom: number; oldTo: number; newFrom: number; newTo: number }) =>
  block.oldTo - block.oldFrom + block.newTo - block.newFrom
const sum = (total: number, one: number) => total + one
