import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChatCompletion, ResponseRequest } from '../../src/inference/api/requests.ts'
import { toResponse, toResponseUsage } from '../../src/inference/convert/chat-to-response.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'

const search = { type: 'web_search' }

/** The keys that a ResponseResource must have (https://www.openresponses.org/reference). */
const REQUIRED = `id object created_at completed_at status incomplete_details model previous_response_id instructions
  output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty
  top_logprobs temperature reasoning user usage max_output_tokens max_tool_calls store background service_tier metadata
  safety_identifier prompt_cache_key`.split(/\s+/)

function completion(message: object, finish_reason = 'stop', more: object = {}): ChatCompletion {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'llm-1',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason, logprobs: null }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...more,
  } as unknown as ChatCompletion
}
const convert = (message: object, finish = 'stop', request: unknown = { input: 'Hello' }) =>
  toResponse(completion(message, finish), request as ResponseRequest)

describe('a chat completion as a Response', () => {
  it('has every key that Open Responses requires, none of them undefined', () => {
    const response = JSON.parse(JSON.stringify(convert({ content: 'Hi.' })))
    assert.deepEqual(
      REQUIRED.filter((key) => !(key in response)),
      [],
    )
    assert.deepEqual(
      [response.object, response.model, response.created_at, response.status, response.error, response.user],
      ['response', 'llm-1', 1_700_000_000, 'completed', null, null],
    )
    assert.ok(Number.isInteger(response.completed_at))
    assert.match(response.id, /^resp_gzw_[0-9a-f]{48}$/)
  })

  it('echoes the request, its tools with every key and without those that chat completions has not', () => {
    const request = {
      input: 'Hello',
      instructions: 'Be short.',
      temperature: 0.2,
      presence_penalty: 0.5,
      metadata: { a: 'b' },
      tools: [{ type: 'web_search' }, { type: 'function', name: 'look' }],
      tool_choice: { type: 'web_search' },
      text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } }, verbosity: 'low' },
      store: true,
    }
    const response = convert({ content: '{}' }, 'stop', request) as unknown as Record<string, unknown>
    assert.deepEqual(response.tools, [
      { type: 'function', name: 'look', description: null, parameters: null, strict: null },
    ])
    assert.equal(response.tool_choice, 'auto')
    assert.deepEqual(response.text, {
      format: { type: 'json_schema', name: 'a', description: null, schema: { type: 'object' }, strict: false },
      verbosity: 'low',
    })
    assert.deepEqual(
      [response.instructions, response.temperature, response.presence_penalty, response.metadata, response.store],
      ['Be short.', 0.2, 0.5, { a: 'b' }, false],
    )
  })

  it('holds reasoning, text with citations, refusal and calls as items in this order', () => {
    const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 }
    const { output, output_text } = convert({
      reasoning_content: 'Let me see.',
      content: 'Hi.',
      annotations: [{ type: 'url_citation', url_citation }],
      refusal: 'No.',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
        { id: 'c2', type: 'function', function: { name: 'stop', arguments: '' } },
      ],
    })
    const plain = output.map((item) => ({ ...item, id: undefined }))
    const status = 'completed'
    assert.deepEqual(plain, [
      { type: 'reasoning', id: undefined, status, summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      {
        type: 'message',
        id: undefined,
        status,
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'Hi.',
            annotations: [{ type: 'url_citation', ...url_citation }],
            logprobs: [],
          },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      { type: 'function_call', id: undefined, status, call_id: 'c1', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call', id: undefined, status, call_id: 'c2', name: 'stop', arguments: '{}' },
    ])
    assert.equal(output_text, 'Hi.')
    assert.equal(new Set(output.map((item) => item.id)).size, 4)
  })

  it('gives an answer without anything as an empty message', () => {
    const [item, ...others] = convert({ content: null }).output
    assert.deepEqual(item?.type === 'message' && item.content, [
      { type: 'output_text', text: '', annotations: [], logprobs: [] },
    ])
    assert.equal(others.length, 0)
  })

  it('reads text in parts and arguments that are parsed, as some upstreams send them', () => {
    const { output_text, output } = convert({
      content: [
        { type: 'text', text: 'H' },
        { type: 'text', text: 'i' },
      ],
      tool_calls: [{ id: '', function: { name: 'look', arguments: { at: 1 } } }],
    })
    assert.equal(output_text, 'Hi')
    const call = output.find((item) => item.type === 'function_call')
    assert.equal(call?.arguments, '{"at":1}')
    assert.match(call?.call_id ?? '', /^call_/)
  })

  const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me see.' }] }]
  for (const [name, message] of Object.entries({
    'the second of two names': { reasoning_content: '', reasoning: 'Let me see.', content: 'Hi.' },
    'the first of two names': { reasoning_content: 'Let me see.', reasoning: 'Let me see.', content: 'Hi.' },
    'the parts of the content': { reasoning_content: null, content: [...thinking, { type: 'text', text: 'Hi.' }] },
  }))
    it(`finds the thoughts under ${name}`, () => {
      const { output, output_text } = convert(message)
      const [item] = output
      assert.deepEqual(item?.type === 'reasoning' && item.summary, [{ type: 'summary_text', text: 'Let me see.' }])
      assert.equal(output_text, 'Hi.')
    })

  it('turns the call of a custom tool back', () => {
    const call = (args: string) => ({ id: 'c1', type: 'function', function: { name: 'patch', arguments: args } })
    const request = { input: 'Go', tools: [{ type: 'custom', name: 'patch' }] }
    const [item] = convert({ tool_calls: [call('{"input":"a\\nb"}')] }, 'tool_calls', request).output
    assert.equal(item?.type === 'custom_tool_call' && item.input, 'a\nb')
    const [cut] = convert({ tool_calls: [call('{"input":"a')] }, 'length', request).output
    assert.equal(cut?.type === 'custom_tool_call' && cut.input, '{"input":"a')
  })

  it('turns the call of a tool in a namespace back', () => {
    const call = (name: string, args: string) => ({ id: 'c1', type: 'function', function: { name, arguments: args } })
    const tools = [
      { type: 'function', name: 'look' },
      { type: 'function', name: 'mcp__a__look' },
      { type: 'namespace', name: 'mcp__a', tools: [{ type: 'function', name: 'look' }] },
      { type: 'namespace', name: 'mcp__b', tools: [search, { type: 'custom', name: 'patch' }] },
    ]
    const request = { input: 'Go', tools } as unknown as ResponseRequest
    const names = (toChatRequest(request).tools ?? []).map((tool) =>
      tool.type === 'function' ? tool.function.name : '',
    )
    const tool_calls = names.map((name) => call(name, '{"input":"x"}'))
    const response = convert({ tool_calls: [...tool_calls, call('mcp__b__look', '{}')] }, 'tool_calls', request)
    assert.deepEqual(
      response.output.map((item) => ({ ...item, id: undefined, status: undefined, call_id: undefined })),
      [
        { type: 'function_call', name: 'look', arguments: '{"input":"x"}' },
        { type: 'function_call', name: 'mcp__a__look', arguments: '{"input":"x"}' },
        { type: 'function_call', name: 'look', namespace: 'mcp__a', arguments: '{"input":"x"}' },
        { type: 'custom_tool_call', name: 'patch', namespace: 'mcp__b', input: 'x' },
        { type: 'function_call', name: 'mcp__b__look', arguments: '{}' },
      ].map((item) => ({ ...item, id: undefined, status: undefined, call_id: undefined })),
    )
    const known = { description: null, parameters: null, strict: null }
    assert.deepEqual(response.tools.slice(2), [
      { type: 'namespace', name: 'mcp__a', tools: [{ type: 'function', name: 'look', ...known }] },
      { type: 'namespace', name: 'mcp__b', tools: [{ type: 'custom', name: 'patch' }] },
    ])
  })

  for (const [finish, reason] of [
    ['length', 'max_output_tokens'],
    ['model_context_window_exceeded', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
    ['sensitive', 'content_filter'],
  ] as const)
    it(`is incomplete on ${finish}, and so is its last item alone`, () => {
      const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a' } }]
      const { status, incomplete_details, completed_at, output } = convert({ content: 'Hi', tool_calls }, finish)
      assert.deepEqual([status, incomplete_details, completed_at], ['incomplete', { reason }, null])
      assert.deepEqual(
        output.map((item) => 'status' in item && item.status),
        ['completed', 'incomplete'],
      )
    })

  it('counts the usage, with reasoning in the output where the upstream counts it apart', () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    }
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 15,
    }
    const reported = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...details }
    assert.deepEqual(toResponseUsage(reported), usage)
    assert.deepEqual(toResponseUsage({ ...reported, completion_tokens: 2 }), usage)
    const withoutDetails = { ...usage, output_tokens_details: { reasoning_tokens: 0 } }
    const total = { prompt_tokens: 10, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } }
    for (const reportedInTotal of [total, { ...total, completion_tokens: 1 }])
      assert.deepEqual(toResponseUsage(reportedInTotal as never), withoutDetails)
    assert.equal(toResponseUsage(undefined), null)
    assert.equal(toResponseUsage({ total_tokens: 3 } as never), null)
  })

  it('keeps log probabilities, with every key', () => {
    const content = [
      { token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [{ token: 'Ho', logprob: -2, bytes: [1] }] },
    ]
    const whole = completion({ content: 'Hi' })
    const choices = whole.choices.map((choice) => ({ ...choice, logprobs: { content, refusal: null } }))
    const [item] = toResponse({ ...whole, choices }, { input: 'Hello' }).output
    assert.deepEqual(item?.type === 'message' && item.content[0]?.type === 'output_text' && item.content[0].logprobs, [
      { token: 'Hi', logprob: -0.1, bytes: [], top_logprobs: [{ token: 'Ho', logprob: -2, bytes: [1] }] },
    ])
  })
})
