import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { printsOf } from '../../src/inference/session/request-prints.ts'

/** Two turns of a tool that is called with other ids, in the form of each API; marks for caches move on. */
const EXCHANGES = {
  messages: (id: string, result: string, marked = false) => ({
    messages: [
      { role: 'user', content: `turn ${id}` },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'grep', input: { for: 'x' } }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: result,
            ...(marked && { cache_control: { type: 'ephemeral' } }),
          },
        ],
      },
    ],
  }),
  chat: (id: string, result: string) => ({
    messages: [
      { role: 'user', content: `turn ${id}` },
      { role: 'assistant', tool_calls: [{ id, function: { name: 'grep', arguments: '{"for":"x"}' } }] },
      { role: 'tool', tool_call_id: id, content: result },
    ],
  }),
  responses: (id: string, result: string) => ({
    input: [
      { role: 'user', content: `turn ${id}` },
      { type: 'function_call', call_id: id, name: 'grep', arguments: '{"for":"x"}' },
      { type: 'function_call_output', call_id: id, output: result },
    ],
  }),
  gemini: (id: string, result: string) => ({
    contents: [
      { role: 'user', parts: [{ text: `turn ${id}` }] },
      { role: 'model', parts: [{ functionCall: { name: 'grep', args: { for: 'x' } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'grep', response: { output: result } } }] },
    ],
  }),
}

describe('the prints of a request', () => {
  for (const [api, exchange] of Object.entries(EXCHANGES))
    it(`know the same tool call with the same result again: ${api}`, () => {
      const [whole, tool, ...more] = printsOf(exchange('a', 'nothing'))
      const [wholeAgain, again] = printsOf(exchange('b', 'nothing', true))
      assert.deepEqual([tool, more], [again, []])
      assert.equal(tool?.tool, 'grep')
      assert.notEqual(whole?.hash, wholeAgain?.hash, 'the turns differ')
      assert.notEqual(printsOf(exchange('a', 'found'))[1]?.hash, tool?.hash, 'the results differ')
      assert.deepEqual(printsOf(exchange('a', 'nothing')), [whole, tool])
    })

  it('have no tool where the last turn is none, or continues a stored answer', () => {
    const { messages } = EXCHANGES.chat('a', 'nothing')
    assert.equal(printsOf({ messages: [...messages, { role: 'user', content: 'thanks' }] }).length, 1)
    const output = [{ type: 'function_call_output', call_id: 'a', output: 'ok' }]
    assert.equal(printsOf({ previous_response_id: 'resp_1', input: output }).length, 1)
    assert.equal(printsOf({ prompt: 'Hello' }).length, 1)
  })

  it('tell rankings, embeddings and files apart, and are one for equal calls that an agent makes at once', () => {
    const asked = [
      { query: 'a', documents: ['x'] },
      { query: 'b', documents: ['x'] },
      { content: { parts: [{ text: 'a' }] } },
      { requests: [{ content: { parts: [{ text: 'a' }] } }] },
    ]
    const hashes = asked.flatMap((fields) => printsOf({ model: 'm', ...fields }).map(({ hash }) => hash))
    assert.equal(new Set(hashes).size, asked.length)
    assert.deepEqual(printsOf({ model: 'whisper-1' }), [], 'a form, whose file is not read')
    const [question, calls, result] = EXCHANGES.chat('a', 'nothing').messages
    const at = (id: string) => ({ ...result, tool_call_id: id })
    const tool_calls = ['a', 'b'].map((id) => ({ ...calls?.tool_calls?.[0], id }))
    assert.equal(printsOf({ messages: [question, { ...calls, tool_calls }, at('a'), at('b')] }).length, 2)
  })
})
