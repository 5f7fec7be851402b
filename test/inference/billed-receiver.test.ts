import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { GazewayError } from '../../src/errors.ts'
import { type Bill, NO_BILL } from '../../src/inference/admit/bill.ts'
import { countLong } from '../../src/inference/observe/estimate.ts'
import { eventData } from '../../src/inference/observe/event-data.ts'
import { createSseTap } from '../../src/inference/observe/sse-tap.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import { billedReceiver } from '../../src/inference/settle/billed-receiver.ts'
import { fieldsOrNone } from '../../src/text/lenient-reader.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { splitEvents } from '../../src/wire/whole-sse-events.ts'

const CHUNK = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: 'word '.repeat(50) } }] })}\n\n`)

/** Passes a stream that needs more than its reservation of 10 tokens. @returns the last event that its client receives */
async function outgrown(extend: Bill['extend']) {
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
    cutOff: () => assert.fail('What was delivered is charged, not all that is reserved.'),
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
  return told.at(-1)
}

it('is cut off where the budget has no more, and costs what has come', async () => {
  assert.equal(await outgrown(async () => false), 'error: budget_reached')
})

it('ends with the fault of a store that sets nothing more aside, and costs what has come', async () => {
  const down = new GazewayError('store_unavailable', 'The store does not answer.')
  const failing = async () => Promise.reject(down)
  assert.equal(await outgrown(failing), 'error: store_unavailable')
})

/** Streams single words on a reservation of 1,000 tokens, which can be extended until `money` tokens are reserved. */
async function streamed({ words, money, chunkWords }: { words: number; money: number; chunkWords: number }) {
  const count = createTokenCounter()
  let [asks, countedBytes, reserved] = [0, 0, 1000]
  let text = ''
  let end = ''
  let gone = false
  const client: Receiver = {
    isGone: () => false,
    onGone() {},
    whole() {},
    head() {},
    write(bytes) {
      text += splitEvents(Buffer.from(bytes as Buffer))
        .map((event) => String(fieldsOrNone(eventData(event)?.choices?.[0]?.delta).content))
        .join('')
      return true
    },
    onDrain() {},
    end(bytes) {
      end = String(bytes)
    },
    drop() {},
  }
  const bill: Bill = {
    ...NO_BILL,
    isBounded: true,
    answerTokens: () => reserved,
    async extend(tokens) {
      asks += 1
      if (reserved + tokens > money) return false
      reserved += tokens
      return true
    },
  }
  const held = billedReceiver(client, bill, {
    errorEvent: ({ code }) => code,
    countTokens(text) {
      countedBytes += text.length
      return count(text)
    },
  })
  const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
  held.watch?.(tap)
  held.onGone(() => {
    gone = true
    held.drop()
  })
  held.head(200, {})
  for (let sent = 0; sent < words && !gone; sent += chunkWords) {
    const chunk = Buffer.from(
      Array.from(
        { length: chunkWords },
        (_, i) => `data: ${JSON.stringify({ choices: [{ delta: { content: ` word${(sent + i) % 977}` } }] })}\n\n`,
      ).join(''),
    )
    tap.push(chunk)
    if (!held.write(chunk)) await new Promise<void>((resolve) => held.onDrain(resolve))
  }
  await held.paid()
  return { asks, countedBytes, reserved, text, end, tokens: await countLong(count, text) }
}

describe('a stream at the end of its budget', () => {
  it('asks for more in steps that grow and shrink, and counts each part once, for every size of chunk', async () => {
    for (const chunkWords of [1, 7, 500]) {
      const { asks, countedBytes, reserved, text, end, tokens } = await streamed({
        words: 20_000,
        money: 25_000,
        chunkWords,
      })
      assert.equal(end, 'budget_reached')
      assert.ok(asks <= 40, `${asks} asks`)
      assert.ok(countedBytes <= 2 * text.length, `${countedBytes} of ${text.length} bytes counted`)
      assert.ok(tokens <= reserved && reserved <= 25_000, `${tokens} tokens for ${reserved}`)
      assert.ok(reserved > 25_000 - 4 * chunkWords, `${reserved} reserved`)
    }
  })
})
