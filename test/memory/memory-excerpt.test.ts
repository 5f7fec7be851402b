import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { excerpt } from '../../src/memory/search/memory-excerpt.ts'

describe('an excerpt', () => {
  it('is the whole of a short text, on one line', () => {
    assert.equal(excerpt('one\n two\tthree', ['two']), 'one two three')
    assert.equal(excerpt('', ['x']), '')
  })

  it('surrounds the first word that begins like a spelling', () => {
    const text = `${'before '.repeat(40)}the Déployment ${'after '.repeat(60)}`
    const shown = excerpt(text, ['deploy'])
    assert.match(shown, /^….*the Déployment after.*…$/)
    assert.equal(shown.length, 200)
    assert.match(excerpt(`${'前'.repeat(300)}数据库`, ['数 据']), /数据库$/)
  })

  it('surrounds the match in decomposed text too', () => {
    const text = `${'é'.repeat(500)} the Déployment ${'after '.repeat(60)}`.normalize('NFD')
    assert.match(excerpt(text, ['deploy']), /^….*the Déployment after.*…$/)
  })

  it('surrounds the match among characters that fold to several, and shows the text as it is', () => {
    const text = `${'㍿½ﬃ '.repeat(100)} the ﬁle of 10² ${'after '.repeat(60)}`
    assert.match(excerpt(text, ['file']), /^….*the ﬁle of 10² after.*…$/)
  })

  it('shows no more than thirty marks of a run', () => {
    const shown = excerpt(`a${'\u0301\u0323'.repeat(5000)} the file`, ['file'])
    assert.equal(shown, `${`a${'\u0301\u0323'.repeat(15)}`.normalize('NFC')} the file`)
  })

  it('is the beginning where no word matches', () => {
    assert.match(excerpt('word '.repeat(100), ['other']), /^word .*…$/)
  })

  it('never is longer than 200 characters and never holds half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700 }), fc.string({ maxLength: 5 }), (text, spelling) => {
        const shown = excerpt(text, [spelling])
        assert.ok(shown.length <= 200)
        assert.ok(!/\p{Cs}/u.test(shown))
      }),
    )
  })
})
