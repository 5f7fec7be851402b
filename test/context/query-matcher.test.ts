import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createQueryMatcher } from '../../src/context/query-matcher.ts'

const paths = ['src/wallet/ledger.ts', 'src/wallet/moneyTransfer.ts', 'src/gaze/tensor.ts', 'src/gaze/gaze-metrics.ts']

describe('query matcher', () => {
  const matcher = (query: string) => {
    const made = createQueryMatcher(query, paths)
    assert.ok(made)
    return made
  }

  it('finds the words of a path, those in camelCase too', () => {
    assert.equal(matcher('money transfer').matchPath('src/wallet/moneyTransfer.ts'), 1)
    assert.equal(matcher('ledger').matchPath('src/gaze/tensor.ts'), 0)
  })

  it('counts a rare word for more than a common one', () => {
    const { matchPath } = matcher('src ledger')
    assert.ok(matchPath('src/wallet/ledger.ts') > matchPath('src/gaze/tensor.ts'))
    assert.ok(matchPath('src/gaze/tensor.ts') < 0.5)
  })

  it('has the words that a search in memories has, in paths and in texts', () => {
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
      assert.ok(matcher(query).matchText(`one\n${text}`).match > 0, query)
      assert.equal(matcher(query).matchText(`one\n${text}`).line, 2, query)
      assert.ok(matcher(query).matchPath(`docs/${text}.md`) > 0, query)
    }
    assert.equal(matcher('数据库').matchPath('数据库.md'), 1)
    assert.equal(matcher('naïve').matchPath('naïve.md'.normalize('NFD')), 1)
    assert.equal(matcher('数据库').matchText('数学和依据').match, 0)
  })

  it('points to the line of a text that has most of the query', () => {
    const { match, line } = matcher('release escrow').matchText('one\nescrow\nrelease the escrow\nrelease')
    assert.equal(line, 3)
    assert.ok(match > 0 && match <= 1)
  })

  it('is absent when there is no word to look for', () => {
    assert.equal(createQueryMatcher('what is the ?!', paths), null)
  })
})
