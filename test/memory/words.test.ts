import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fold, indexedText, queryWords, textOf, wordsOf } from '../../src/memory/words.ts'

describe('words', () => {
  it('fold case and accents, composed or not', () => {
    assert.equal(fold('ÉCOLE'), 'ecole')
    assert.equal(fold('cafe\u0301'), fold('café'))
    assert.equal(fold('한국'), '한국')
  })

  it('are found with their places in the text', () => {
    assert.deepEqual(
      [...wordsOf('Eu-West2, für 数据!')],
      [
        { text: 'eu', start: 0 },
        { text: 'west2', start: 3 },
        { text: 'fur', start: 10 },
        { text: '数', start: 14 },
        { text: '据', start: 15 },
      ],
    )
  })

  it('are the same in decomposed text, and no accent ends one', () => {
    for (const text of ['Größe für Ärger', 'ガイド', '한국', 'x\u0302y'])
      assert.equal(indexedText(text.normalize('NFD')), indexedText(text), text)
    assert.equal(indexedText('Größe'.normalize('NFD')), 'große')
    assert.equal(indexedText('x\u0302y'), queryWords('x\u0302y', 9)[0])
  })

  it('of a query are distinct, limited, and pairs of characters where nothing is spaced', () => {
    assert.deepEqual(queryWords('Deploy the deploy, 数据库 in k8s', 24), [
      'deploy',
      'the',
      '数 据',
      '据 库',
      'in',
      'k8s',
    ])
    assert.deepEqual(queryWords('a b c d', 2), ['a', 'b'])
    assert.deepEqual(queryWords('データ', 9), ['デ ー', 'ー タ'])
    assert.deepEqual(queryWords('!? 🎉', 24), [])
  })

  it('are indexed folded, one by one where nothing is spaced, and without NUL', () => {
    assert.equal(indexedText('用Redis缓存, Café'), '用 redis 缓 存 cafe')
    assert.equal(indexedText('a\0b'), 'a b')
  })

  it('come from everywhere inside a JSON value, in order', () => {
    assert.equal(textOf('plain'), 'plain')
    assert.equal(textOf({ a: [1, { b: true }], c: null, d: ['x', 'y'] }), 'a\n1\nb\ntrue\nc\nd\nx\ny')
    assert.equal(textOf(null), '')
    const deep = Array.from({ length: 50_000 }).reduce<unknown>((inner) => [inner], 'deep')
    assert.equal(textOf(deep), 'deep')
    assert.equal(textOf(Array(200_000).fill('x')).length, 399_999)
  })
})
