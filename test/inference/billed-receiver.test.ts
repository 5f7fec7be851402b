import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { GazewayError } from '../../src/errors.ts'
import { type Bill, NO_BILL } from '../../src/inference/bill.ts'
import { billedReceiver } from '../../src/inference/billed-receiver.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import { createSseTap } from '../../src/inference/relay/sse-tap.ts'

const CHUNK = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: 'word '.repeat(50) } }] })}\n\n`)

/** Passes a stream that outgrows its reservation of 10 tokens. @returns what its client is told, and whether all of the reservation is charged */
async function outgrown(extend: Bill['extend']) {
  let isWholeCharged = false
  const told: string[] = []
  const client: Receiver = {
    isGone: () => false,
    onGone() {},
    whole() {},
    head() {},
    write: (bytes) => told.push(String(bytes)) > 0,
    onDrain() {},
    end: (bytes) => void told.push(String(bytes ?? '')),
    drop() {},
  }
  const bill: Bill = {
    ...NO_BILL,
    isBounded: true,
    answerTokens: () => 10,
    extend,
    cutOff() {
      isWholeCharged = true
    },
  }
  const held = billedReceiver(client, bill, {
    errorEvent: ({ code }) => `error: ${code}`,
    countTokens: async (text) => text.length,
  })
  const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
  held.watch?.(tap)
  const ended = new EventTarget()
  const gone = once(ended, 'gone')
  held.onGone(() => ended.dispatchEvent(new Event('gone')))
  held.head(200, {})
  tap.push(CHUNK)
  assert.equal(held.write(CHUNK), false, 'the upstream is held up while there is more to set aside')
  await gone
  assert.ok(held.isGone(), 'the upstream is asked for no more')
  held.drop()
  return { last: told.at(-1), isWholeCharged }
}

it('is cut off where the budget has no more, and costs what was set aside', async () => {
  assert.deepEqual(await outgrown(async () => false), { last: 'error: budget_reached', isWholeCharged: true })
})

it('ends with the fault of a store that sets nothing more aside, and costs what has come', async () => {
  const down = new GazewayError('store_unavailable', 'The store does not answer.')
  const failing = async () => Promise.reject(down)
  assert.deepEqual(await outgrown(failing), { last: 'error: store_unavailable', isWholeCharged: false })
})
