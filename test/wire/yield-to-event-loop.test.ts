import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { yieldToEventLoop } from '../../src/wire/yield-to-event-loop.ts'
import { turnsDuring } from '../doubles/turns.ts'

/** Keeps the thread busy. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

async function inParts(parts: number, ms: number): Promise<void> {
  for (let i = 0; i < parts; i++) {
    await yieldToEventLoop()
    work(ms)
  }
}

describe('giving way', () => {
  it('lets others come between, however much work there is at once', async () => {
    const all = () => Promise.all(Array.from({ length: 40 }, () => inParts(5, 4)))
    const turns = await turnsDuring(all)
    assert.ok(turns >= 20, `${turns} turns in 800 ms of work`)
  })

  it('lets pieces of work take turns', async () => {
    const ended: string[] = []
    const long = inParts(40, 6).then(() => ended.push('long'))
    const short = inParts(2, 1).then(() => ended.push('short'))
    await Promise.all([long, short])
    assert.deepEqual(ended, ['short', 'long'])
  })

  it('goes on at once where the thread was not held for long', async () => {
    await yieldToEventLoop()
    assert.equal(yieldToEventLoop(), undefined)
  })
})
