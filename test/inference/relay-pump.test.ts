import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSseTap } from '../../src/inference/observe/sse-tap.ts'
import type { StreamReply } from '../../src/inference/relay/exchange.ts'
import { pump, type Receiver } from '../../src/inference/relay/receiver.ts'

const STALL_MS = 50

describe('a stream on its way to its reader', () => {
  it('is not cut for a reader who was behind once and has caught up', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let drained: () => void = () => {}
    let sink: Parameters<StreamReply['consume']>[0] | undefined
    let dropped = false
    let full = true
    const reply: StreamReply = {
      kind: 'stream',
      status: 200,
      headers: {},
      exchange: { pause() {}, resume() {}, abort() {} },
      consume(to) {
        sink = to
        // What had arrived with the head, in several pieces.
        for (let n = 0; n < 3; n++) to.onData(Buffer.from(`data: {"n":${n}}\n\n`))
      },
    }
    const receiver: Receiver = {
      isGone: () => false,
      onGone() {},
      whole() {},
      head() {},
      write: () => !full,
      onDrain(resume) {
        drained = resume
      },
      end() {},
      drop() {
        dropped = true
      },
    }
    const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
    const end = pump(reply, receiver, tap, { filter: (events) => events, onFirst() {}, stallMs: STALL_MS })
    full = false
    drained()
    t.mock.timers.tick(STALL_MS * 3)
    assert.equal(dropped, false)
    sink?.onEnd()
    assert.deepEqual(await end, { kind: 'complete' })
  })
})

describe('the end of a stream', () => {
  const ending = (...events: string[]) => {
    const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
    for (const event of events) tap.push(Buffer.from(`${event}\n\n`))
    return tap.ending()
  }

  it('is the line that says so, not a model that speaks of it', () => {
    const chunk = { choices: [{ delta: { content: 'It ends with\n\ndata: [DONE]\n\n' }, finish_reason: null }] }
    assert.equal(ending(`data: ${JSON.stringify(chunk)}`).done, false)
    for (const line of ['data: [DONE]', 'data:[DONE]', 'event: done\r\ndata: [DONE]'])
      assert.equal(ending(line).done, true)
  })
})
