import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'

type Fields = Record<string, unknown>

const user = { role: 'user', content: 'Hello' }
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }

/** The effort of a Messages request as it is sent to a model, and what is named as dropped. */
function effort(request: object, model: string): [unknown, string[]] {
  const dropped: string[] = []
  const note = (field: string) => void dropped.push(field)
  const chat = toChatFromMessages({ max_tokens: 9, messages: [user], ...request } as never, note, undefined, model)
  return [chat.reasoning_effort, dropped]
}

/** The thinking of a chat request as it is sent to a model, and what is named as dropped. */
function thinking(request: object, model: string): [unknown, unknown, string[]] {
  const dropped: string[] = []
  const chat = { messages: [user], max_tokens: 64_000, reasoning_effort: 'high', ...request }
  const sent = toMessagesFromChat(chat as never, (field) => void dropped.push(field), 8192, model) as unknown as Fields
  return [sent.thinking, sent.output_config, dropped]
}

describe('the effort of a request', () => {
  it('becomes that of chat completions for models that are known to take it, and is named for others', () => {
    const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
    for (const [request, expected] of [
      [budget(4000), 'low'],
      [budget(10_000), 'medium'],
      [budget(31_999), 'high'],
      [budget(60_000), 'high'],
      [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'high'],
      [{ output_config: { effort: 'low' } }, 'low'],
    ] as const)
      for (const model of ['gpt-5.5', 'openai/gpt-oss-120b', 'o3', 'gemini-3-pro-preview', 'deepseek-v4-pro'])
        assert.deepEqual(effort(request, model), [expected, []])
    assert.deepEqual(
      effort({ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, 'gpt-5.5')[0],
      undefined,
    )
    for (const model of ['gpt-4.1', 'gpt-5-chat-latest', 'o1-mini', 'llama-4', ''])
      assert.deepEqual(effort({ ...budget(4000), output_config: { effort: 'low' } }, model), [
        undefined,
        ['thinking', 'output_config.effort'],
      ])
  })

  it('becomes thinking as each model takes it', () => {
    const budget = (budget_tokens: number) => ({ type: 'enabled', budget_tokens })
    for (const model of ['claude-opus-4-5', 'claude-3-7-sonnet-latest', 'claude-sonnet-4-20250514', 'kimi-k3'])
      assert.deepEqual(thinking({}, model), [budget(32_000), undefined, []])
    assert.deepEqual(thinking({ max_tokens: 8192 }, 'claude-haiku-4-5')[0], budget(4096))
    assert.deepEqual(thinking({ reasoning_effort: 'low' }, 'claude-haiku-4-5')[0], budget(4096))
    for (const model of ['claude-opus-4-6', 'claude-sonnet-5', 'anthropic/claude-opus-5.5', 'claude-opus-latest'])
      assert.deepEqual(thinking({}, model), [{ type: 'adaptive' }, { effort: 'high' }, []])
    assert.deepEqual(thinking({ reasoning_effort: 'xhigh' }, 'claude-opus-4-6')[1], { effort: 'max' })
    assert.deepEqual(thinking({ reasoning_effort: 'minimal' }, 'claude-opus-4-8')[1], { effort: 'low' })
    assert.deepEqual(thinking({ reasoning_effort: 'none' }, 'claude-opus-4-8'), [undefined, undefined, []])
  })

  it('is dropped and named where a model would refuse to think', () => {
    const made = [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'x' },
    ]
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    for (const [request, model] of [
      [{}, 'claude-3-5-sonnet-latest'],
      [{ temperature: 0.2 }, 'claude-opus-5'],
      [{ tools, tool_choice: 'required' }, 'claude-opus-5'],
      [{ messages: [user, { role: 'assistant', content: 'I' }] }, 'claude-opus-5'],
      [{ max_tokens: 1500 }, 'claude-haiku-4-5'],
      [{ messages: made, tools }, 'claude-haiku-4-5'],
    ] as const)
      assert.deepEqual(thinking(request, model), [undefined, undefined, ['reasoning_effort']])
    assert.deepEqual(thinking({ messages: made, tools }, 'claude-opus-5')[0], { type: 'adaptive' })
    const blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 's' }]
    const signed = made.map((one) => (one.role === 'assistant' ? { ...one, thinking_blocks: blocks } : one))
    assert.deepEqual(thinking({ messages: signed, tools }, 'claude-haiku-4-5')[0], {
      type: 'enabled',
      budget_tokens: 32_000,
    })
  })
})
