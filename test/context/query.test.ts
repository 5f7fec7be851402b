import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createQueryMatcher } from '../../src/context/query.ts'

const paths = ['src/wallet/ledger.ts', 'src/wallet/moneyTransfer.ts', 'src/gaze/tensor.ts', 'src/gaze/metrics.ts']

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

  it('points to the line of a text that has most of the query', () => {
    const { match, line } = matcher('release escrow').matchText('one\nescrow\nrelease the escrow\nrelease')
    assert.equal(line, 3)
    assert.ok(match > 0 && match <= 1)
  })

  it('is absent when there is no word to look for', () => {
    assert.equal(createQueryMatcher('what is the ?!', paths), null)
  })
})
