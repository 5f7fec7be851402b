import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { wording } from '../../src/inference/dialect/error-wording.ts'
import { API_NAMES, type Refusal } from '../../src/inference/dialect/mend.ts'
import { mendsFor } from '../../src/inference/dialect/mends.ts'

/** Words that the patterns of mends look for. */
const REPEATED = [
  'tool call ',
  'temperature top_p ',
  'too long id ',
  'system message must ',
  'thinking blocks ',
  'missing ',
]
/** Time after which a pattern counts as endless, in milliseconds: all of them take a thousandth of it. */
const ENDLESS_MS = 30_000

it('finds what the pattern finds', () => {
  const patterns = [/a.*b|c\b.*(?:a|b).*[.|]|(?:c|d) c/is, /a|b.*c/i, /a.*b.*c/is, /[a|b]\|.*(?:c.{0,3}|a)d/is]
  const words = fc.array(fc.constantFrom('a', 'B', 'c', 'd', ' ', '.', '|'), { maxLength: 12 })
  fc.assert(
    fc.property(words, fc.constantFrom(...patterns), (letters, pattern) => {
      assert.equal(wording(pattern).test(letters.join('')), pattern.test(letters.join('')))
    }),
  )
})

it('reads refusals that repeat its words in a time that grows with their length alone', () => {
  const read = () => {
    for (const words of REPEATED)
      for (const api of API_NAMES) {
        const refusal: Refusal = { status: 400, message: words.repeat(10_000), isAsSuch: false, field: null }
        mendsFor(api, refusal, [])
      }
  }
  runInNewContext('read()', { read }, { timeout: ENDLESS_MS })
})
