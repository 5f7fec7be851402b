import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { turnsDuring } from '../doubles/turns.ts'

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

  for (const [what, character] of [
    ['letters', 'x'],
    ['spaces', ' '],
  ] as const)
    it(`counts a megabyte of ${what} in a row, and lets others work meanwhile`, async () => {
      const countTokens = createTokenCounter()
      await countTokens('The encoding is loaded.')
      let tokens = 0
      const turns = await turnsDuring(async () => {
        tokens = await countTokens(character.repeat(1_000_000))
      })
      // Whole, it would take hours.
      assert.ok(turns >= 3, `${turns} turns`)
      assert.ok(tokens > 1000, `${tokens} tokens`)
      assert.equal(await countTokens('x'.repeat(999)), encode('x'.repeat(999)).length)
    })

  it('counts the spelling of a special token as text instead of refusing it', async () => {
    assert.ok((await createTokenCounter()('a <|endoftext|> b')) > 3)
  })
})
