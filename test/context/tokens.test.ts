import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { createTokenCounter } from '../../src/text/token-counter.ts'

describe('token counter', () => {
  it('counts what the encoding gives, remembered or not', async () => {
    const countTokens = createTokenCounter({ remember: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 12 }), async (texts) => {
        for (const text of [...texts, ...texts]) {
          const expected = encode(text, { disallowedSpecial: new Set() }).length
          assert.equal(await countTokens(text), expected)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('counts the spelling of a special token as text instead of refusing it', async () => {
    assert.ok((await createTokenCounter()('a <|endoftext|> b')) > 3)
  })
})
