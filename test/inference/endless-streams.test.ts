import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChatChunk } from '../../src/inference/api/requests.ts'
import { createMessageEvents } from '../../src/inference/convert/chat-to-message-events.ts'
import { createResponseEvents } from '../../src/inference/convert/chat-to-response-events.ts'
import { joinChunks } from '../../src/inference/observe/join-chunks.ts'
import { watchChatCalls } from '../../src/inference/passages/chat-calls.ts'
import { watchMessageCalls } from '../../src/inference/passages/message-calls.ts'
import { watchResponseCalls } from '../../src/inference/passages/response-calls.ts'

const EVENTS = 100_000
const chunk = (delta: object, finish_reason: string | null = null) =>
  ({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] }) as unknown as ChatChunk
const call = (index: number, args: string, name?: string) =>
  chunk({
    tool_calls: [{ index, ...(name && { id: `call_${index}` }), function: { ...(name && { name }), arguments: args } }],
  })
const messages = () => createMessageEvents({ model: 'm', max_tokens: 9, messages: [] }, { model: 'm' })

const context = { asked: {}, provider: { section: 'upstreams.double' } } as never
const bytes = (event: object) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)

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

  it('is read once where each piece has the name of its call', () => {
    const [ofMessage, ofResponse, joined] = [messages(), createResponseEvents({ model: 'm', input: 'x' }), joinChunks()]
    const native = watchChatCalls(context, { isPlain: () => false })
    const read = (given: object) => native.read(bytes(given))
    for (const push of [ofMessage.push, ofResponse.push, joined.push, read]) {
      push(call(0, '{"text":"', 'look'))
      for (let i = 0; i < EVENTS; i++) push(call(0, '}', 'look'))
    }
  })

  it('is refused where each begins a call', () => {
    const [ofMessage, ofResponse, joined] = [messages(), createResponseEvents({ model: 'm', input: 'x' }), joinChunks()]
    for (const push of [ofMessage.push, ofResponse.push, joined.push])
      assert.throws(() => {
        for (let i = 0; i < EVENTS; i++) push(call(i, '{}', 'look'))
      }, /at most 1000 calls/)
  })

  const use = { type: 'tool_use', id: 'a', name: 'look', input: {} }
  const WATCHED: [{ read(events: Buffer): Buffer }, (at: number) => object, (piece: string) => object][] = [
    [watchChatCalls(context, { isPlain: () => false }), (at) => call(at, '', 'look'), (piece) => call(0, piece)],
    [
      watchMessageCalls(context),
      (index) => ({ type: 'content_block_start', index, content_block: use }),
      (partial_json) => ({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } }),
    ],
    [
      watchResponseCalls(context),
      (at) => ({
        type: 'response.output_item.added',
        output_index: at,
        item: { type: 'function_call', id: `fc_${at}`, call_id: 'a', name: 'look' },
      }),
      (delta) => ({ type: 'response.function_call_arguments.delta', item_id: 'fc_0', output_index: 0, delta }),
    ],
  ]
  it('passes as it is where its calls are watched, and is refused where each begins a call', () => {
    for (const [{ read }, begin, add] of WATCHED) {
      read(bytes(begin(0)))
      read(bytes(add('{"text":"')))
      const piece = bytes(add('}}}}}}}}}}'))
      for (let i = 0; i < EVENTS; i++) assert.equal(read(piece), piece)
      assert.throws(() => {
        for (let at = 1; at < EVENTS; at++) read(bytes(begin(at)))
      }, /(?:at most 1000 calls|of 1000 open blocks)/)
    }
  })
})
