import assert from 'node:assert/strict'
import { it } from 'node:test'
import { contentAttributes } from '../../adapters/http/span-content.ts'

it('tells a Messages request and its answer by the conventions for generative AI', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } }
  const request = {
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'there' }] },
    ],
  }
  const answer = { id: 'msg_1', model: 'm', content: [{ type: 'text', text: 'There.' }], stop_reason: 'end_turn' }
  const told = contentAttributes({ request, answer }, 'ok')
  const read = (name: string) => JSON.parse(String(told[name]))
  const toolCall = { type: 'tool_call', id: 'toolu_1', name: 'look', arguments: { at: 1 } }
  assert.deepEqual(read('gen_ai.system_instructions'), [{ type: 'text', content: 'Be brief.' }])
  assert.deepEqual(read('gen_ai.input.messages'), [
    { role: 'user', parts: [{ type: 'text', content: 'Look.' }] },
    { role: 'assistant', parts: [toolCall] },
    { role: 'user', parts: [{ type: 'tool_call_response', id: 'toolu_1', response: 'there' }] },
  ])
  assert.deepEqual(read('gen_ai.output.messages'), [
    { role: 'assistant', parts: [{ type: 'text', content: 'There.' }], finish_reason: 'stop' },
  ])
  assert.deepEqual(told['gen_ai.response.finish_reasons'], ['stop'])
})
