import type { Said } from './clients.ts'

/** A form of an answer in which some provider differs from its reference. */
export interface AnswerQuirk {
  kind: string
  what: string
  source: string
  /** Events of its stream. */
  chat?: unknown[]
  messages?: unknown[]
  responses?: unknown[]
  /** The whole answer. Absent for a quirk of streams. */
  whole?: unknown
  /** Answer that a client must read. Null: an error, and no answer that looks complete. */
  expected: Said | null
  /** End of the stream. `packet`: it comes as one, with its end. A Message has none by default. */
  end?: 'done' | 'named done' | 'none' | 'break' | 'packet'
  /** True where the events of a Message have no names. */
  isUnnamed?: boolean
}

const said = (text: string, calls: Said['calls'] = [], thinking = ''): Said => ({ text, calls, thinking })
const LOOKED = said('', [['look', { at: 1 }]])
const TWICE = said('', [
  ['look', { at: 1 }],
  ['look', { at: 2 }],
])

const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const BEGIN = chunk({ role: 'assistant', content: '' })
const hello = (...more: unknown[]) => [BEGIN, chunk({ content: 'Hel' }), chunk({ content: 'lo' }), ...more]
const piece = (call: object) => chunk({ tool_calls: [call] })
const opened = (index: unknown, id: unknown, name: unknown = 'look', args: unknown = '') =>
  piece({ index, id, type: 'function', function: { name, arguments: args } })
const more = (index: unknown, args: unknown, fields: object = {}) =>
  piece({ index, ...fields, function: { arguments: args } })
const ENDED = chunk({}, 'tool_calls')

const whole = (message: object, finish_reason: unknown = 'stop', fields: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  ...fields,
})
const wholeCall = (call: object) => whole({ tool_calls: [{ id: 'a', type: 'function', ...call }] }, 'tool_calls')

type Row = [what: string, source: string, quirk: Omit<AnswerQuirk, 'kind' | 'what' | 'source'>]
const of = (kind: string, rows: Row[]): AnswerQuirk[] =>
  rows.map(([what, source, quirk]) => ({ kind, what, source, ...quirk }))

const OPENAI = 'OpenAI, reference'
const HELLO = said('Hello')

const ENDS = of('Ends of answers', [
  [
    'finish_reason stop after calls',
    'BerriAI/litellm#35663',
    { chat: [BEGIN, opened(0, 'a', 'look', '{"at":1}'), chunk({}, 'stop')], expected: LOOKED },
  ],
  [
    'no finish_reason after a call',
    'earendil-works/pi#6226',
    { chat: [BEGIN, opened(0, 'a', 'look', '{"at":1}')], expected: LOOKED },
  ],
  ['finish_reason null at the end', 'vllm-project/vllm#27572', { chat: hello(chunk({}, null)), expected: HELLO }],
  ['no finish_reason at all', 'vllm-project/vllm#27572', { chat: hello(), expected: HELLO }],
  [
    'an empty finish_reason with each chunk',
    'Ollama, reports',
    { chat: [chunk({ content: 'Hel' }, ''), chunk({ content: 'lo' }, ''), chunk({}, 'stop')], expected: HELLO },
  ],
  ['no [DONE]', 'vercel/ai#15373', { chat: hello(chunk({}, 'stop')), end: 'none', expected: HELLO }],
  [
    'finish_reason tool_calls without a call',
    'ollama/ollama#7963',
    { chat: hello(chunk({}, 'tool_calls')), expected: null },
  ],
  [
    'finish_reason length in capitals',
    'Google, finish reasons',
    { chat: hello(chunk({}, 'MAX_TOKENS')), expected: HELLO },
  ],
  ['eos', 'Hugging Face, text-generation-inference', { chat: hello(chunk({}, 'eos')), expected: HELLO }],
  ['end_turn', 'BerriAI/litellm#12481', { chat: hello(chunk({}, 'end_turn')), expected: HELLO }],
  ['the text with the end', OPENAI, { chat: [BEGIN, chunk({ content: 'Hello' }, 'stop')], expected: HELLO }],
  ['a connection that breaks', OPENAI, { chat: hello(), end: 'break', expected: null }],
  ['finish_reason error', 'OpenRouter, errors', { chat: hello(chunk({}, 'error')), expected: null }],
  [
    'an error in a chunk',
    'OpenRouter, errors',
    { chat: [...hello(), { error: { message: 'The worker died.', code: 502 } }], expected: null },
  ],
  [
    'an error as {"object": "error"}',
    'vLLM, errors',
    {
      chat: [...hello(), { object: 'error', message: 'The worker died.', type: 'InternalServerError', code: 500 }],
      expected: null,
    },
  ],
])

const USAGES = of('Usage and frames', [
  [
    'usage in a chunk without choices',
    'vercel/ai#15373',
    {
      chat: hello(chunk({}, 'stop'), {
        object: 'chat.completion.chunk',
        usage: USAGE,
        id: 'chatcmpl-1',
        created: 1,
        model: 'm',
        choices: [],
      }),
      expected: HELLO,
    },
  ],
  [
    'usage with the last chunk',
    'DeepSeek, reference',
    {
      chat: hello(chunk({}, 'stop', { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })),
      expected: HELLO,
    },
  ],
  [
    'usage with each chunk',
    'xAI, reference',
    {
      chat: hello(chunk({}, 'stop')).map((one) => ({
        ...(one as object),
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      })),
      expected: HELLO,
    },
  ],
  ['usage null', OPENAI, { chat: hello(chunk({}, 'stop', { usage: null })), expected: HELLO }],
  ['no usage', 'Ollama, reports', { chat: hello(chunk({}, 'stop')), expected: HELLO }],
  [
    'a role with each chunk',
    'Ollama, reports',
    {
      chat: [
        chunk({ role: 'assistant', content: 'Hel' }),
        chunk({ role: 'assistant', content: 'lo' }),
        chunk({ role: 'assistant', content: '' }, 'stop'),
      ],
      expected: HELLO,
    },
  ],
  [
    'content null with each chunk of a call',
    'vLLM, reports',
    {
      chat: [
        BEGIN,
        chunk({
          content: null,
          tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
        }),
        ENDED,
      ],
      expected: LOOKED,
    },
  ],
  [
    'an empty delta first',
    'Azure OpenAI, content filters',
    { chat: [chunk({}, null, { choices: [] }), ...hello(chunk({}, 'stop'))], expected: HELLO },
  ],
  [
    'a chunk after the end',
    'Azure OpenAI, content filters',
    { chat: hello(chunk({}, 'stop'), chunk({}, null, { choices: [] })), expected: HELLO },
  ],
])

const CALLS = of('Calls of tools', [
  [
    'arguments in the first chunk',
    'vercel/ai#2883',
    { chat: [BEGIN, opened(0, 'a', 'look', '{"at":1}'), ENDED], expected: LOOKED },
  ],
  [
    'arguments in pieces',
    OPENAI,
    { chat: [BEGIN, opened(0, 'a'), more(0, '{"at"'), more(0, ':1}'), ENDED], expected: LOOKED },
  ],
  [
    'no index',
    'Google, OpenAI compatibility',
    { chat: [BEGIN, opened(undefined, 'a', 'look', '{"at":1}'), ENDED], expected: LOOKED },
  ],
  [
    'index null',
    'Google, OpenAI compatibility',
    { chat: [BEGIN, opened(null, 'a', 'look', '{"at":1}'), ENDED], expected: LOOKED },
  ],
  [
    'two calls at one index',
    'BerriAI/litellm#37792',
    { chat: [BEGIN, opened(0, 'a', 'look', '{"at":1}'), opened(0, 'b', 'look', '{"at":2}'), ENDED], expected: TWICE },
  ],
  [
    'two calls without index',
    'Google, OpenAI compatibility',
    {
      chat: [BEGIN, opened(undefined, 'a', 'look', '{"at":1}'), opened(undefined, 'b', 'look', '{"at":2}'), ENDED],
      expected: TWICE,
    },
  ],
  [
    'two calls, interleaved',
    OPENAI,
    { chat: [BEGIN, opened(0, 'a'), opened(1, 'b'), more(0, '{"at":1}'), more(1, '{"at":2}'), ENDED], expected: TWICE },
  ],
  [
    'an id with each piece',
    'BerriAI/litellm#40040',
    {
      chat: [BEGIN, opened(0, 'a'), more(0, '{"at"', { id: 'a' }), more(0, ':1}', { id: 'a' }), ENDED],
      expected: LOOKED,
    },
  ],
  [
    'another id with each piece',
    'BerriAI/litellm#40040',
    {
      chat: [BEGIN, opened(0, 'a'), more(0, '{"at"', { id: 'b' }), more(0, ':1}', { id: 'c' }), ENDED],
      expected: LOOKED,
    },
  ],
  [
    'an empty id',
    'vLLM, reports',
    {
      chat: [BEGIN, opened(0, '', 'look', '{"at":1}'), ENDED],
      whole: whole(
        { tool_calls: [{ id: '', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }] },
        'tool_calls',
      ),
      expected: LOOKED,
    },
  ],
  [
    'the name again with each piece',
    'vLLM, reports',
    {
      chat: [BEGIN, opened(0, 'a'), piece({ index: 0, id: 'a', function: { name: '', arguments: '{"at":1}' } }), ENDED],
      expected: LOOKED,
    },
  ],
  [
    'no type',
    'vercel/ai, openai-compatible',
    {
      chat: [BEGIN, piece({ index: 0, id: 'a', function: { name: 'look', arguments: '{"at":1}' } }), ENDED],
      expected: LOOKED,
    },
  ],
  [
    'empty arguments',
    'BerriAI/litellm#37792',
    { chat: [BEGIN, opened(0, 'a', 'look', ''), ENDED], expected: said('', [['look', {}]]) },
  ],
  [
    'text before the call',
    OPENAI,
    { chat: hello(opened(0, 'a', 'look', '{"at":1}'), ENDED), expected: said('Hello', LOOKED.calls) },
  ],
  [
    'arguments that are cut off',
    'musistudio/claude-code-router, reports',
    { chat: [BEGIN, opened(0, 'a', 'look', '{"at":'), chunk({}, 'length')], expected: said('') },
  ],
  [
    'arguments that are cut off before tool_calls',
    'musistudio/claude-code-router, reports',
    { chat: [BEGIN, opened(0, 'a', 'look', '{"at":'), ENDED], end: 'packet', expected: null },
  ],
  [
    'arguments as an object',
    'BerriAI/litellm#37792',
    {
      chat: [BEGIN, opened(0, 'a', 'look', { at: 1 }), ENDED],
      whole: wholeCall({ function: { name: 'look', arguments: { at: 1 } } }),
      expected: LOOKED,
    },
  ],
  [
    'arguments encoded twice',
    'vLLM, tool parsers',
    { chat: [BEGIN, opened(0, 'a', 'look', '"{\\"at\\":1}"'), ENDED], expected: LOOKED },
  ],
  [
    'arguments of null',
    'zed-industries/zed#26144',
    {
      chat: [BEGIN, opened(0, 'a', 'look', null), more(0, 'nu'), more(0, 'll'), ENDED],
      whole: wholeCall({ function: { name: 'look', arguments: null } }),
      expected: said('', [['look', {}]]),
    },
  ],
  [
    'an empty name',
    'vLLM, reports',
    {
      chat: [BEGIN, opened(0, 'a', '', '{"at":1}'), ENDED],
      whole: wholeCall({ function: { name: '', arguments: '{"at":1}' } }),
      expected: null,
    },
  ],
  [
    'a whole call',
    OPENAI,
    {
      chat: [BEGIN, opened(0, 'a', 'look', '{"at":1}'), ENDED],
      whole: wholeCall({ function: { name: 'look', arguments: '{"at":1}' } }),
      expected: LOOKED,
    },
  ],
])

const THOUGHTS = of('Reasoning', [
  [
    'reasoning_content',
    'DeepSeek, reference',
    {
      chat: [BEGIN, chunk({ reasoning_content: 'Hm.' }), ...hello(chunk({}, 'stop'))],
      expected: said('Hello', [], 'Hm.'),
    },
  ],
  [
    'reasoning',
    'vLLM, reference',
    { chat: [BEGIN, chunk({ reasoning: 'Hm.' }), ...hello(chunk({}, 'stop'))], expected: said('Hello', [], 'Hm.') },
  ],
  [
    'reasoning_details',
    'OpenRouter, reasoning tokens',
    {
      chat: [
        BEGIN,
        chunk({ reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }] }),
        ...hello(chunk({}, 'stop')),
      ],
      expected: said('Hello', [], 'Hm.'),
    },
  ],
  [
    'an empty one with each chunk',
    'Alibaba Cloud, reports',
    { chat: hello(chunk({}, 'stop')).map((one) => one), expected: HELLO },
  ],
  [
    'reasoning null with the text',
    'vLLM, reports',
    {
      chat: [BEGIN, chunk({ content: 'Hello', reasoning_content: null, reasoning: null }), chunk({}, 'stop')],
      expected: HELLO,
    },
  ],
  [
    'before a call',
    'DeepSeek, reference',
    {
      chat: [BEGIN, chunk({ reasoning_content: 'Hm.' }), opened(0, 'a', 'look', '{"at":1}'), ENDED],
      expected: said('', LOOKED.calls, 'Hm.'),
    },
  ],
])

const begun = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const textBlock = (index: number, text: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text })
const useBlock = (index: number, input: object, ...json: string[]) =>
  block(
    index,
    { type: 'tool_use', id: `toolu_${index}`, name: 'look', input },
    ...json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  )
const stop = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const ANTHROPIC = 'Anthropic, streaming Messages'
const MESSAGES = of('Answers of Messages', [
  ['text', ANTHROPIC, { messages: [begun, ...textBlock(0, 'Hello'), ...stop('end_turn')], expected: HELLO }],
  [
    'pings between events',
    ANTHROPIC,
    {
      messages: [begun, { type: 'ping' }, ...textBlock(0, 'Hello'), { type: 'ping' }, ...stop('end_turn')],
      expected: HELLO,
    },
  ],
  [
    'message_start twice',
    'BerriAI/litellm#32357',
    { messages: [begun, begun, ...textBlock(0, 'Hello'), ...stop('end_turn')], expected: HELLO },
  ],
  [
    'thinking in a block of text',
    'BerriAI/litellm#33224',
    {
      messages: [
        begun,
        ...block(
          0,
          { type: 'text', text: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'text_delta', text: 'Hello' },
        ),
        ...stop('end_turn'),
      ],
      expected: said('Hello', [], 'Hm.'),
    },
  ],
  [
    'text in the start of its block',
    ANTHROPIC,
    { messages: [begun, ...block(0, { type: 'text', text: 'Hello' }), ...stop('end_turn')], expected: HELLO },
  ],
  [
    'thinking with a signature',
    ANTHROPIC,
    {
      messages: [
        begun,
        ...block(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'abc' },
        ),
        ...textBlock(1, 'Hello'),
        ...stop('end_turn'),
      ],
      expected: said('Hello', [], 'Hm.'),
    },
  ],
  [
    'redacted thinking',
    ANTHROPIC,
    {
      messages: [
        begun,
        ...block(0, { type: 'redacted_thinking', data: 'abc' }),
        ...textBlock(1, 'Hello'),
        ...stop('end_turn'),
      ],
      expected: HELLO,
    },
  ],
  [
    'a call in pieces',
    ANTHROPIC,
    { messages: [begun, ...useBlock(0, {}, '', '{"at"', ':1}'), ...stop('tool_use')], expected: LOOKED },
  ],
  [
    'two calls',
    ANTHROPIC,
    {
      messages: [begun, ...useBlock(0, {}, '{"at":1}'), ...useBlock(1, {}, '{"at":2}'), ...stop('tool_use')],
      expected: TWICE,
    },
  ],
  [
    'a call without input',
    ANTHROPIC,
    { messages: [begun, ...useBlock(0, {}), ...stop('tool_use')], expected: said('', [['look', {}]]) },
  ],
  ['max_tokens', ANTHROPIC, { messages: [begun, ...textBlock(0, 'Hello'), ...stop('max_tokens')], expected: HELLO }],
  ['pause_turn', ANTHROPIC, { messages: [begun, ...textBlock(0, 'Hello'), ...stop('pause_turn')], expected: HELLO }],
  ['refusal', ANTHROPIC, { messages: [begun, ...textBlock(0, 'Hello'), ...stop('refusal')], expected: HELLO }],
  [
    'a search of the provider',
    ANTHROPIC,
    {
      messages: [
        begun,
        ...block(
          0,
          { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          { type: 'input_json_delta', partial_json: '{}' },
        ),
        ...textBlock(1, 'Hello'),
        ...stop('end_turn'),
      ],
      expected: HELLO,
    },
  ],
  [
    'an error event',
    ANTHROPIC,
    {
      messages: [
        begun,
        ...textBlock(0, 'Hello'),
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ],
      expected: null,
    },
  ],
  [
    'a connection that breaks',
    ANTHROPIC,
    { messages: [begun, ...textBlock(0, 'Hello')], end: 'break', expected: null },
  ],
])

const answeredHello = [begun, ...textBlock(0, 'Hello'), ...stop('end_turn')]
const FRAMES = of('Frames of Messages', [
  ['[DONE] at the end', 'vllm-project/vllm#37510', { messages: answeredHello, end: 'done', expected: HELLO }],
  ['an event done', 'earendil-works/pi#3708', { messages: answeredHello, end: 'named done', expected: HELLO }],
  [
    '[DONE] for message_stop',
    'huggingface/tau#692',
    { messages: answeredHello.slice(0, -1), end: 'done', expected: HELLO },
  ],
  ['no message_stop', 'huggingface/tau#692', { messages: answeredHello.slice(0, -1), expected: HELLO }],
  [
    '[DONE] before the end',
    'huggingface/tau#692',
    { messages: [begun, ...textBlock(0, 'Hello')], end: 'done', expected: null },
  ],
  ['events without names', 'earendil-works/pi#1983', { messages: answeredHello, isUnnamed: true, expected: HELLO }],
  [
    'a call in events without names',
    'earendil-works/pi#1983',
    {
      messages: [begun, ...useBlock(0, {}, '{"at"', ':1}'), ...stop('tool_use')],
      isUnnamed: true,
      end: 'done',
      expected: LOOKED,
    },
  ],
  [
    'an error as {"object": "error"}',
    'vLLM, errors',
    {
      messages: [
        begun,
        ...textBlock(0, 'Hello'),
        { object: 'error', message: 'The worker died.', type: 'InternalServerError', code: 500 },
      ],
      end: 'done',
      expected: null,
    },
  ],
  [
    'an error without a type',
    'OpenRouter, errors',
    { messages: [begun, ...textBlock(0, 'Hello'), { error: { message: 'The worker died.' } }], expected: null },
  ],
  ['an error alone', 'vLLM, errors', { messages: [{ object: 'error', message: 'Full.', code: 503 }], expected: null }],
])

const wholeMessage = (stop_reason: string, ...content: object[]) => ({ ...begun.message, content, stop_reason })
const used = (fields: object) => ({ type: 'tool_use', id: 'toolu_0', name: 'look', input: { at: 1 }, ...fields })
const start = (index: number, fields: object, ...json: string[]) => [
  ...block(
    index,
    used({ input: {}, ...fields }),
    ...json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  ),
]
const BROKEN_USES = of('Broken calls of Messages', [
  [
    'an empty id',
    'vLLM, reports',
    {
      messages: [begun, ...start(0, { id: '' }, '{"at":1}'), ...stop('tool_use')],
      whole: wholeMessage('tool_use', used({ id: '' })),
      expected: LOOKED,
    },
  ],
  [
    'an empty name',
    'vLLM, reports',
    {
      messages: [begun, ...start(0, { name: '' }, '{"at":1}'), ...stop('tool_use')],
      whole: wholeMessage('tool_use', used({ name: '' })),
      expected: null,
    },
  ],
  [
    'stop_reason tool_use without a call',
    'ollama/ollama#7963',
    {
      messages: [begun, ...textBlock(0, 'Hello'), ...stop('tool_use')],
      whole: wholeMessage('tool_use', { type: 'text', text: 'Hello' }),
      expected: null,
    },
  ],
  [
    'an input that is cut off',
    'musistudio/claude-code-router, reports',
    { messages: [begun, ...useBlock(0, {}, '{"at"', ':'), ...stop('tool_use')], expected: null },
  ],
  [
    'an input that max_tokens cuts off',
    ANTHROPIC,
    { messages: [begun, ...useBlock(0, {}, '{"at"', ':'), ...stop('max_tokens')], expected: said('') },
  ],
  [
    'an input encoded twice',
    'huggingface/smolagents#1003',
    {
      messages: [begun, ...useBlock(0, {}, '"{\\"at', '\\":1}"'), ...stop('tool_use')],
      whole: wholeMessage('tool_use', used({ input: '{"at":1}' })),
      expected: LOOKED,
    },
  ],
  [
    'an input of null',
    'zed-industries/zed#26144',
    {
      messages: [begun, ...useBlock(0, {}, 'null'), ...stop('tool_use')],
      whole: wholeMessage('tool_use', used({ input: null })),
      expected: said('', [['look', {}]]),
    },
  ],
  [
    'an input in content_block_start',
    'rescrv/claudius#53',
    { messages: [begun, ...useBlock(0, { at: 1 }), ...stop('tool_use')], expected: LOOKED },
  ],
  [
    'two calls at one index',
    'BerriAI/litellm#37792',
    {
      messages: [
        begun,
        ...useBlock(0, {}, '{"at":1}'),
        ...start(0, { id: 'toolu_1' }, '{"at":2}'),
        ...stop('tool_use'),
      ],
      expected: TWICE,
    },
  ],
])

const functionCall = (fields: object = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  arguments: '{"at":1}',
  status: 'completed',
  ...fields,
})
const response = (status: string, output: object[], more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'm',
  status,
  error: null,
  incomplete_details: null,
  output,
  parallel_tool_calls: true,
  tools: [],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  ...more,
})
/** Stream of a Response with one call, whose arguments come in pieces. */
const calling = (item: object, pieces: string[], last: object = response('completed', [item])) => {
  const { id, arguments: args } = item as Record<string, unknown>
  const at = { item_id: id, output_index: 0 }
  const { status } = last as { status: string }
  return [
    { type: 'response.created', response: response('in_progress', []) },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } },
    ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, arguments: args },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: `response.${status}`, response: last },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}
const called = (fields: object, ...pieces: string[]) => ({
  responses: calling(functionCall(fields), pieces),
  whole: response('completed', [functionCall(fields)]),
})
const CUT = functionCall({ arguments: '{"at"' })
const RESPONSES = of('Calls of Responses', [
  ['arguments in pieces', OPENAI, { ...called({}, '{"at"', ':1}'), expected: LOOKED }],
  ['an empty id', 'vLLM, reports', { ...called({ call_id: '' }, '{"at":1}'), expected: LOOKED }],
  ['an empty name', 'vLLM, reports', { ...called({ name: '' }, '{"at":1}'), expected: null }],
  [
    'arguments that are cut off',
    'musistudio/claude-code-router, reports',
    { ...called({ arguments: '{"at"' }, '{"at"'), expected: null },
  ],
  [
    'arguments that max_output_tokens cuts off',
    OPENAI,
    {
      responses: calling(
        CUT,
        ['{"at"'],
        response('incomplete', [CUT], { incomplete_details: { reason: 'max_output_tokens' } }),
      ),
      expected: said(''),
    },
  ],
  [
    'arguments encoded twice',
    'huggingface/smolagents#1003',
    { ...called({ arguments: '"{\\"at\\":1}"' }, '"{\\"at', '\\":1}"'), expected: LOOKED },
  ],
  [
    'arguments of null',
    'zed-industries/zed#26144',
    { ...called({ arguments: 'null' }, 'null'), expected: said('', [['look', {}]]) },
  ],
  ['empty arguments', 'sigoden/aichat#1217', { ...called({ arguments: '' }), expected: said('', [['look', {}]]) }],
])

/** Quirks of answers, by kind. */
export const ANSWER_QUIRKS: readonly AnswerQuirk[] = [
  ...ENDS,
  ...USAGES,
  ...CALLS,
  ...THOUGHTS,
  ...MESSAGES,
  ...FRAMES,
  ...BROKEN_USES,
  ...RESPONSES,
]
