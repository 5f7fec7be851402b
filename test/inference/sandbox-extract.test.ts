import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { clip, keywordsOf, rankSentences, sentencesOf, termsOf } from '../../src/inference/sandbox/extract.ts'
import { countTokens, cutToTokens, streamPieces } from '../../src/inference/sandbox/tokens.ts'

describe('sentence ranking', () => {
  it('takes text apart at ends of sentences, not inside paths and numbers', () => {
    assert.deepEqual(sentencesOf('It is in src/gateway.ts now. Version 1.2 has it!\n- a list item\n\nRight? (Yes.)'), [
      'It is in src/gateway.ts now.',
      'Version 1.2 has it!',
      '- a list item',
      'Right?',
      '(Yes.)',
    ])
    assert.deepEqual(sentencesOf('钱包是空的。托管已锁定。'), ['钱包是空的。', '托管已锁定。'])
  })

  it('puts rare shared words before common ones, and leaves out what shares none', () => {
    const ranked = rankSentences('Which task holds the escrow?', [
      'A task is open.',
      'A task is claimed.',
      'Nothing else matters.',
      'The escrow of a task is locked.',
    ])
    assert.deepEqual(
      ranked.map(({ position }) => position),
      [3, 0, 1],
    )
  })

  it('finds Chinese and Japanese sentences without spaces between words', () => {
    assert.equal(rankSentences('托管在哪里？', ['钱包是空的。', '托管已锁定。'])[0]?.sentence, '托管已锁定。')
  })

  it('looks at no more than thirty marks of a run', () => {
    assert.deepEqual(termsOf(`a${'\u0323'.repeat(29)}\u0302`), ['ậ'])
    assert.deepEqual(termsOf(`a${'\u0323'.repeat(30)}\u0302`), ['ạ'])
  })

  it('only gives sentences that it was given, each once, best first', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.lorem({ mode: 'sentences', maxCount: 1 }), { maxLength: 20 }),
        (question, sentences) => {
          const ranked = rankSentences(`${question} ${sentences[0] ?? ''}`, sentences)
          assert.equal(new Set(ranked.map(({ sentence }) => sentence)).size, ranked.length)
          assert.ok(ranked.every(({ sentence }) => sentences.includes(sentence)))
          assert.ok(ranked.every(({ score }, at) => score > 0 && score <= (ranked[at - 1]?.score ?? Infinity)))
        },
      ),
    )
  })

  it('keeps keywords and clipped text within their limits', () => {
    assert.deepEqual(keywordsOf(['The ledger posts to the ledgers', 'a wallet'], 2), ['ledger', 'post'])
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 40 }),
        (text, max) => clip(text, max).length <= max,
      ),
    )
  })
})

describe('token estimates', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 })

  it('cut a text to a beginning of it with just so many tokens', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 30 }), (whole, max) => {
        const cut = cutToTokens(whole, max)
        assert.ok(whole.startsWith(cut))
        assert.equal(countTokens(cut), Math.min(max, countTokens(whole)))
        assert.equal(cutToTokens(whole, Infinity), whole)
      }),
    )
  })

  it('streams pieces that join to the text', () => {
    fc.assert(fc.property(text, (whole) => assert.equal(streamPieces(whole).join(''), whole)))
  })
})
