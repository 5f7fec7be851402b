import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChatChunk } from '../../src/inference/api/requests.ts'
import { createMessageEvents } from '../../src/inference/convert/chat-to-message-events.ts'
import { createResponseEvents } from '../../src/inference/convert/chat-to-response-events.ts'
import { joinChunks } from '../../src/inference/observe/join-chunks.ts'

const EVENTS = 100_000
const chunk = (delta: object, finish_reason: string | null = null) =>
  ({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] }) as unknown as ChatChunk
const call = (index: number, args: string, name?: string) =>
  chunk({
    tool_calls: [{ index, ...(name && { id: `call_${index}` }), function: { ...(name && { name }), arguments: args } }],
  })
const messages = () => createMessageEvents({ model: 'm', max_tokens: 9, messages: [] }, { model: 'm' })

// Quadratic work would take minutes.
describe('a stream of 100,000 events', { timeout: 60_000 }, () => {
  it('is converted in time that grows with its length, where a call is written behind a later one', () => {
    const events = messages()
    events.push(call(0, '{"text":"', 'write'))
    events.push(call(1, '{}', 'look'))
    let sent = 0
    for (let i = 0; i < EVENTS; i++) sent += events.push(call(0, '}}}}}}}}}}')).length
    assert.equal(sent, EVENTS)
    const rest = [...events.push(call(0, '"}')), ...events.push(chunk({}, 'tool_calls')), ...events.finish()]
    assert.equal(rest.filter(({ type }) => type === 'content_block_stop').length, 2)
  })

  it('is refused where each begins a call', () => {
    const [ofMessage, ofResponse, joined] = [messages(), createResponseEvents({ model: 'm', input: 'x' }), joinChunks()]
    for (const push of [ofMessage.push, ofResponse.push, joined.push])
      assert.throws(() => {
        for (let i = 0; i < EVENTS; i++) push(call(i, '{}', 'look'))
      }, /at most 1000 calls/)
  })
})
