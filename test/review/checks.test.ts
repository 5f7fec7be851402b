import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHECK_KINDS, makeChecks, passedChecks } from '../../src/review/checks.ts'
import { hunksOf } from '../../src/review/hunks.ts'

const parts = [
  ...hunksOf('a.ts', 'const old = 1\n', 'const fresh = 22\n'),
  ...hunksOf('b.ts', '', '  send(first, second)\n  log(the_second)\n'),
]

describe('attention checks', () => {
  it('are about changed lines, and are passed with their answers alone', () => {
    for (let round = 0; round < 50; round++) {
      const checks = makeChecks(CHECK_KINDS, parts)
      const [question, retype] = checks
      assert.ok(question?.kind === 'question' && retype?.kind === 'retype')
      assert.equal(question.options.length, 3)
      assert.equal(new Set(question.options).size, 3)
      const own = parts
        .filter(({ path }) => path === question.path)
        .flatMap((part) => ('rows' in part ? part.rows : []))
      const right = question.options.filter((option) => own.some(({ text }) => text.trim() === option))
      assert.deepEqual(right, [question.answer])
      const line = parts
        .flatMap((part) => ('rows' in part && part.path === retype.path ? part.rows : []))
        .find((row) => row.new === retype.line)
      assert.equal(line?.text.trim(), retype.answer)
      assert.deepEqual(passedChecks(checks, [question.answer, ` ${retype.answer.replace(' ', '  ')}`]), CHECK_KINDS)
      assert.deepEqual(passedChecks(checks, ['', retype.answer]), ['retype'])
      assert.deepEqual(passedChecks(checks, [question.options.find((one) => one !== question.answer) ?? '']), [])
    }
  })

  it('are omitted where a change has too few lines for them', () => {
    assert.deepEqual(makeChecks(CHECK_KINDS, hunksOf('a.ts', 'one\n', '\n')), [])
    const [only, ...none] = makeChecks(CHECK_KINDS, hunksOf('a.ts', '', 'a line of text\n'))
    assert.deepEqual([only?.kind, none], ['retype', []])
    assert.deepEqual(makeChecks(CHECK_KINDS, hunksOf('a.ts', 'a removed line\n', '')), [])
  })
})
