import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { matchesGlob } from '../../src/text/glob.ts'

describe('a glob', () => {
  it('matches what a regular expression of the same meaning does', () => {
    const text = (characters: string) =>
      fc.array(fc.constantFrom(...characters), { maxLength: 8 }).map((all) => all.join(''))
    fc.assert(
      fc.property(text('a.b*'), text('a.bc'), (glob, name) => {
        const same = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
        assert.equal(matchesGlob(glob, name), same.test(name), `${glob} ${name}`)
      }),
      { numRuns: 2000 },
    )
  })

  it('does not need more time where there are many stars', () => {
    assert.equal(matchesGlob(`${'a*'.repeat(100)}b`, 'a'.repeat(200)), false)
  })
})
