import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { normalized } from '../../src/text/normalize-text.ts'
import { fold, queryWords, textOf, wordsOf } from '../../src/text/words.ts'

const indexedText = (text: string) => Array.from(wordsOf(text), (word) => word.text).join(' ')

describe('words', () => {
  it('fold case and accents, composed or not', () => {
    assert.equal(fold('ÉCOLE'), 'ecole')
    assert.equal(fold('cafe\u0301'), fold('café'))
    assert.equal(fold('한국'), '한국')
  })

  it('fold letters that keyboards lack, ligatures, widths and what stands higher or lower', () => {
    for (const [text, folded] of [
      ['Łukasz Łódź', 'lukasz lodz'],
      ['Đorđe', 'dorde'],
      ['Straße STRAẞE', 'strasse strasse'],
      ['Søren Ǿ Æther œuvre', 'soren o aether oeuvre'],
      ['Iğdır İzmir', 'igdir izmir'],
      ['ＡＢＣ１２３', 'abc123'],
      ['ﬁle ﬂow', 'file flow'],
      ['m² H₂O 5㎏', 'm2 h2o 5kg'],
      ['½ №5 Ⅳ', '1 2 no5 iv'],
    ] as const) {
      assert.equal(indexedText(text), folded)
      assert.equal(queryWords(text, 9).join(' '), [...new Set(folded.split(' '))].join(' '))
    }
    assert.equal(indexedText('ｻｰﾊﾞｰ再起動'), indexedText('サーバー再起動'))
    assert.deepEqual(queryWords('ｻｰﾊﾞｰ', 9), queryWords('サーバー', 9))
    assert.equal(indexedText('น้ำ'), indexedText('น้\u0e4d\u0e32'))
  })

  it('keep the marks of their script, and fold optional ones', () => {
    assert.deepEqual(queryWords('हिन्दी भाषा', 9), ['हिन्दी', 'भाषा'])
    assert.equal(indexedText('தமிழ் বাংলা'), 'தமிழ் বাংলা')
    assert.equal(fold('مُحَمَّد'), 'محمد')
    assert.equal(fold('أَحْمَد إلى آخر'), 'احمد الى اخر')
    assert.equal(fold('שָׁלוֹם'), 'שלום')
    assert.equal(fold('по\u0301льза'), 'польза')
    assert.equal(indexedText('می\u200cخواهم'), indexedText('میخواهم'))
    assert.equal(indexedText('क\u094d\u200dष'), indexedText('क\u094dष'))
    assert.equal(fold('ΟΔΟΣ οδός'), 'οδοσ οδοσ')
    assert.equal(indexedText('1\ufe0f\u20e3 葛\u{e0100}飾'), '1 葛 飾')
    assert.deepEqual(queryWords('葛\u{e0100}飾', 9), ['葛 飾'])
    assert.deepEqual([...wordsOf('\u093f \u0e34 \u200d')], [])
  })

  it('keep thirty marks of a run, however long it is and whatever stands between', () => {
    const marks = '\u094d\u093c'.repeat(15)
    for (const run of [marks.repeat(200), `${marks}\u200d`.repeat(200), '\u{1e944}'.repeat(5000)]) {
      assert.equal([...fold(`क${run}`)].length, 31)
      assert.equal([...indexedText(`क${run}`)].length, 31)
    }
    assert.equal(normalized(`か${'\uff9e\u0323'.repeat(5000)}`, 'NFKC').length, 30)
    const several = `a${'\u0301\u0323'.repeat(5000)} `.repeat(3)
    assert.deepEqual(
      [...wordsOf(several)].map(({ start }) => start),
      [0, 31, 62],
    )
    for (const text of ['', 'plain', 'é', '\u0301', `क${marks}`, `${'x'.repeat(40)}${marks}`])
      for (const form of ['NFC', 'NFKC', 'NFKD'] as const) assert.equal(normalized(text, form), text.normalize(form))
  })

  it('are single letters with their marks where words are not spaced, as in Thai, and found in pairs', () => {
    assert.equal(indexedText('ผมอยู่ที่'), 'ผ ม อ ยู่ ที่')
    assert.deepEqual(queryWords('ที่อยู่', 9), ['ที่ อ', 'อ ยู่'])
    for (const text of ['ກິນເຂົ້າ', 'ភាសាខ្មែរ', 'မြန်မာစာ'])
      assert.deepEqual(indexedText(text).split(' ').join(''), text.normalize('NFC'), text)
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

  it('are found with their places where one character is several words', () => {
    const text = 'ﬁrst ½ ㌖ Straße'
    const places = [...wordsOf(text)].map(({ text: word, start }) => [word, text.slice(start).split(' ')[0]])
    assert.deepEqual(places.slice(0, 3), [
      ['first', 'ﬁrst'],
      ['1', '½'],
      ['2', '½'],
    ])
    assert.deepEqual(places.at(-2), ['ル', '㌖'])
    assert.deepEqual(places.at(-1), ['strasse', 'Straße'])
  })

  it('are the same in decomposed text, and no accent ends one', () => {
    for (const text of ['Größe für Ärger', 'ガイド', '한국', 'x\u0302y'])
      assert.equal(indexedText(text.normalize('NFD')), indexedText(text), text)
    assert.equal(indexedText('Größe'.normalize('NFD')), 'grosse')
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
