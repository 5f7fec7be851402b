import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { madeByMessage, madeByStream } from '../../src/inference/observe/made-objects.ts'

const BOX = { id: 'container_1', expires_at: '2026-11-26T12:00:00Z' }
const event = (data: object) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)

describe('what a Message creates', () => {
  it('is its container, whole or streamed, unless the request names it', () => {
    for (const [asked, made] of [
      [{}, [BOX.id]],
      [{ container: BOX.id }, []],
      [{ container: { id: BOX.id } }, []],
    ] as const) {
      assert.deepEqual(madeByMessage({ container: BOX }, asked), made)
      const stream = madeByStream(asked)
      stream.read(event({ type: 'message_start', message: { id: 'msg_1', container: null } }))
      stream.read(event({ type: 'message_delta', delta: { stop_reason: 'end_turn', container: BOX } }))
      assert.deepEqual(stream.ids(), made)
    }
  })
})

describe('what a streamed Response creates', () => {
  it('is its id alone when it is not stored', () => {
    const item = { type: 'response.output_item.done', item: { id: 'msg_1', type: 'message' } }
    for (const [asked, response, made] of [
      [{}, {}, ['resp_1', 'msg_1']],
      [{ store: false }, {}, ['resp_1']],
      [{}, { store: false }, ['resp_1']],
    ] as const) {
      const stream = madeByStream(asked)
      stream.read(event({ type: 'response.created', response: { id: 'resp_1', ...response } }))
      stream.read(event({ type: 'response.output_text.delta', delta: 'says "response.output_item.done"' }))
      stream.read(event(item))
      assert.deepEqual(stream.ids(), made)
    }
  })
})
