import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { queryTerms } from '../../../src/context/search/query-terms.ts'
import { eachRun, termsOfRun } from '../../../src/context/search/terms.ts'

function runsOf(text: string): string[] {
  const runs: string[] = []
  eachRun(text, (run) => void runs.push(run))
  return runs
}

const termsIn = (text: string) =>
  runsOf(text).flatMap((run) => {
    const { parts, whole } = termsOfRun(run)
    return whole === null ? parts : [...parts, whole]
  })

describe('terms of the index', () => {
  it('splits identifiers at camelCase, underscores and digits, and keeps them whole', () => {
    assert.deepEqual(termsOfRun('parseHTTPRequests'), {
      parts: ['pars', 'http', 'request'],
      whole: 'parsehttprequests',
    })
    assert.deepEqual(termsOfRun('max_tokens'), { parts: ['max', 'token'], whole: 'maxtokens' })
    assert.deepEqual(termsOfRun('__init__'), { parts: ['init'], whole: null })
    assert.equal(termsOfRun('MAX_TOKENS').whole, termsOfRun('maxTokens').whole)
  })

  it('has one term for the inflections of a word', () => {
    assert.deepEqual(
      new Set(termsIn('retry retries retried retrying').map((term) => term.slice(0, 5))),
      new Set(['retri']),
    )
  })

  it('leaves out hashes, encoded data and plain numbers', () => {
    assert.deepEqual(termsIn(`d41d8cd98f00b204e9800998ecf8427e 1234567 0xdeadbeef ${'Ab1'.repeat(100)}`), [])
  })

  it('has the words that a search in memories has', () => {
    const texts = {
      数据库连接池怎么重试: '数据库连接池在高峰期耗尽，需要重试逻辑。',
      東京のデプロイ: '東京リージョンのデプロイ手順',
      डेटाबेस: 'हिन्दी डेटाबेस पूल खाली',
      ฐานข้อมูล: 'ฐานข้อมูลล่ม',
      'evaluation capacite': 'Évaluation de la capacité',
      naïve: 'naïve'.normalize('NFD'),
      库: '数据库',
    }
    for (const [query, text] of Object.entries(texts)) {
      const held = new Set(termsIn(text))
      assert.ok(
        queryTerms(query)?.terms.some((term) => held.has(term)),
        query,
      )
    }
    const held = new Set(termsIn('数学和依据'))
    assert.ok(!queryTerms('数据库')?.terms.some((term) => held.has(term)), 'a pair of characters is one term')
  })

  it('cuts a line without spaces, and no word in it is longer than 64 characters', () => {
    assert.ok(runsOf('数'.repeat(1000)).every((run) => run.length <= 64))
  })
})

describe('query of the index', () => {
  it('leaves stop words out', () => {
    assert.deepEqual(queryTerms('Where are the webhooks signed?')?.terms, ['webhook', 'sign'])
    assert.equal(queryTerms('what is the ?!'), null)
  })

  it('keeps an identifier whole beside its parts', () => {
    assert.deepEqual(queryTerms('maxTokens'), { terms: ['max', 'token', 'maxtokens'], isWhole: [false, false, true] })
  })

  it('takes the first 30 terms of a long question', () => {
    assert.equal(queryTerms(Array.from({ length: 500 }, (_, i) => `word${i}`).join(' '))?.terms.length, 30)
  })
})
