import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChatCompletion, ChatRequest, Message, ResponseRequest } from '../../src/inference/api/requests.ts'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { toResponse } from '../../src/inference/convert/chat-to-response.ts'
import { completionEvents } from '../../src/inference/convert/chat-to-response-events.ts'
import { toCompletion } from '../../src/inference/convert/message-to-chat.ts'
import { createCompletionChunks } from '../../src/inference/convert/message-to-chat-chunks.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'

const called = (name: string, args: object): ChatCompletion =>
  ({
    id: 'c',
    model: 'm',
    created: 1,
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
        },
      },
    ],
  }) as unknown as ChatCompletion

/** Tools of Responses that the client runs: what the model writes, and the item that the client gets and brings back. */
const OWN: [string, object, object, object, string][] = [
  [
    'local_shell',
    { command: ['ls', '-l'] },
    { type: 'local_shell_call', action: { type: 'exec', env: {}, command: ['ls', '-l'] } },
    { type: 'local_shell_call_output', id: 'call_1', output: '{"output":"a"}' },
    '{"output":"a"}',
  ],
  [
    'shell',
    { commands: ['ls'], timeout_ms: 1000 },
    { type: 'shell_call', action: { commands: ['ls'], timeout_ms: 1000 } },
    { type: 'shell_call_output', call_id: 'call_1', output: [{ stdout: 'a', stderr: '' }] },
    '[{"stdout":"a","stderr":""}]',
  ],
  [
    'apply_patch',
    { type: 'update_file', path: 'a', diff: '@@' },
    { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a', diff: '@@' } },
    { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'no such file' },
    'Failed. no such file',
  ],
]

describe('tools that the client runs, over another API', () => {
  for (const [type, args, item, output, said] of OWN)
    it(`are functions there, and calls of their own kind here: ${type} of Responses`, () => {
      const request = { model: 'm', input: 'Go.', tools: [{ type }] } as unknown as ResponseRequest
      const chat = toChatRequest(request) as unknown as { tools: { function: { name: string } }[] }
      assert.deepEqual(
        chat.tools.map(({ function: { name } }) => name),
        [type],
      )
      const [made] = toResponse(called(type, args), request).output
      assert.ok(made)
      assert.deepEqual({ ...made, id: 'x' }, { ...item, id: 'x', call_id: 'call_1', status: 'completed' })
      const [broken] = toResponse(called(type, {}), request).output
      assert.equal((broken as { status?: string }).status, 'incomplete')
      const events = completionEvents(called(type, args), request).map((event) => event.type)
      assert.deepEqual(events.slice(2), [
        'response.output_item.added',
        'response.output_item.done',
        'response.completed',
      ])
      const next = toChatRequest({ ...request, input: ['Go.', made, output].slice(1) } as unknown as ResponseRequest)
      const [call, result] = next.messages as unknown as [{ tool_calls: [{ function: object }] }, object]
      assert.deepEqual(call.tool_calls[0].function, {
        name: type,
        arguments: JSON.stringify(type === 'local_shell' ? { env: {}, ...args } : args),
      })
      assert.deepEqual(result, { role: 'tool', tool_call_id: 'call_1', content: said })
    })

  it('are functions with the documented schema over chat completions: typed tools of Messages', () => {
    const tools = [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      { type: 'computer_20250124', name: 'computer', display_width_px: 800, display_height_px: 600 },
      { type: 'memory_20250818', name: 'memory' },
    ]
    const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Go.' }], tools }
    const sent = toChatFromMessages(asked as never).tools as unknown as {
      function: { name: string; description: string; parameters: { properties: object } }
    }[]
    assert.deepEqual(
      sent.map(({ function: { name, parameters } }) => [name, Object.keys(parameters.properties)[0]]),
      [
        ['bash', 'command'],
        ['str_replace_based_edit_tool', 'command'],
        ['computer', 'action'],
        ['memory', 'command'],
      ],
    )
    assert.match(sent[2]?.function.description ?? '', /800 x 600/)
    const searches = { ...asked, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }
    assert.throws(() => toChatFromMessages(searches as never), { param: 'tools.0' })
  })

  it('have plain text in chat completions, and JSON in Messages: custom tools', () => {
    const request = {
      model: 'm',
      tools: [{ type: 'custom', custom: { name: 'patch' } }],
      messages: [
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'patch', input: '+x' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'done' },
      ],
    } as unknown as ChatRequest
    const { tools, messages } = toMessagesFromChat(request)
    assert.deepEqual((tools as { name: string }[] | undefined)?.[0]?.name, 'patch')
    const use = { type: 'tool_use', id: 'a', name: 'patch', input: { input: '+x' } }
    assert.deepEqual((messages[1] as { content: unknown }).content, [use])
    const custom = new Set(['patch'])
    const { choices } = toCompletion({ content: [use], stop_reason: 'tool_use' } as unknown as Message, custom)
    const call = { id: 'a', type: 'custom', custom: { name: 'patch', input: '+x' } }
    assert.deepEqual(choices[0]?.message.tool_calls, [call])
    const chunks = createCompletionChunks(custom)
    const deltas = [
      { type: 'content_block_start', index: 0, content_block: { ...use, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"input":' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"+x"}' } },
      { type: 'content_block_stop', index: 0 },
    ].flatMap(
      (event) => chunks.push(event) as { choices: [{ delta: { tool_calls: [{ custom: { input: string } }] } }] }[],
    )
    assert.deepEqual(
      deltas.map(({ choices: [{ delta }] }) => delta.tool_calls[0].custom.input),
      ['', '+x'],
    )
  })

  it('have names of at most 64 letters over chat completions, and their own in the answer', () => {
    const name = `mcp__${'x'.repeat(70)}`
    const request = { model: 'm', input: 'Go.', tools: [{ type: 'function', name }] } as unknown as ResponseRequest
    const chat = toChatRequest(request) as unknown as { tools: [{ function: { name: string } }] }
    const short = chat.tools[0].function.name
    assert.equal(short.length, 64)
    assert.equal((toResponse(called(short, {}), request).output[0] as { name?: string }).name, name)
  })
})
