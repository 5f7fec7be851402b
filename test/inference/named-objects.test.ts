import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mayNameObjects, namedObjects } from '../../src/inference/admit/named-objects.ts'
import { outlineOf } from '../../src/text/json-members.ts'

const namedIn = (endpoint: string, body: unknown) =>
  Object.fromEntries(
    [...namedObjects({ endpoint, text: typeof body === 'string' ? body : JSON.stringify(body) })].map(
      ([id, { field, kind }]) => [id, `${field}: ${kind}`],
    ),
  )

describe('the ids in a request', () => {
  it('are those of the fields for them, with the kind of each', () => {
    const body = {
      previous_response_id: 'resp_a',
      conversation: 'conv_a',
      FILE_ID: 'file-a',
      file_ids: ['file-b', 'file-c'],
      tools: [{ vector_store_ids: ['vs_a'] }, { container: 'cntr_a' }, { skill_id: 'skill_a' }],
    }
    const ids = {
      resp_a: 'previous_response_id: response',
      conv_a: 'conversation: conversation',
      'file-a': 'FILE_ID: file',
      'file-b': 'file_ids: file',
      'file-c': 'file_ids: file',
      vs_a: 'vector_store_ids: vector store',
      cntr_a: 'container: container',
      skill_a: 'skill_id: skill',
    }
    for (const endpoint of ['/chat/completions', '/messages', '/responses', '/batches'])
      assert.deepEqual(namedIn(endpoint, body), ids, endpoint)
  })

  it('of a Response are in any field, but not in text and not in the names of calls', () => {
    const body = {
      model: 'gpt-2026-01-01',
      input: [
        { id: 'i1', role: 'user', content: 'msg_00000001' },
        { type: 'message', content: [{ type: 'input_text', text: 'msg_00000002' }] },
        { type: 'function_call', call_id: 'call_0000001', arguments: 'msg_00000003' },
        { type: 'function_call_output', call_id: 'call_0000001', output: 'msg_00000004' },
      ],
      prompt: { id: 'pmpt_a' },
      later: [['thing_00000001'], 'no digits', 'no_digits_here', 'short_1'],
    }
    const ids = { i1: 'id: object', pmpt_a: 'id: object', thing_00000001: ': object' }
    assert.deepEqual(namedIn('/responses', body), ids)
    assert.deepEqual(namedIn('/chat/completions', { ...body, prompt: 'pmpt_a' }), {})
  })

  it('are found beside quotes and line breaks that try to hide them', () => {
    const id = '"item_id": "msg_00000001"'
    for (const text of [
      `{"a b": "c \\" d", ${id}}`,
      `{":": ":", "": "", ${id}}`,
      `{"text": "x", "text"\n:\n"y", ${id}}`,
      `name=""; x="\n{${id}}`,
      '{"item\\u005fid": "msg\\u005f00000001"}',
      `{"item_id": "msg_0", ${id}}`,
    ])
      assert.ok('msg_00000001' in namedIn('/files', text), text)
  })

  it('of a Message are its container, as text or as an object', () => {
    for (const container of ['box_00000001', { skills: [{ skill_id: 'pdf' }], id: 'box_00000001' }]) {
      const body = { container, messages: [{ role: 'user', content: 'Hi' }] }
      assert.ok(mayNameObjects({ endpoint: '/messages', text: JSON.stringify(body) }))
      assert.ok('box_00000001' in namedIn('/messages', body))
    }
  })

  it('are not looked for in a chat without a field for them', () => {
    const chat = { messages: [{ role: 'user', content: 'What is an id, a container or a conversation?' }] }
    assert.ok(!mayNameObjects({ endpoint: '/chat/completions', text: JSON.stringify(chat) }))
    const turn = {
      messages: [{ role: 'tool', tool_call_id: 'call_1' }, { tool_use_id: 'b' }],
      metadata: { user_id: 'u' },
    }
    assert.ok(!mayNameObjects({ endpoint: '/chat/completions', text: JSON.stringify(turn) }))
    assert.ok(mayNameObjects({ endpoint: '/chat/completions', text: '{"prompt": {"id": "pmpt_00000001"}}' }))
  })

  it('may be named by a field at any depth, in any case, and with escapes', () => {
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`name${index}`, 0])))
    for (const [field, mayName] of [
      ['[{"File_ID": "a"}]', true],
      ['{"file\\u005fid" : "a"}', true],
      ['{"fi\u017feId": 1, "\u017fkill_id": "a"}', true],
      [`[${many}, {"file_ids": []}]`, true],
      ['["a file_id", {"text": "{\\"file_id\\": 1}"}]', false],
    ] as const) {
      const text = `{"messages": ${field}}`
      const naming = { endpoint: '/chat/completions', text, outline: () => outlineOf(text) }
      assert.equal(mayNameObjects(naming), mayName, text)
    }
  })
})
