import type { Dialect } from '../doubles/dialects.ts'
import type { Path } from './clients.ts'

/** A form of a request that some provider refuses. */
export interface RequestQuirk {
  kind: string
  what: string
  /** Public report, or the reference that it was written from. */
  source: string
  /** Chat dialect that is asked. */
  at: Dialect
  /** Fields of the request by the API of the client, which exist there. */
  asked: Partial<Record<Path, object>>
  headers?: Record<string, string>
}

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, more: object = {}) => ({ role: 'assistant', content, ...more })
const system = (content: unknown) => ({ role: 'system', content })
const text = (said: string, more: object = {}) => ({ type: 'text', text: said, ...more })
const EPHEMERAL = { cache_control: { type: 'ephemeral' } }

// One tool in the words of each API.
const tool = (parameters: unknown, more: { name?: string; strict?: boolean } = {}) => {
  const { name = 'look', strict } = more
  const own = strict === undefined ? {} : { strict }
  return {
    M: { tools: [{ name, input_schema: parameters, ...own }] },
    R: { tools: [{ type: 'function', name, parameters, ...own }] },
    C: { tools: [{ type: 'function', function: { name, parameters, ...own } }] },
  }
}

// One conversation in the words of each API: user, calls, results, and what follows.
const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'look', input })
const result = (tool_use_id: string, content: unknown = 'a cat') => ({ type: 'tool_result', tool_use_id, content })
const call = (id: string, args = '{}') => ({ id, type: 'function', function: { name: 'look', arguments: args } })
const called = (call_id: string, args = '{}') => ({ type: 'function_call', call_id, name: 'look', arguments: args })
const output = (call_id: string, said: unknown = 'a cat') => ({ type: 'function_call_output', call_id, output: said })
const toolMessage = (tool_call_id: string, content: unknown = 'a cat') => ({ role: 'tool', tool_call_id, content })

function turns(calls: readonly string[], results: readonly string[], args?: string) {
  const input = args === undefined ? {} : { unreadable: args }
  return {
    M: {
      messages: [
        user('Look.'),
        ...(calls.length > 0 ? [assistant(calls.map((id) => use(id, input)))] : [assistant('Well.')]),
        user([...results.map((id) => result(id)), text('Go on.')]),
      ],
    },
    R: {
      input: [
        user('Look.'),
        ...calls.map((id) => called(id, args)),
        ...results.map((id) => output(id)),
        user('Go on.'),
      ],
    },
    C: {
      messages: [
        user('Look.'),
        ...(calls.length > 0 ? [assistant(null, { tool_calls: calls.map((id) => call(id, args)) })] : []),
        ...results.map((id) => toolMessage(id)),
        user('Go on.'),
      ],
    },
  }
}

const same = (fields: object, ...paths: Path[]) => Object.fromEntries(paths.map((path) => [path, fields]))
const PNG = 'iVBORw0KGgo='
const picture = (url: string) => ({
  R: { input: [user([{ type: 'input_image', image_url: url }])] },
  C: { messages: [user([{ type: 'image_url', image_url: { url } }])] },
})
const mediaSource = (media_type: string, data = PNG) => ({ type: 'base64', media_type, data })
const image = (source: object) => ({ messages: [user([{ type: 'image', source }, text('What is it?')])] })
const document = (source: object, more: object = {}) => ({ messages: [user([{ type: 'document', source, ...more }])] })
const file = (fields: object) => ({ messages: [user([{ type: 'file', file: fields }])] })
const inputFile = (fields: object) => ({ input: [user([{ type: 'input_file', ...fields }])] })
const TEXT_URL = 'data:text/markdown;base64,IyBUaXRsZQ=='
const PDF_URL = 'data:application/pdf;base64,JVBERi0='

const ANTHROPIC = 'Anthropic, reference of Messages'
const OPENAI = 'OpenAI, reference'
const OBJECT = { type: 'object', properties: { a: { type: 'string' } } }

type Row = [what: string, source: string, at: Dialect, asked: RequestQuirk['asked'], headers?: Record<string, string>]
const of = (kind: string, rows: Row[]): RequestQuirk[] =>
  rows.map(([what, source, at, asked, headers]) => ({ kind, what, source, at, asked, ...(headers && { headers }) }))

const SYSTEM = of('System messages', [
  [
    'two at the head',
    'vllm-project/vllm#41114',
    'Qwen template',
    {
      C: { messages: [system('a'), system('b'), user('Hello')] },
      R: { instructions: 'a', input: [system('b'), user('Hello')] },
    },
  ],
  [
    'one in the middle',
    'vllm-project/vllm#41114',
    'Qwen template',
    {
      C: { messages: [user('Hi'), system('b'), user('Hello')] },
      R: { input: [user('Hi'), { role: 'developer', content: 'b' }, user('Hello')] },
      M: { system: 'a', messages: [user('Hi'), system('b'), user('Hello')] },
    },
  ],
  [
    'at a model without the role',
    'google-deepmind/gemma, chat template',
    'Gemma template',
    { C: { messages: [system('a'), user('Hello')] }, R: { instructions: 'a' }, M: { system: 'a' } },
  ],
  [
    'the role developer',
    OPENAI,
    'vLLM',
    {
      C: { messages: [{ role: 'developer', content: 'a' }, user('Hello')] },
      R: { input: [{ role: 'developer', content: 'a' }, user('Hello')] },
    },
  ],
  [
    'as a list of parts',
    ANTHROPIC,
    'OpenAI',
    { M: { system: [text('a'), text('b', EPHEMERAL)] }, C: { messages: [system([text('a')]), user('Hello')] } },
  ],
  [
    'empty',
    ANTHROPIC,
    'Gemini',
    { M: { system: '' }, R: { instructions: '' }, C: { messages: [system(''), user('Hello')] } },
  ],
])

const PAIRS = of('Tool calls and results', [
  ['a call without a result', 'anthropics/claude-code#7796', 'OpenAI', turns(['a'], [])],
  ['a result without a call', 'anthropics/claude-code#12692', 'OpenAI', turns([], ['a'])],
  ['one of two results is missing', 'anthropics/claude-code#6836', 'DeepSeek', turns(['a', 'b'], ['a'])],
  ['a result twice', 'anthropics/claude-code#6836', 'OpenAI', turns(['a'], ['a', 'a'])],
  ['results in another order', OPENAI, 'Mistral', turns(['aaaaaaaaa', 'bbbbbbbbb'], ['bbbbbbbbb', 'aaaaaaaaa'])],
  ['an id of 53 characters', OPENAI, 'OpenAI', turns(['x'.repeat(53)], ['x'.repeat(53)])],
  ['an id that is no nine letters', 'Mistral, mistral-common', 'Mistral', turns(['call_1'], ['call_1'])],
  ['an id with other letters', ANTHROPIC, 'OpenAI', turns(['call:1.a'], ['call:1.a'])],
  [
    'arguments that were cut off',
    'vLLM, chat templates',
    'vLLM',
    { ...turns(['a'], ['a'], '{"path": "x'), M: turns(['a'], ['a']).M },
  ],
  [
    'arguments encoded twice',
    'vLLM, chat templates',
    'Qwen template',
    { R: turns(['a'], ['a'], '"{\\"b\\":1}"').R, C: turns(['a'], ['a'], '"{\\"b\\":1}"').C },
  ],
  ['empty arguments', 'BerriAI/litellm#37792', 'vLLM', { R: turns(['a'], ['a'], '').R, C: turns(['a'], ['a'], '').C }],
  [
    'calls are the last turn',
    'anthropics/claude-code#3149',
    'OpenAI',
    {
      M: { messages: [user('Look.'), assistant([use('a')])] },
      C: { messages: [user('Look.'), assistant(null, { tool_calls: [call('a')] })] },
      R: { input: [user('Look.'), called('a')] },
    },
  ],
  [
    'a result with an image',
    ANTHROPIC,
    'OpenAI',
    {
      M: {
        messages: [
          user('Look.'),
          assistant([use('a')]),
          user([result('a', [text('it'), { type: 'image', source: mediaSource('image/png') }])]),
        ],
      },
      R: {
        input: [
          user('Look.'),
          called('a'),
          output('a', [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }]),
        ],
      },
    },
  ],
  [
    'a result that is an error',
    ANTHROPIC,
    'OpenAI',
    { M: { messages: [user('Look.'), assistant([use('a')]), user([{ ...result('a'), is_error: true }])] } },
  ],
  [
    'a result without content',
    ANTHROPIC,
    'DeepSeek',
    {
      M: { messages: [user('Look.'), assistant([use('a')]), user([{ type: 'tool_result', tool_use_id: 'a' }])] },
      C: { messages: [user('Look.'), assistant(null, { tool_calls: [call('a')] }), toolMessage('a', '')] },
      R: { input: [user('Look.'), called('a'), output('a', '')] },
    },
  ],
  [
    'text after the calls of a turn',
    ANTHROPIC,
    'OpenAI',
    {
      M: { messages: [user('Look.'), assistant([use('a'), text('Wait.')]), user([result('a')])] },
      R: { input: [user('Look.'), called('a'), assistant('Wait.'), output('a')] },
    },
  ],
])

const TURNS = of('Order of turns', [
  ['text beside results', 'mistralai/mistral-common#169', 'Mistral', turns(['aaaaaaaaa'], ['aaaaaaaaa'])],
  [
    'the user twice',
    'vllm-project/vllm#6862',
    'Gemma template',
    {
      M: { messages: [user('Hi'), user([text('Hello')])] },
      R: { input: [user('Hi'), user('Hello')] },
      C: { messages: [user('Hi'), user([text('Hello')])] },
    },
  ],
  [
    'an answer at the end',
    'router-for-me/CLIProxyAPI#5319',
    'OpenAI',
    {
      M: { messages: [user('Hi'), assistant('Hel')] },
      R: { input: [user('Hi'), assistant('Hel')] },
      C: { messages: [user('Hi'), assistant('Hel')] },
    },
  ],
])

/** Steps of one turn: calls, each with its result. */
const steps = (...all: string[][]) => ({
  M: {
    messages: [
      user('Look.'),
      ...all.flatMap((ids) => [assistant(ids.map((id) => use(id))), user(ids.map((id) => result(id)))]),
    ],
  },
  R: {
    input: [user('Look.'), ...all.flatMap((ids) => [...ids.map((id) => called(id)), ...ids.map((id) => output(id))])],
  },
  C: {
    messages: [
      user('Look.'),
      ...all.flatMap((ids) => [
        assistant(null, { tool_calls: ids.map((id) => call(id)) }),
        ...ids.map((id) => toolMessage(id)),
      ]),
    ],
  },
})
const answered = (more: object, ofCall: object = {}) => ({
  C: {
    messages: [
      user('Look.'),
      assistant(null, { tool_calls: [{ ...call('a'), ...ofCall }], ...more }),
      toolMessage('a'),
    ],
  },
})
const signed = (thought_signature: string) => answered({}, { extra_content: { google: { thought_signature } } })
const SIGNATURES = 'Google, thought signatures'
const THINKING = 'DeepSeek, thinking mode'

const EARLIER = of('Reasoning of earlier answers', [
  ['a call without its reasoning', THINKING, 'DeepSeek, thinking', steps(['a'])],
  ['two steps without reasoning', 'anomalyco/opencode#24722', 'DeepSeek, thinking', steps(['a'], ['b'])],
  ['a call of an earlier turn without its reasoning', THINKING, 'DeepSeek, thinking', turns(['a'], ['a'])],
  ['a call with its reasoning', THINKING, 'DeepSeek, thinking', answered({ reasoning_content: 'Hm.' })],
  ['a call without a signature', SIGNATURES, 'Gemini 3', steps(['a'])],
  ['calls at once without a signature', SIGNATURES, 'Gemini 3', steps(['a', 'b'])],
  ['two steps without a signature', 'karthink/gptel#1146', 'Gemini 3', steps(['a'], ['b'])],
  ['a call of an earlier turn without a signature', SIGNATURES, 'Gemini 3', turns(['a'], ['a'])],
  ['a call with its signature', SIGNATURES, 'Gemini 3', signed('own')],
  ['a call with the signature of another model', 'lbjlaq/Antigravity-Manager#970', 'Gemini 3', signed('foreign')],
])

const FORMS = of('Form of messages', [
  [
    'texts as parts',
    'BerriAI/litellm#6642',
    'DeepSeek, at first',
    {
      M: { system: [text('a')], messages: [user([text('Hello')])] },
      R: { input: [user([{ type: 'input_text', text: 'Hello' }])] },
      C: { messages: [system([text('a')]), user([text('Hello')])] },
    },
  ],
  ['no content beside calls', 'lmstudio-ai/lmstudio-bug-tracker#261', 'LM Studio', steps(['a'])],
  [
    'fields of an answer that come back',
    'run-llama/llama_index#14701',
    'Groq',
    {
      C: { messages: [user('Hi'), assistant('b', { refusal: null, annotations: [], status: 'done' }), user('Hello')] },
    },
  ],
  [
    'empty lists',
    'openai/openai-node#1341',
    'OpenAI',
    {
      M: { tools: [] },
      R: { tools: [], tool_choice: 'auto' },
      C: { tools: [], tool_choice: 'auto', messages: [user('Hi'), assistant('b', { tool_calls: [] }), user('Hello')] },
    },
  ],
])

const twice = (one: object) => Object.fromEntries(Object.entries(one).map(([name, [only]]) => [name, [only, only]]))

const SCHEMAS = of('Schemas and tools', [
  ['{"type": "object"} without properties', OPENAI, 'OpenAI', tool({ type: 'object' })],
  ['{}', OPENAI, 'OpenAI', tool({})],
  [
    'anyOf at the top',
    'anthropics/claude-code#5973',
    'OpenAI',
    tool({ type: 'object', anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }),
  ],
  [
    'oneOf at the top',
    'anthropics/claude-code#40075',
    'OpenAI',
    tool({ oneOf: [OBJECT, { type: 'object', properties: { b: {} } }] }),
  ],
  [
    'allOf at the top',
    'anthropics/claude-code#27337',
    'OpenAI',
    tool({ allOf: [OBJECT, { type: 'object', properties: { b: {} } }] }),
  ],
  ['required routes as anyOf', 'anomalyco/opencode#35516', 'OpenAI', tool({ ...OBJECT, anyOf: [{ required: ['a'] }] })],
  ['additionalProperties', 'Google, function declarations', 'Gemini', tool({ ...OBJECT, additionalProperties: false })],
  [
    '$schema and additionalProperties deep in it',
    'Google, function declarations',
    'Gemini',
    tool({
      $schema: 'x',
      type: 'object',
      properties: { a: { type: 'object', properties: {}, additionalProperties: true } },
    }),
  ],
  ['strict without additionalProperties', OPENAI, 'OpenAI', tool(OBJECT, { strict: true })],
  [
    'no parameters',
    OPENAI,
    'OpenAI',
    {
      R: { tools: [{ type: 'function', name: 'look' }] },
      C: { tools: [{ type: 'function', function: { name: 'look' } }] },
    },
  ],
  ['a name of 80 letters', OPENAI, 'OpenAI', tool(OBJECT, { name: `mcp__${'x'.repeat(75)}` })],
  [
    'a chosen tool with such a name',
    OPENAI,
    'OpenAI',
    {
      M: { ...tool(OBJECT, { name: 'y'.repeat(80) }).M, tool_choice: { type: 'tool', name: 'y'.repeat(80) } },
      R: { ...tool(OBJECT, { name: 'y'.repeat(80) }).R, tool_choice: { type: 'function', name: 'y'.repeat(80) } },
    },
  ],
  [
    'tools in a namespace',
    'openai/codex, MCP tools',
    'OpenAI',
    {
      R: {
        tools: [
          { type: 'namespace', name: 'mcp__memory', tools: [{ type: 'function', name: 'find', parameters: OBJECT }] },
        ],
      },
    },
  ],
  [
    'parallel calls turned off',
    OPENAI,
    'OpenAI',
    {
      M: { ...tool(OBJECT).M, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      R: { ...tool(OBJECT).R, parallel_tool_calls: false },
      C: { ...tool(OBJECT).C, parallel_tool_calls: false },
    },
  ],
  [
    'a required call',
    OPENAI,
    'OpenAI',
    {
      M: { ...tool(OBJECT).M, tool_choice: { type: 'any' } },
      R: { ...tool(OBJECT).R, tool_choice: 'required' },
      C: { ...tool(OBJECT).C, tool_choice: 'required' },
    },
  ],
  [
    'two tools of one name',
    'anthropics/claude-code#10687',
    'Gemini',
    { M: twice(tool(OBJECT).M), R: twice(tool(OBJECT).R), C: twice(tool(OBJECT).C) },
  ],
  [
    'a required call of a model that thinks',
    'tickernelz/opencode-mem#253',
    'DeepSeek, thinking',
    {
      M: {
        ...tool(OBJECT).M,
        tool_choice: { type: 'any' },
        max_tokens: 5000,
        thinking: { type: 'enabled', budget_tokens: 2000 },
      },
      R: { ...tool(OBJECT).R, tool_choice: 'required', reasoning: { effort: 'high' } },
      C: { ...tool(OBJECT).C, tool_choice: 'required', reasoning_effort: 'high' },
    },
  ],
  [
    'defer_loading',
    'anthropics/claude-code#82549',
    'OpenAI',
    { M: { tools: [{ name: 'look', input_schema: OBJECT, defer_loading: true }] } },
  ],
])

const RUN = of('Tools that the client runs', [
  ['bash', ANTHROPIC, 'OpenAI', { M: { tools: [{ type: 'bash_20250124', name: 'bash' }] } }],
  [
    'text editor',
    ANTHROPIC,
    'OpenAI',
    { M: { tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }] } },
  ],
  [
    'computer',
    ANTHROPIC,
    'OpenAI',
    {
      M: { tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 8, display_height_px: 6 }] },
      R: { tools: [{ type: 'computer_use_preview', display_width: 8, display_height: 6 }] },
    },
  ],
  ['memory', ANTHROPIC, 'OpenAI', { M: { tools: [{ type: 'memory_20250818', name: 'memory' }] } }],
  ['local_shell', OPENAI, 'OpenAI', { R: { tools: [{ type: 'local_shell' }] } }],
  ['shell and apply_patch', OPENAI, 'OpenAI', { R: { tools: [{ type: 'shell' }, { type: 'apply_patch' }] } }],
  [
    'custom tools',
    OPENAI,
    'OpenAI',
    {
      R: { tools: [{ type: 'custom', name: 'patch' }] },
      C: { tools: [{ type: 'custom', custom: { name: 'patch' } }] },
    },
  ],
  [
    'custom tools with a grammar',
    OPENAI,
    'OpenAI',
    {
      R: {
        tools: [
          { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
        ],
      },
      C: {
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'patch',
              format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
            },
          },
        ],
      },
    },
  ],
  [
    'web search, which the provider runs',
    ANTHROPIC,
    'OpenAI',
    { M: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, R: { tools: [{ type: 'web_search' }] } },
  ],
  [
    'search in tools',
    ANTHROPIC,
    'OpenAI',
    {
      M: {
        tools: [
          { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
          { name: 'look', input_schema: OBJECT },
        ],
      },
    },
  ],
  [
    'a reference to a tool',
    ANTHROPIC,
    'OpenAI',
    {
      M: {
        ...tool(OBJECT).M,
        messages: [
          user('Look.'),
          assistant([use('a')]),
          user([result('a', [{ type: 'tool_reference', tool_name: 'look' }])]),
        ],
      },
    },
  ],
])

const SAMPLERS = of('Samplers and limits', [
  ['temperature at a reasoning model', OPENAI, 'OpenAI, reasoning', same({ temperature: 0.2 }, 'M', 'R', 'C')],
  [
    'temperature with top_p',
    'open-webui/pipelines#546',
    'OpenAI',
    same({ temperature: 0.2, top_p: 0.9 }, 'M', 'R', 'C'),
  ],
  ['temperature above 1', ANTHROPIC, 'OpenAI', same({ temperature: 1.5 }, 'R', 'C')],
  ['top_k', OPENAI, 'OpenAI', same({ top_k: 5 }, 'M', 'R', 'C')],
  ['penalties', ANTHROPIC, 'OpenAI', same({ presence_penalty: 0.5, frequency_penalty: 0.5 }, 'C')],
  ['seed', ANTHROPIC, 'OpenAI', same({ seed: 7 }, 'C')],
  ['n of 1', ANTHROPIC, 'OpenAI', same({ n: 1 }, 'C')],
  ['n of 2', ANTHROPIC, 'OpenAI', same({ n: 2 }, 'C')],
  ['logprobs', ANTHROPIC, 'OpenAI', { C: { logprobs: true }, R: { include: ['message.output_text.logprobs'] } }],
  ['logit_bias', ANTHROPIC, 'OpenAI', same({ logit_bias: { 7: -100 } }, 'C')],
  [
    'json_object',
    'lmstudio-ai, structured output',
    'LM Studio',
    { C: { response_format: { type: 'json_object' } }, R: { text: { format: { type: 'json_object' } } } },
  ],
  [
    'a schema of the answer',
    OPENAI,
    'OpenAI',
    {
      C: { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: OBJECT } } },
      R: { text: { format: { type: 'json_schema', name: 'a', schema: OBJECT } } },
      M: { output_config: { format: { type: 'json_schema', schema: OBJECT } } },
    },
  ],
  [
    'max_tokens at a reasoning model',
    OPENAI,
    'OpenAI, reasoning',
    { M: { max_tokens: 50 }, R: { max_output_tokens: 50 }, C: { max_tokens: 50 } },
  ],
  ['one stop sequence as text', OPENAI, 'OpenAI', { C: { stop: 'END' }, M: { stop_sequences: ['END'] } }],
  ['an answer that is not streamed', 'Alibaba Cloud, Qwen thinking models', 'Alibaba Cloud', { M: {}, R: {}, C: {} }],
])

const MEDIA = of('Images and files', [
  [
    'an image as plain text',
    OPENAI,
    'vLLM',
    { C: { messages: [user([{ type: 'image_url', image_url: `data:image/png;base64,${PNG}` }])] } },
  ],
  [
    'image/jpg',
    ANTHROPIC,
    'OpenAI',
    { ...picture(`data:image/jpg;base64,${PNG}`), M: image(mediaSource('image/jpg')) },
  ],
  ['a data URL with a charset', ANTHROPIC, 'OpenAI', picture(`data:image/png;charset=utf-8;base64,${PNG}`)],
  [
    'an image by URL',
    OPENAI,
    'OpenAI',
    { ...picture('https://example.org/a.png'), M: image({ type: 'url', url: 'https://example.org/a.png' }) },
  ],
  [
    'an image by id',
    OPENAI,
    'OpenAI',
    {
      R: { input: [user([{ type: 'input_image', file_id: 'file-1' }])] },
      M: image({ type: 'file', file_id: 'file-1' }),
    },
  ],
  [
    'the detail original',
    OPENAI,
    'OpenAI',
    { R: { input: [user([{ type: 'input_image', image_url: 'https://example.org/a.png', detail: 'original' }])] } },
  ],
  [
    'a PDF',
    OPENAI,
    'OpenAI',
    {
      C: file({ filename: 'a.pdf', file_data: PDF_URL }),
      R: inputFile({ filename: 'a.pdf', file_data: PDF_URL }),
      M: document(mediaSource('application/pdf', 'JVBERi0=')),
    },
  ],
  [
    'an image as a file',
    'vercel/ai#7266',
    'OpenAI',
    {
      C: file({ filename: 'a.png', file_data: `data:image/png;base64,${PNG}` }),
      R: inputFile({ filename: 'a.png', file_data: `data:image/png;base64,${PNG}` }),
      M: document(mediaSource('image/png')),
    },
  ],
  [
    'a text file',
    OPENAI,
    'OpenAI',
    {
      C: file({ filename: 'a.md', file_data: TEXT_URL }),
      R: inputFile({ filename: 'a.md', file_data: TEXT_URL }),
      M: document(mediaSource('text/markdown', 'IyBUaXRsZQ==')),
    },
  ],
  [
    'a text as a document',
    ANTHROPIC,
    'DeepSeek',
    { M: document({ type: 'text', media_type: 'text/plain', data: 'Title' }, { title: 'a', context: 'b' }) },
  ],
  [
    'a document by URL',
    ANTHROPIC,
    'OpenAI',
    {
      R: inputFile({ file_url: 'https://example.org/a.pdf' }),
      M: document({ type: 'url', url: 'https://example.org/a.pdf' }),
    },
  ],
  [
    'a document with citations',
    ANTHROPIC,
    'OpenAI',
    { M: document({ type: 'text', media_type: 'text/plain', data: 'Title' }, { citations: { enabled: true } }) },
  ],
  ['a file by id', OPENAI, 'OpenAI', { C: file({ file_id: 'file-1' }), R: inputFile({ file_id: 'file-1' }) }],
  [
    'audio',
    OPENAI,
    'OpenAI',
    {
      C: { messages: [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }])] },
      R: { input: [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }])] },
    },
  ],
])

const BLANKS = of('Blank texts', [
  [
    'a blank text beside others',
    ANTHROPIC,
    'Gemini',
    {
      M: { messages: [user([text(''), text('Hello')])] },
      C: { messages: [user([text(''), text('Hello')])] },
      R: {
        input: [
          user([
            { type: 'input_text', text: '' },
            { type: 'input_text', text: 'Hello' },
          ]),
        ],
      },
    },
  ],
  [
    'an empty user turn',
    'Google, Vertex AI errors',
    'Gemini',
    {
      M: { messages: [user('Hi'), assistant('Ho'), user('')] },
      C: { messages: [user('Hi'), assistant('Ho'), user('')] },
      R: { input: [user('Hi'), assistant('Ho'), user('')] },
    },
  ],
  [
    'an empty earlier answer',
    ANTHROPIC,
    'OpenAI',
    {
      M: { messages: [user('Hi'), assistant([text('')]), user('Hello')] },
      C: { messages: [user('Hi'), assistant(''), user('Hello')] },
      R: { input: [user('Hi'), assistant(''), user('Hello')] },
    },
  ],
  [
    'a space at the end of a prefill',
    ANTHROPIC,
    'OpenAI',
    {
      M: { messages: [user('Hi'), assistant('The answer is ')] },
      C: { messages: [user('Hi'), assistant('The answer is ')] },
    },
  ],
])

const HINTS = of('Hints', [
  [
    'cache_control on a part',
    'Groq, reference',
    'Groq',
    { M: { messages: [user([text('Hello', EPHEMERAL)])] }, C: { messages: [user([text('Hello', EPHEMERAL)])] } },
  ],
  [
    'five marks for the cache',
    ANTHROPIC,
    'OpenAI',
    { M: { messages: [user([1, 2, 3, 4, 5].map((n) => text(String(n), EPHEMERAL)))] } },
  ],
  [
    'metadata',
    ANTHROPIC,
    'OpenAI',
    {
      M: { metadata: { user_id: 'u'.repeat(90) } },
      R: { metadata: { a: 'b' } },
      C: { metadata: { a: 'b' }, store: false },
    },
  ],
  [
    'context_management',
    ANTHROPIC,
    'OpenAI',
    { M: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } } },
  ],
  [
    'a beta that the provider refuses',
    'anthropics/claude-code#11672',
    'OpenAI',
    { M: {} },
    { 'anthropic-beta': 'known-beta,unknown-beta' },
  ],
  [
    'effort',
    ANTHROPIC,
    'OpenAI',
    { M: { output_config: { effort: 'high' } }, R: { reasoning: { effort: 'high' } }, C: { reasoning_effort: 'high' } },
  ],
  [
    'thinking with a budget',
    ANTHROPIC,
    'OpenAI',
    { M: { max_tokens: 5000, thinking: { type: 'enabled', budget_tokens: 2000 } } },
  ],
  ['verbosity', OPENAI, 'OpenAI', { C: { verbosity: 'low' }, R: { text: { verbosity: 'low' } } }],
  ['prompt_cache_key', OPENAI, 'OpenAI', same({ prompt_cache_key: 'a' }, 'R', 'C')],
  ['an unknown field', ANTHROPIC, 'OpenAI', same({ speed: 'fast' }, 'M')],
])

const BEYOND = of('Beyond the other API', [
  [
    'MCP servers',
    ANTHROPIC,
    'OpenAI',
    { M: { mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.org' }] } },
  ],
  ['a container', ANTHROPIC, 'OpenAI', { M: { container: 'one' } }],
  [
    'an earlier search of the provider',
    ANTHROPIC,
    'OpenAI',
    {
      M: {
        messages: [
          user('Hi'),
          assistant([text('a'), { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }]),
          user('Hello'),
        ],
      },
      R: { input: [user('Hi'), { type: 'web_search_call', id: 'ws_1', status: 'completed' }, user('Hello')] },
    },
  ],
  [
    'audio in the answer',
    OPENAI,
    'OpenAI',
    { C: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } } },
  ],
  ['the older functions', OPENAI, 'OpenAI', { C: { functions: [{ name: 'look', parameters: OBJECT }] } }],
  [
    'thinking of another model',
    ANTHROPIC,
    'OpenAI',
    {
      M: {
        messages: [
          user('Hi'),
          assistant([{ type: 'thinking', thinking: 'a', signature: 'foreign' }, text('b')]),
          user('Hello'),
        ],
      },
      R: {
        input: [
          user('Hi'),
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'foreign' },
          user('Hello'),
        ],
      },
    },
  ],
])

/** Quirks of requests, by kind. */
export const REQUEST_QUIRKS: readonly RequestQuirk[] = [
  ...SYSTEM,
  ...PAIRS,
  ...TURNS,
  ...EARLIER,
  ...FORMS,
  ...SCHEMAS,
  ...RUN,
  ...SAMPLERS,
  ...MEDIA,
  ...BLANKS,
  ...HINTS,
  ...BEYOND,
]
