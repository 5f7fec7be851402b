import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { GazewayError } from '../../src/errors.ts'
import type { ResponseRequest } from '../../src/inference/api/requests.ts'
import { type ResponseObject, toResponse } from '../../src/inference/convert/chat-to-response.ts'
import { createResponseEvents } from '../../src/inference/convert/chat-to-response-events.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'

const look = { type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: true }
const read = { type: 'function' as const, name: 'read', description: 'Reads.', parameters: null, strict: null }
const patch = {
  type: 'custom' as const,
  name: 'patch',
  description: 'Edits files.',
  format: { type: 'grammar' as const, syntax: 'lark' as const, definition: 'start: "x"' },
}
const search = { type: 'web_search' as const }
const memory: OpenAI.Responses.NamespaceTool = {
  type: 'namespace',
  name: 'mcp__memory',
  description: 'What was kept.',
  tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }, patch],
}

const namesOf = (request: unknown, refused: string | null = null) =>
  toChatRequest(request as ResponseRequest, refused).tools?.map(
    (tool) => tool.type === 'function' && tool.function.name,
  )
const messagesOf = (request: unknown) => toChatRequest(request as ResponseRequest).messages
const fieldsOf = (request: unknown, refused: string | null = null) => {
  const { messages, ...fields } = toChatRequest(request as ResponseRequest, refused)
  return fields
}

describe('a Responses request as chat messages', () => {
  it('takes a string as what the user says, after the instructions', () => {
    assert.deepEqual(messagesOf({ instructions: 'Be short.', input: 'Hello' }), [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Hello' },
    ])
  })

  it('takes messages of all roles, with or without a type', () => {
    const input = [
      { role: 'developer', content: 'Rules.' },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'More.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'No, ', annotations: [] },
          { type: 'refusal', refusal: 'I will not.' },
        ],
      },
    ]
    assert.deepEqual(messagesOf({ input }), [
      { role: 'system', content: 'Rules.' },
      { role: 'system', content: 'More.' },
      { role: 'user', content: 'a\nb' },
      { role: 'assistant', content: 'No, \nI will not.' },
    ])
  })

  it('passes on images and files, and refuses those that it cannot pass on', () => {
    const content = [
      { type: 'input_text', text: 'See' },
      { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'original' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==', file_id: null },
      { type: 'input_file', filename: 'a.md', file_data: 'data:text/markdown;base64,IyBUaXRsZQ==' },
    ]
    assert.deepEqual(messagesOf({ input: [{ role: 'user', content }] })[0]?.content, [
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'high' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
      { type: 'text', text: 'a.md\n# Title' },
    ])
    for (const [part, param] of [
      [{ type: 'input_image', file_id: 'file-1', detail: 'auto' }, 'file_id'],
      [{ type: 'input_file', file_url: 'https://example.org/b.pdf' }, 'file_url'],
    ] as const)
      assert.throws(() => messagesOf({ input: [{ role: 'user', content: [part] }] }), {
        param: `input.0.content.0.${param}`,
      })
  })

  it('passes on recordings, from a tool too', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'Hear' }, audio] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [audio] },
    ]
    assert.deepEqual(
      messagesOf({ input }).map(({ content }) => content),
      [[{ type: 'text', text: 'Hear' }, audio], null, '', [audio]],
    )
  })

  it('puts the calls of one turn into one message, and images in their results after the last result', () => {
    const input = [
      { role: 'user', content: 'Look.' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{}' },
      { role: 'assistant', content: 'And wait.' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'a cat' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
        ],
      },
      { type: 'function_call_output', call_id: 'c2', output: 'a dog' },
      { type: 'item_reference', id: 'msg_1' },
      { role: 'user', content: 'Well?' },
    ]
    const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'look', arguments: args } })
    assert.deepEqual(messagesOf({ input }), [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: 'I look.\nAnd wait.', tool_calls: [call('c1', '{"at":1}'), call('c2', '{}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      { role: 'tool', tool_call_id: 'c2', content: 'a dog' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
      { role: 'user', content: 'Well?' },
    ])
  })

  it('puts results next to the calls of their turn, before what was said meanwhile', () => {
    const asked = (id: string, name = 'look') => ({ type: 'function_call', call_id: id, name, arguments: '{}' })
    const answered = (id: string, output: unknown) => ({ type: 'function_call_output', call_id: id, output })
    const made = (...ids: string[]) => ({
      role: 'assistant',
      content: null,
      tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
    })
    const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
    const said = (content: string) => ({ role: 'user', content })
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' }

    const hurried = [asked('c1'), asked('c2'), said('Hurry.'), answered('c2', [image]), answered('c1', 'a cat')]
    assert.deepEqual(messagesOf({ input: [...hurried, { role: 'developer', content: 'Be brief.' }] }), [
      made('c1', 'c2'),
      result('c1', 'a cat'),
      result('c2', ''),
      { role: 'user', content: [{ type: 'image_url', image_url: { url: image.image_url } }] },
      said('Hurry.'),
      { role: 'system', content: 'Be brief.' },
    ])

    const late = [asked('c1'), said('And there?'), asked('c2'), answered('c1', 'a cat'), answered('c2', 'a dog')]
    assert.deepEqual(messagesOf({ input: late }), [
      made('c1'),
      result('c1', 'a cat'),
      said('And there?'),
      made('c2'),
      result('c2', 'a dog'),
    ])

    const between = [asked('c1'), asked('c2'), answered('c1', 'a cat'), asked('c3'), answered('c2', 'a dog')]
    assert.deepEqual(messagesOf({ input: [...between, answered('c3', 'a cow')] }), [
      made('c1', 'c2'),
      result('c1', 'a cat'),
      result('c2', 'a dog'),
      made('c3'),
      result('c3', 'a cow'),
    ])

    const patched = { type: 'custom_tool_call_output', call_id: 'p1', output: 'done' }
    const roles = ['assistant', 'tool', 'user']
    const edit = { type: 'custom_tool_call', call_id: 'p1', name: 'patch', input: 'x' }
    assert.deepEqual(
      messagesOf({ input: [edit, said('Quick.'), patched] }).map(({ role }) => role),
      roles,
    )
  })

  it('tells turns apart whose calls have the same ids, and leaves calls and results that stand alone where they are', () => {
    const asked = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
    const answered = (output: string) => ({ type: 'function_call_output', call_id: 'c1', output })
    const shown = (input: unknown) => messagesOf({ input }).map(({ role, content }) => content ?? role)
    const user = { role: 'user', content: 'Again.' }
    const turns = [asked, answered('a cat'), asked, user, answered('a dog')]
    assert.deepEqual(shown(turns), ['assistant', 'a cat', 'assistant', 'a dog', 'Again.'])
    assert.deepEqual(shown([asked, user, { role: 'assistant', content: 'Well.' }]), ['assistant', 'Again.', 'Well.'])
    assert.deepEqual(shown([answered('a cat'), user]), ['a cat', 'Again.'])
  })

  it('gives the calls of custom tools as functions, without those that the provider answered itself', () => {
    const input = [
      { type: 'custom_tool_call', call_id: 'x1', name: 'x_keyword_search', input: '{}' },
      { type: 'custom_tool_call', call_id: 'p1', name: 'patch', input: 'say "x"' },
      { type: 'custom_tool_call_output', call_id: 'p1', output: 'done' },
    ]
    assert.deepEqual(messagesOf({ input }), [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'p1', type: 'function', function: { name: 'patch', arguments: '{"input":"say \\"x\\""}' } }],
      },
      { role: 'tool', tool_call_id: 'p1', content: 'done' },
    ])
  })

  it('gives the calls of tools in a namespace by the names under which these are offered, or would be', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'look', namespace: 'mcp__memory', arguments: '{}' }
    const edit = { type: 'custom_tool_call', call_id: 'c2', name: 'patch', namespace: 'mcp__memory', input: 'x' }
    const input = [call, edit, { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' }]
    const called = (request: object) =>
      messagesOf({ input, ...request }).flatMap((message) =>
        'tool_calls' in message
          ? (message.tool_calls ?? []).map((made) => 'function' in made && made.function.name)
          : [],
      )
    assert.deepEqual(called({ tools: [memory] }), ['mcp__memory__look', 'mcp__memory__patch'])
    assert.deepEqual(called({}), ['mcp__memory__look', 'mcp__memory__patch'])
    const alike = { ...look, name: 'mcp__memory__look' }
    assert.deepEqual(called({ tools: [alike, memory] }), namesOf({ tools: [alike, memory] })?.slice(1))
  })
})

describe('the other fields of a Responses request', () => {
  it('renames what chat completions calls otherwise and leaves out what it does not know', () => {
    const request = {
      input: 'Hello',
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: null,
      reasoning: { effort: 'low', summary: 'auto' },
      text: {
        format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: null },
        verbosity: 'low',
      },
      top_logprobs: 2,
      user: 'u1',
      stop: ['END'],
      previous_response_id: 'resp_1',
      conversation: 'conv_1',
      include: ['reasoning.encrypted_content'],
      metadata: { a: 'b' },
      store: true,
      truncation: 'auto',
      background: true,
      stream: true,
      made_up: 1,
    }
    assert.deepEqual(fieldsOf(request), {
      temperature: 0.5,
      stop: ['END'],
      user: 'u1',
      max_tokens: 50,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      verbosity: 'low',
      logprobs: true,
      top_logprobs: 2,
    })
  })

  it('asks for any JSON where there is no schema', () => {
    for (const format of [{ type: 'json_object' }, { type: 'json_schema' }])
      assert.deepEqual(fieldsOf({ text: { format } }), { response_format: { type: 'json_object' } })
    assert.deepEqual(fieldsOf({ text: { format: { type: 'text' } } }), {})
  })

  it('offers functions and custom tools, and no built-in tools', () => {
    const { tools, ...rest } = fieldsOf({
      tools: [search, look, read, patch],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
    assert.deepEqual(tools?.slice(0, 2), [
      { type: 'function', function: { name: 'look', parameters: { type: 'object' }, strict: true } },
      { type: 'function', function: { name: 'read', description: 'Reads.' } },
    ])
    const custom = tools?.[2] as OpenAI.Chat.ChatCompletionFunctionTool
    assert.match(custom.function.description ?? '', /Edits files\.\n\nThe input follows this grammar \(lark\):\nstart/)
    assert.deepEqual(Object.keys(custom.function.parameters?.properties ?? {}), ['input'])
    assert.deepEqual(rest, { tool_choice: 'required', parallel_tool_calls: false })
  })

  it('sends nothing of tools where only built-in ones were asked for', () => {
    assert.deepEqual(fieldsOf({ tools: [search], tool_choice: { type: 'web_search' }, parallel_tool_calls: true }), {})
  })

  it('takes a chosen tool, and keeps allowed tools by offering no others', () => {
    const tools = [search, look, read, patch]
    const named = { type: 'function', function: { name: 'patch' } }
    assert.deepEqual(fieldsOf({ tools, tool_choice: { type: 'custom', name: 'patch' } }).tool_choice, named)
    assert.equal(fieldsOf({ tools, tool_choice: { type: 'web_search' } }).tool_choice, undefined)
    assert.equal(fieldsOf({ tools, tool_choice: { type: 'function', name: 'gone' } }).tool_choice, undefined)
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'read' }, search] }
    assert.deepEqual(fieldsOf({ tools, tool_choice: allowed }), {
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads.' } }],
      tool_choice: 'required',
    })
  })

  it('offers the tools of a namespace, named after both', () => {
    const { tools } = fieldsOf({ tools: [look, memory] })
    assert.deepEqual(tools?.slice(0, 2), [
      { type: 'function', function: { name: 'look', parameters: { type: 'object' }, strict: true } },
      { type: 'function', function: { name: 'mcp__memory__look', parameters: { type: 'object' }, strict: false } },
    ])
    const custom = tools?.[2] as OpenAI.Chat.ChatCompletionFunctionTool
    assert.equal(custom.function.name, 'mcp__memory__patch')
    assert.deepEqual(Object.keys(custom.function.parameters?.properties ?? {}), ['input'])
    assert.deepEqual(namesOf({ tools: [{ ...memory, name: 'memory__' }] }), ['memory__look', 'memory__patch'])
    const others = [
      { ...memory, tools: [] },
      { ...memory, tools: [search, memory] },
    ]
    for (const other of others) assert.deepEqual(fieldsOf({ tools: [other] }), {})
    assert.throws(() => fieldsOf({ tools: [{ ...memory, name: '' }] }), { param: 'tools.0.name' })
  })

  it('offers the tools that the input holds, added by the client or found by a search', () => {
    const found = { type: 'tool_search_output', call_id: 't1', execution: 'client', tools: [memory] }
    const added = { type: 'additional_tools', role: 'developer', tools: [look, patch] }
    const input = [{ role: 'user', content: 'Look.' }, added, found]
    const all = ['look', 'patch', 'mcp__memory__look', 'mcp__memory__patch']
    assert.deepEqual(namesOf({ input }), all)
    assert.deepEqual(namesOf({ input, tools: [search, look] }), all)
    assert.deepEqual(namesOf({ input }, 'input[2].tools[0].tools[1]'), all.slice(0, 3))
    assert.deepEqual(messagesOf({ input }), [{ role: 'user', content: 'Look.' }])
  })

  it('gives tools of any names others that chat completions takes, no two the same', () => {
    const part = fc.oneof(fc.constantFrom('a', 'a__', 'a__b', 'b', 'b__c', '.', 'é'), fc.string({ maxLength: 100 }))
    const name = part.filter((text) => text !== '')
    const namespaces = fc.array(fc.record({ name, tools: fc.array(name, { maxLength: 4 }) }), { maxLength: 4 })
    fc.assert(
      fc.property(namespaces, fc.array(fc.constantFrom('a__b', 'a', 'a__b__c')), (groups, plain) => {
        const own = [...new Set(plain)].map((each) => ({ ...look, name: each }))
        const grouped = groups.map((group) => {
          const tools = group.tools.map((each) => ({ ...look, name: each }))
          return { type: 'namespace', name: group.name, tools }
        })
        const pairs = groups.flatMap((group) => group.tools.map((each) => JSON.stringify([group.name, each])))
        const names = namesOf({ tools: [...grouped, ...own] }) ?? []
        assert.equal(names.length, own.length + new Set(pairs).size)
        assert.equal(new Set(names).size, names.length)
        for (const each of names) assert.match(String(each), /^[a-zA-Z0-9_-]{1,64}$/)
        for (const { name: each } of own) assert.ok(names.includes(each))
      }),
    )
  })

  it('takes a chosen tool of a namespace, and allows the tools of one, or one of them', () => {
    const tools = [look, memory]
    const chosen = (choice: object) => fieldsOf({ tools, tool_choice: choice }).tool_choice
    const named = (name: string) => ({ type: 'function', function: { name } })
    assert.deepEqual(chosen({ type: 'function', name: 'look' }), named('look'))
    const within = { type: 'function', name: 'look', namespace: 'mcp__memory' }
    assert.deepEqual(chosen(within), named('mcp__memory__look'))
    assert.deepEqual(chosen({ type: 'custom', name: 'patch' }), named('mcp__memory__patch'))
    assert.equal(chosen({ ...within, namespace: 'other' }), undefined)

    const allowed = (...named: object[]) =>
      namesOf({ tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: named } })
    assert.deepEqual(allowed({ type: 'function', name: 'look' }), ['look'])
    assert.deepEqual(allowed(within, search), ['mcp__memory__look'])
    assert.deepEqual(allowed({ type: 'namespace', name: 'mcp__memory' }), ['mcp__memory__look', 'mcp__memory__patch'])
    assert.throws(() => allowed({ type: 'namespace' }), { param: 'tool_choice.tools.0.name' })
  })

  const all = {
    input: 'Hello',
    temperature: 1,
    max_output_tokens: 5,
    reasoning: { effort: 'low' },
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    tools: [search, look, read],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    top_logprobs: 1,
  }
  const refusals: Record<string, string[]> = {
    temperature: ['temperature'],
    max_output_tokens: ['max_tokens'],
    max_tokens: [],
    'reasoning.effort': ['reasoning_effort'],
    reasoning: ['reasoning_effort'],
    'reasoning.summary': [],
    'text.format.schema': ['response_format'],
    'text.verbosity': ['verbosity'],
    text: ['response_format', 'verbosity'],
    tools: ['tools', 'tool_choice', 'parallel_tool_calls'],
    tool_choice: ['tool_choice'],
    'include[0]': ['logprobs', 'top_logprobs'],
    'input[0].content': [],
    messages: [],
    constructor: [],
    'tools[0].type': [],
  }
  for (const [refused, left] of Object.entries(refusals))
    it(`does not send again what "${refused}" stands for`, () => {
      const whole = fieldsOf(all)
      const sent = fieldsOf(all, refused)
      const gone = Object.keys(whole).filter((name) => !(name in sent))
      assert.deepEqual(gone.sort(), [...left].sort())
      assert.equal(toChatRequest(all as unknown as ResponseRequest, refused).messages.length, 1)
    })

  it('does not send again the one tool that was refused', () => {
    for (const refused of ['tools[1].parameters', 'tools.1']) assert.deepEqual(namesOf(all, refused), ['read'])
  })

  it('sends again what is in a namespace that was refused, without the one tool that was', () => {
    const tools = [look, memory]
    assert.deepEqual(namesOf({ tools }, 'tools[1].type'), ['look', 'mcp__memory__look', 'mcp__memory__patch'])
    for (const refused of ['tools[1].tools[0].parameters', 'tools.1.tools.0'])
      assert.deepEqual(namesOf({ tools }, refused), ['look', 'mcp__memory__patch'])
  })

  it('is converted, or refused with the field at fault, whatever JSON the request holds', () => {
    const odd = fc.constantFrom({ toString: 1 }, { valueOf: null, toString: null })
    const any = fc.oneof(fc.jsonValue(), odd)
    const item = fc.record(
      {
        type: fc.constantFrom('message', 'function_call', 'function_call_output', 'custom_tool_call', 'other', null),
        role: fc.constantFrom('user', 'assistant', 'system', 'tool', 3),
        content: fc.oneof(any, fc.array(any)),
        output: any,
        call_id: fc.oneof(fc.constantFrom('a', 'b', null), odd),
        name: any,
        namespace: any,
        arguments: any,
      },
      { requiredKeys: [] },
    )
    const namespace = fc.record({ type: fc.constant('namespace'), name: any, tools: any })
    const request = fc.record(
      {
        input: fc.oneof(fc.array(fc.oneof(item, any)), any),
        instructions: any,
        tools: fc.oneof(fc.array(fc.oneof(fc.constantFrom(look, patch, search, memory), namespace, any)), any),
        tool_choice: any,
        text: any,
        reasoning: any,
        include: any,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(request, fc.option(fc.string()), (asked, refused) => {
        try {
          const chat = toChatRequest(asked as unknown as ResponseRequest, refused)
          assert.ok(Array.isArray(chat.messages))
        } catch (error) {
          assert.ok(error instanceof GazewayError && error.code === 'invalid_request', String(error))
          assert.ok(error.message.startsWith(`${error.param}: `), error.message)
        }
      }),
    )
  })
})

describe('the openai client against the sandbox, over the conversion', () => {
  const sandbox = createSandbox()
  const client = new OpenAI({
    baseURL: 'http://sandbox.local/v1',
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => sandbox.fetch(new Request(url, init)),
  })
  const ask = async (request: ResponseRequest) => {
    const completion = await client.chat.completions.create({ ...toChatRequest(request), model: 'sandbox' })
    return toResponse(completion, request)
  }

  it('answers from the text, with search tools in the request that chat completions would refuse', async () => {
    const response = await ask({
      instructions: 'Answer from the text.',
      input: 'The tower of Pisa leans by four degrees. How far does the tower lean?',
      tools: [search],
      tool_choice: { type: 'web_search' } as never,
    })
    assert.equal(response.status, 'completed')
    assert.match(response.output_text, /four degrees/)
    assert.ok((response.usage?.total_tokens ?? 0) > 0)
  })

  it('calls a function, and answers from its result', async () => {
    const weather = {
      ...look,
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    }
    const question = { role: 'user' as const, content: 'What is the weather in Oslo?' }
    const tools = [search, weather]
    const first = await ask({ input: [question], tools, tool_choice: 'required' })
    const call = first.output.find((item) => item.type === 'function_call')
    assert.equal(call?.name, 'get_weather')
    JSON.parse(call?.arguments ?? '')
    const result = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'Oslo: sleet, 2 °C.' }
    const second = await ask({ input: [question, ...first.output, result] as never, tools })
    assert.match(second.output_text, /sleet/)
  })

  it('calls a custom tool with text', async () => {
    const response = await ask({ input: 'Patch it.', tools: [patch], tool_choice: { type: 'custom', name: 'patch' } })
    const call = response.output.find((item) => item.type === 'custom_tool_call')
    assert.equal(call?.name, 'patch')
    assert.equal(typeof call?.input, 'string')
    assert.notEqual(call?.input.startsWith('{"input"'), true)
  })

  it('answers in the form of a schema', async () => {
    const schema = { type: 'object', properties: { colour: { enum: ['red', 'blue'] } }, required: ['colour'] }
    const response = await ask({
      input: 'The sea is blue. Which colour has the sea?',
      text: { format: { type: 'json_schema', name: 'sea', schema } },
    })
    assert.deepEqual(Object.keys(JSON.parse(response.output_text)), ['colour'])
  })

  it('streams the same Response', async () => {
    const request = { input: 'What is the weather in Oslo?', tools: [search, look], tool_choice: 'required' as const }
    const events = createResponseEvents(request)
    const chat = { ...toChatRequest(request), model: 'sandbox', stream_options: { include_usage: true } }
    for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) events.push(chunk)
    const event = events.finish().at(-1)
    assert.ok(event?.type === 'response.completed')
    const same = ({ output, model, usage }: ResponseObject) => [
      output.map((item) => ({ ...item, id: '' })),
      model,
      usage,
    ]
    assert.deepEqual(same(event.response), same(await ask(request)))
  })

  it('is incomplete where the answer was cut', async () => {
    const response = await ask({ input: 'The tower of Pisa leans by four degrees. Tell me.', max_output_tokens: 2 })
    assert.equal(response.status, 'incomplete')
    assert.deepEqual(response.incomplete_details, { reason: 'max_output_tokens' })
    assert.equal(response.output[0]?.type === 'message' && response.output[0].status, 'incomplete')
  })
})
