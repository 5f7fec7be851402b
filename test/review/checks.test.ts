import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CANARY_LINE, canaryOf } from '../../src/review/canary-line.ts'
import { requireTrue } from '../../src/review/change-parts.ts'
import { CHECK_KINDS, makeChecks, missedCanary, passedChecks } from '../../src/review/checks.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { lineNumbersOf } from '../../src/review/line-numbers.ts'

const parts = [
  ...hunksOf('a.ts', 'const old = 1\n', 'const fresh = 22\n'),
  ...hunksOf('b.ts', '', '  send(first, second)\n  log(the_second)\n'),
]

describe('attention checks', () => {
  it('are about changed lines, and are passed with their answers alone', () => {
    for (let round = 0; round < 50; round++) {
      const checks = makeChecks(CHECK_KINDS, parts)
      const [question, retype, canary] = checks
      assert.ok(question?.kind === 'question' && retype?.kind === 'retype' && canary?.kind === 'canary')
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
      const retyped = ` ${retype.answer.replace(' ', '  ')}`
      assert.deepEqual(passedChecks(checks, [question.answer, retyped, canary.hunk.digest]), CHECK_KINDS)
      assert.deepEqual(passedChecks(checks, ['', retype.answer]), ['retype'])
      assert.deepEqual(passedChecks(checks, [question.options.find((one) => one !== question.answer) ?? '']), [])
    }
  })

  it('are omitted where a change has too few lines for them', () => {
    const kindsOf = (hunks: typeof parts) => makeChecks(CHECK_KINDS, hunks).map(({ kind }) => kind)
    assert.deepEqual(kindsOf(hunksOf('a.ts', 'one\n', '\n')), ['canary'])
    assert.deepEqual(kindsOf(hunksOf('a.ts', '', 'a line of text\n')), ['retype', 'canary'])
    assert.deepEqual(makeChecks(CHECK_KINDS, hunksOf('a.ts', 'a removed line\n', '')), [])
  })
})

describe('a canary', () => {
  const changed = [
    ...hunksOf('a.ts', `${'same\n'.repeat(20)}last\n`, `first\n${'same\n'.repeat(20)}end`),
    ...hunksOf('b.ts', 'gone\n', ''),
    ...hunksOf('c.ts', '', '  oneOfMany()\n  two()\n'),
  ]

  it('is a whole hunk below the last one of a file, with no line of another hunk, and says what it is', () => {
    const hosts = new Set<string>()
    for (let round = 0; round < 50; round++) {
      const { hunk, after } = canaryOf(changed) ?? assert.fail('there is one')
      hosts.add(hunk.path)
      requireTrue([hunk])
      assert.equal(changed[after]?.path, hunk.path)
      assert.notEqual(changed[after + 1]?.path, hunk.path)
      assert.equal(hunk.rows.filter(({ text }) => text.trim() === CANARY_LINE).length, 1)
      assert.ok(changed.every(({ digest }) => digest !== hunk.digest))
      const own = changed.filter(({ path }) => path === hunk.path).flatMap(({ rows }) => lineNumbersOf(rows))
      assert.deepEqual(
        lineNumbersOf(hunk.rows).filter((line) => own.includes(line)),
        [],
      )
    }
    assert.deepEqual([...hosts].sort(), ['a.ts', 'c.ts'])
  })

  it('is missed unless it alone was marked, and a review without one misses none', () => {
    const [retype, canary] = makeChecks(['retype', 'canary'], changed)
    assert.ok(retype?.kind === 'retype' && canary?.kind === 'canary')
    for (const [answers, isMissed] of [
      [['', canary.answer], false],
      [['', changed[0]?.digest ?? ''], true],
      [[''], true],
    ] as const)
      assert.equal(missedCanary([retype, canary], answers).length === 1, isMissed, `${answers}`)
    assert.deepEqual(missedCanary([retype], []), [])
  })
})
