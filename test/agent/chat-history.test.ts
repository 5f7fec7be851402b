import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { historyWithin, MESSAGE_TOKENS } from '../../src/agent/chat-history.ts'

const tokens = fc.integer({ min: 0, max: 200 })
const exchanges = fc.array(fc.tuple(tokens, tokens), { maxLength: 30 })

interface Stored {
  role: string
  content: string
  token_count: number
}

describe('the history that a model is sent', () => {
  it('is the longest run of newest exchanges within the budget, whole and in order', () =>
    fc.assert(
      fc.asyncProperty(exchanges, fc.integer({ min: 0, max: 2000 }), async (sizes, budget) => {
        const stored: Stored[] = sizes.flatMap(([asked, answered], i) => [
          { role: 'user', content: `q${i}`, token_count: asked },
          { role: 'assistant', content: `a${i}`, token_count: answered },
        ])
        let read = 0
        async function* newest() {
          for (const message of stored.toReversed()) {
            read++
            yield message
          }
        }
        const kept = await historyWithin(newest(), budget)
        const cost = (from: number) =>
          stored.slice(from).reduce((sum, { token_count }) => sum + token_count + MESSAGE_TOKENS, 0)
        const start = stored.length - kept.length
        assert.deepEqual(
          kept,
          stored.slice(start).map(({ role, content }) => ({ role, content })),
        )
        assert.ok(kept.length % 2 === 0, 'whole exchanges')
        assert.ok(cost(start) <= budget, 'within the budget')
        assert.ok(start === 0 || cost(start - 2) > budget, 'one more would not fit')
        assert.ok(read <= kept.length + 2, 'reads no further than it has to')
      }),
      { numRuns: 300 },
    ))
})
