import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { indexedWords } from '../../src/memory/words/indexed-words.ts'

describe('the words that a memory is found by', () => {
  it('are its words, the parts of joined ones, and characters and pairs of scripts without spaces', () => {
    assert.deepEqual(indexedWords('getUser 数据库'), ['getuser', 'get', 'user', '数', '数据', '据', '据库', '库'])
  })

  it('are all there for the largest memory, though it has no space', () => {
    assert.equal(indexedWords('数'.repeat(80_000)).length, 159_999)
    // One word of many parts.
    assert.equal(indexedWords('Ab'.repeat(125_000)).length, 125_001)
  })
})
