import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvReply } from '../../adapters/platform/csv.ts'
import { turnsDuring } from '../doubles/turns.ts'

describe('a reply of CSV', () => {
  it('gives other work its turn again and again, though its lines come without a pause', async () => {
    async function* lines() {
      for (let i = 0; i < 10_000; i++) {
        const end = performance.now() + 0.1
        while (performance.now() < end);
        yield `${i}\r\n`
      }
    }
    let text = ''
    const turns = await turnsDuring(async () => {
      text = await (await csvReply('usage', lines())).text()
    })
    assert.equal(text.split('\r\n').length, 10_001)
    assert.ok(turns >= 40, `${turns} turns`)
  })
})
