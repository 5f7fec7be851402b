import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GazewayError } from '../../src/errors.ts'
import type {
  ChatChunk,
  ChatCompletion,
  ChatRequest,
  Message,
  MessagesRequest,
} from '../../src/inference/api/requests.ts'
import { toMessage } from '../../src/inference/convert/chat-to-message.ts'
import { createMessageEvents } from '../../src/inference/convert/chat-to-message-events.ts'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { joinMessage, messageEvents } from '../../src/inference/convert/message-events.ts'
import { toCompletion } from '../../src/inference/convert/message-to-chat.ts'
import { createCompletionChunks } from '../../src/inference/convert/message-to-chat-chunks.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { createChanges } from '../../src/inference/convert/reported-changes.ts'
import { joinChunks } from '../../src/inference/observe/join-chunks.ts'
import { fieldsOrNone } from '../../src/text/lenient-reader.ts'

const text = fc.string({ minLength: 1, maxLength: 20 })
const id = fc.stringMatching(/^[\w-]{1,20}$/)
const name = fc.stringMatching(/^[\w-]{1,64}$/)
const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(text, fc.integer(), fc.boolean()), {
  noNullPrototype: true,
})
const schema = fc.constantFrom({ type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] })
const data = fc.base64String({ minLength: 4, maxLength: 40 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const sampling = {
  temperature: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
  top_p: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
  max_tokens: fc.integer({ min: 1, max: 100_000 }),
}
const without = <T extends object>(fields: T): T => JSON.parse(JSON.stringify(fields))

describe('Messages as chat completions', () => {
  const image = fc.oneof(
    data.map((of) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: of } })),
    fc.webUrl().map((url) => ({ type: 'image', source: { type: 'url', url } })),
  )
  const pdf = fc.tuple(data, text).map(([of, title]) => ({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: of },
    title,
  }))
  const block = fc.oneof(
    image,
    pdf,
    text.map((of) => ({ type: 'text', text: of })),
  )
  const media = fc.tuple(fc.oneof(image, pdf), fc.array(block, { maxLength: 3 })).map(([one, more]) => [one, ...more])
  const said = fc.oneof(text, media)
  const uses = fc.array(fc.record({ type: fc.constant('tool_use'), id, name, input }), { minLength: 1, maxLength: 3 })
  const round = fc.oneof(
    fc.tuple(said, text).map(([content, answer]) => [
      { role: 'user', content },
      { role: 'assistant', content: answer },
    ]),
    fc.tuple(said, maybe(text), uses, text, maybe(text)).map(([content, before, calls, result, after]) => [
      { role: 'user', content },
      { role: 'assistant', content: [...(before ? [{ type: 'text', text: before }] : []), ...calls] },
      {
        role: 'user',
        content: [
          ...calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: result })),
          ...(after ? [{ type: 'text', text: after }] : []),
        ],
      },
      { role: 'assistant', content: 'Done.' },
    ]),
  )
  const tools = fc.array(
    fc.record(
      { name, input_schema: schema, description: text, strict: fc.boolean() },
      { requiredKeys: ['name', 'input_schema'] },
    ),
    { minLength: 1, maxLength: 3 },
  )
  const choice = fc.oneof(
    fc.constantFrom({ type: 'none' }, { type: 'auto' }, { type: 'any' }),
    fc.record({ type: fc.constant('tool'), name }),
    fc.constantFrom(
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'any', disable_parallel_tool_use: true },
    ),
  )
  const request = fc
    .record({
      system: maybe(text),
      rounds: fc.array(round, { maxLength: 3 }),
      last: said,
      stop_sequences: maybe(fc.array(text, { minLength: 1, maxLength: 3 })),
      metadata: maybe(fc.record({ user_id: fc.string({ minLength: 1, maxLength: 64 }) })),
      output_config: maybe(schema.map((of) => ({ format: { type: 'json_schema', schema: of } }))),
      offered: maybe(fc.tuple(tools, maybe(choice))),
      ...sampling,
    })
    .map(({ rounds, last, offered, ...fields }) => {
      const [list, tool_choice] = offered ?? []
      return without({
        ...fields,
        messages: [...rounds.flat(), { role: 'user', content: last }],
        tools: list,
        tool_choice,
      }) as unknown as MessagesRequest
    })

  it('keep all that both can say, there and back', () => {
    fc.assert(
      fc.property(request, (asked) => {
        assert.deepEqual(without(toMessagesFromChat(toChatFromMessages(asked))), asked)
      }),
    )
  })

  it('ask with the results of tools right after their calls, their pictures after that, and errors in words', () => {
    const { messages } = toChatFromMessages({
      max_tokens: 10,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 's' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
            { type: 'tool_use', id: 'b', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Here.' },
            { type: 'tool_result', tool_use_id: 'b', content: 'gone', is_error: true },
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
            },
          ],
        },
      ],
    })
    const call = (of: string, args: string) => ({
      id: of,
      type: 'function',
      function: { name: 'look', arguments: args },
    })
    assert.deepEqual(messages, [
      { role: 'system', content: 'Be brief.\nBe kind.' },
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: 'I look.', tool_calls: [call('a', '{"at":1}'), call('b', '{}')] },
      { role: 'tool', tool_call_id: 'b', content: 'Error: gone' },
      { role: 'tool', tool_call_id: 'a', content: 'The result follows in the next message.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'Here.' },
        ],
      },
    ])
  })

  it('name what chat completions cannot say, and why', () => {
    const ask = (more: object) =>
      ({ max_tokens: 1, messages: [{ role: 'user', content: 'x' }], ...more }) as MessagesRequest
    const user = (...content: object[]) => ask({ messages: [{ role: 'user', content }] })
    const refused: [MessagesRequest, string][] = [
      [ask({ mcp_servers: [{ url: 'https://x.invalid' }] }), 'mcp_servers'],
      [
        ask({
          tools: [
            { name: 'a', input_schema: {} },
            { type: 'web_search_20250305', name: 'web_search' },
          ],
        }),
        'tools.1',
      ],
      [
        user({ type: 'document', source: { type: 'url', url: 'https://x.invalid/a.pdf' } }),
        'messages.0.content.0.source',
      ],
      [user({ type: 'image', source: { type: 'file', file_id: 'f' } }), 'messages.0.content.0.source'],
      [user({ type: 'text', text: 'x' }, { type: 'container_upload', file_id: 'f' }), 'messages.0.content.1.type'],
      [
        user({
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'x' },
          citations: { enabled: true },
        }),
        'messages.0.content.0.citations',
      ],
      [
        user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'document', source: { type: 'file' } }] }),
        'messages.0.content.0.content.0.source',
      ],
      [
        ask({ messages: [{ role: 'assistant', content: [{ type: 'server_tool_use', id: 'a', name: 'web_search' }] }] }),
        'messages.0.content.0.type',
      ],
    ]
    for (const [asked, param] of refused)
      assert.throws(
        () => toChatFromMessages(asked),
        (error) => {
          assert.ok(error instanceof GazewayError, String(error))
          assert.deepEqual([error.status, error.param], [400, param])
          return error.message.startsWith(`${param}: `)
        },
      )
    assert.match(
      refusalOf(() => toChatFromMessages((refused[1] as [MessagesRequest, string])[0])),
      /web_search/,
    )
  })

  it('give a tool with a long name one that chat completions takes, and turn its calls back', () => {
    const long = `mcp__${'x'.repeat(70)}`
    const asked = {
      max_tokens: 1,
      messages: [],
      tools: [{ name: long, input_schema: { type: 'object' } }],
    } as MessagesRequest
    const [tool] = toChatFromMessages(asked).tools ?? []
    assert.ok(tool?.type === 'function', 'it is offered as a function')
    assert.equal(tool.function.name.length, 64)
    const answer = toMessage(completionOf({ tool_calls: [callOf('c', tool.function.name, '{}')] }, 'tool_calls'), asked)
    assert.deepEqual(answer?.content, [{ type: 'tool_use', id: 'c', name: long, input: {} }])
  })
})

describe('chat completions as Messages', () => {
  const part = fc.oneof(
    text.map((of) => ({ type: 'text', text: of })),
    data.map((of) => ({ type: 'image_url', image_url: { url: `data:image/jpeg;base64,${of}` } })),
    fc.webUrl().map((url) => ({ type: 'image_url', image_url: { url } })),
  )
  const picture = fc.webUrl().map((url) => ({ type: 'image_url', image_url: { url } }))
  const said = fc.oneof(
    text,
    fc.tuple(picture, fc.array(part, { maxLength: 3 })).map(([one, more]) => [one, ...more]),
  )
  const calls = fc.array(
    fc.tuple(id, name, input).map(([of, called, args]) => callOf(of, called, JSON.stringify(args))),
    { minLength: 1, maxLength: 3 },
  )
  const round = fc.oneof(
    fc.tuple(said, text).map(([content, answer]) => [
      { role: 'user', content },
      { role: 'assistant', content: answer },
    ]),
    fc
      .tuple(said, fc.option(text), calls, text)
      .map(([content, before, tool_calls, result]) => [
        { role: 'user', content },
        { role: 'assistant', content: before, tool_calls },
        ...tool_calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: result })),
        { role: 'assistant', content: 'Done.' },
      ]),
  )
  const fn = fc
    .record(
      { name, parameters: schema, description: text, strict: fc.boolean() },
      { requiredKeys: ['name', 'parameters'] },
    )
    .map((of) => ({ type: 'function', function: of }))
  const choice = fc.oneof(
    fc.constantFrom('none', 'auto', 'required'),
    name.map((of) => ({ type: 'function', function: { name: of } })),
  )
  const request = fc
    .record({
      system: maybe(text),
      rounds: fc.array(round, { maxLength: 3 }),
      last: said,
      stop: maybe(fc.array(text, { minLength: 1, maxLength: 3 })),
      user: maybe(fc.string({ minLength: 1, maxLength: 64 })),
      response_format: maybe(
        schema.map((of) => ({ type: 'json_schema', json_schema: { name: 'response', schema: of, strict: true } })),
      ),
      offered: maybe(fc.tuple(fc.array(fn, { minLength: 1, maxLength: 3 }), maybe(choice))),
      ...sampling,
    })
    .map(({ system, rounds, last, offered, ...fields }) => {
      const [tools, tool_choice] = offered ?? []
      return without({
        ...fields,
        messages: [
          ...(system ? [{ role: 'system', content: system }] : []),
          ...rounds.flat(),
          { role: 'user', content: last },
        ],
        tools,
        tool_choice,
      }) as unknown as ChatRequest
    })

  it('keep all that both can say, there and back', () => {
    fc.assert(
      fc.property(request, (asked) => {
        assert.deepEqual(without(toChatFromMessages(toMessagesFromChat(asked))), asked)
      }),
    )
  })

  it('name what Messages cannot say, and why', () => {
    const ask = (more: object) => ({ messages: [{ role: 'user', content: 'x' }], ...more }) as ChatRequest
    const refused: [ChatRequest, string][] = [
      [ask({ n: 2 }), 'n'],
      [ask({ logprobs: true }), 'logprobs'],
      [ask({ tools: [{ type: 'web_search', custom: { name: 'a' } }] }), 'tools.0.type'],
      [
        ask({ messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }),
        'messages.0.content.0.type',
      ],
      [
        ask({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }),
        'messages.0.content.0.file',
      ],
    ]
    for (const [asked, param] of refused)
      assert.ok(refusalOf(() => toMessagesFromChat(asked)).startsWith(`${param}: `), param)
    assert.doesNotThrow(() =>
      toMessagesFromChat(ask({ n: 1, logprobs: false, presence_penalty: 0, seed: 1, store: true })),
    )
  })

  it('offer tools that Claude Code loads on demand, and tell of their references', () => {
    const { note, list } = createChanges()
    const definition = { name: 'late', input_schema: { type: 'object', properties: {} } }
    const chat = toChatFromMessages(
      {
        max_tokens: 10,
        tools: [
          { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
          { name: 'early', input_schema: { type: 'object', properties: {} }, defer_loading: true },
        ],
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'search', input: {} }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'early' }] },
            ],
          },
          {
            role: 'system',
            content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }],
          },
        ],
      } as never,
      note,
    )
    assert.deepEqual(
      chat.tools?.map((tool) => 'function' in tool && tool.function.name),
      ['early', 'late'],
    )
    assert.equal(chat.messages.length, 3)
    assert.equal(chat.messages[2]?.content, 'Tool available: early')
    assert.deepEqual(list(), [{ field: 'tools.0', what: 'dropped' }])
  })

  it('ask for JSON in words, and leave out penalties, by name', () => {
    const { note, list } = createChanges()
    const asked = {
      messages: [{ role: 'user', content: 'x' }],
      response_format: { type: 'json_object' },
      presence_penalty: 1,
    }
    assert.match(String(toMessagesFromChat(asked as never, note).system), /JSON object/)
    assert.deepEqual(list(), [
      { field: 'presence_penalty', what: 'dropped' },
      { field: 'response_format', what: 'rewritten' },
    ])
  })

  it('keep arguments that were cut off, and images whose media type is spelled in another way', () => {
    const cut = toMessagesFromChat({
      messages: [{ role: 'assistant', tool_calls: [callOf('a', 'b', '{"cut')] }],
    } as never)
    assert.deepEqual(cut.messages[0]?.content, [
      { type: 'tool_use', id: 'a', name: 'b', input: { unparsed_arguments: '{"cut' } },
    ])
    const url = 'data:image/jpg;charset=utf-8;base64,QUJD'
    const shown = toMessagesFromChat({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    } as never)
    assert.deepEqual(shown.messages[0]?.content, [
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'QUJD' } },
    ])
  })

  it('have a limit, a temperature that Messages takes, turns in turn, and ids without other letters', () => {
    const asked = toMessagesFromChat({
      temperature: 1.7,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'a' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: null, tool_calls: [callOf('functions.look:0', 'look', '')] },
        { role: 'tool', tool_call_id: 'functions.look:0', content: 'there' },
      ],
    } as ChatRequest)
    assert.deepEqual(asked, {
      max_tokens: 8192,
      temperature: 1,
      system: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: '<system_instruction>\nBe kind.\n</system_instruction>' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'functions_look_0', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'functions_look_0', content: 'there' }] },
      ],
    })
  })
})

const usage = {
  prompt_tokens: 20,
  completion_tokens: 5,
  total_tokens: 25,
  prompt_tokens_details: { cached_tokens: 12 },
}

describe('answers as Messages and as chat completions', () => {
  const asked = { max_tokens: 10, messages: [], stop_sequences: ['END'] } as MessagesRequest
  const message = fc
    .record({
      said: maybe(text),
      calls: fc.array(fc.record({ type: fc.constant('tool_use'), id, name, input }), { maxLength: 3 }),
      cut: fc.boolean(),
      counts: fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(1000)),
    })
    .map(({ said, calls, cut, counts: [input_tokens, created, read, output_tokens] }) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'double-claude',
      content: [...(said ? [{ type: 'text', text: said }] : []), ...calls],
      stop_reason: cut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens, cache_creation_input_tokens: created, cache_read_input_tokens: read, output_tokens },
    }))

  it('keep all that both can say, whole and streamed', () => {
    fc.assert(
      fc.property(message.map(without), (given) => {
        const whole = given as unknown as Message
        const { id: _, ...back } = { ...toMessage(toCompletion(whole), asked) }
        const { id: __, ...rest } = given
        assert.deepEqual(back, rest)

        const chunks = createCompletionChunks()
        const joined = joinChunks()
        for (const event of messageEvents(whole)) for (const chunk of chunks.push(event)) joined.push(chunk)
        assert.ok(chunks.isOver(), 'the stream is complete')
        const { created: _created, ...completion } = toCompletion(whole)
        const { created: _told, ...streamed } = joined.completion()
        assert.deepEqual(withoutBlanks(streamed), withoutBlanks(completion))
      }),
    )
  })

  it('come from a chat stream as from the whole, however its deltas are cut and in whatever turns its calls come', () => {
    const piece = fc.oneof(
      text.map((content) => ({ content })),
      fc.constant({ role: 'assistant', content: '' }),
    )
    const stream = fc.record({
      thoughts: fc.array(fc.constant({ reasoning_content: 'Hm.' }), { maxLength: 2 }),
      said: fc.array(piece, { maxLength: 4 }),
      calls: fc.array(fc.record({ id, name, input, cuts: fc.array(fc.nat(30), { maxLength: 3 }) }), { maxLength: 3 }),
      turns: fc.array(fc.nat(2), { maxLength: 20 }),
    })
    fc.assert(
      fc.property(stream, ({ thoughts, said, calls, turns }) => {
        const queues = calls.map(({ id: of, name: called, input: args, cuts }, index) => {
          const whole = JSON.stringify(args)
          const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length]
          const parts = at.slice(1).map((end, n) => whole.slice(at[n], end))
          return [
            { index, id: `${index}${of}`, type: 'function', function: { name: called, arguments: '' } },
            ...parts.map((part) => ({ index, function: { arguments: part } })),
          ]
        })
        const deltas: object[] = [...thoughts, ...said]
        for (const turn of [...turns, ...queues.flatMap((queue, n) => queue.map(() => n))]) {
          const next = queues[turn]?.shift()
          if (next) deltas.push({ tool_calls: [next] })
        }
        const chunks = [
          ...deltas.map((delta) => chunkOf(delta)),
          chunkOf({}, 'stop'),
          { model: 'm', choices: [], usage } as unknown as ChatChunk,
        ]
        const joined = joinChunks()
        for (const chunk of chunks) joined.push(chunk)
        const { id: _, ...whole } = { ...toMessage(joined.completion(), asked) }
        const { id: __, ...streamed } = streamedMessage(chunks)
        // Calls stand in the order in which they begin, in both.
        assert.deepEqual(streamed, whole)
      }),
    )
  })

  it('tell why they ended, and what they used', () => {
    const ended = (finish: string, more: object = {}) => {
      const { stop_reason, stop_sequence } = toMessage(completionOf({ content: 'x' }, finish, more), asked) as Message
      return [stop_reason, stop_sequence]
    }
    assert.deepEqual(ended('stop'), ['end_turn', null])
    assert.deepEqual(ended('stop', { stop_reason: 'END' }), ['stop_sequence', 'END'])
    assert.deepEqual(ended('stop', { stop_reason: 'other' }), ['end_turn', null])
    assert.deepEqual(ended('length'), ['max_tokens', null])
    assert.deepEqual(ended('content_filter'), ['refusal', null])
    assert.deepEqual(toMessage(completionOf({ content: 'x' }, 'stop'), asked)?.usage, {
      input_tokens: 8,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 12,
      output_tokens: 5,
    })
    const refused = toMessage(completionOf({ content: null, refusal: 'I will not.' }, 'stop'), asked)
    assert.deepEqual([refused?.stop_reason, refused?.content.length], ['refusal', 1])
  })

  it('omit a call that was cut off, and are an error when a call cannot be read', () => {
    const cut = { tool_calls: [callOf('a', 'look', '{"at":1}'), callOf('b', 'look', '{"at')] }
    const answer = toMessage(completionOf(cut, 'length'), asked)
    assert.deepEqual(answer?.content, [{ type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } }])
    assert.equal(answer?.stop_reason, 'max_tokens')
    assert.equal(toMessage(completionOf(cut, 'tool_calls'), asked), null)
  })

  it('have no usage where only their start reports it, which counts the prompt alone', () => {
    const started = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 10, output_tokens: 1 } } }
    const rest = (usage?: object) => [
      started,
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(usage && { usage }) },
      { type: 'message_stop' },
    ]
    const read = (events: object[]) => {
      const [chunks, joined] = [createCompletionChunks(), joinMessage()]
      for (const event of events) joined.push(event)
      const chunk = events.flatMap((event) => chunks.push(event)).find(({ usage }) => usage !== undefined)
      return [fieldsOrNone(chunk?.usage).completion_tokens, joined.message()?.usage?.output_tokens]
    }
    assert.deepEqual(read(rest()), [undefined, undefined])
    assert.deepEqual(read(rest({ output_tokens: 50 })), [50, 50])
  })

  it('begin and end in the documented order even where they are empty', () => {
    const events = createMessageEvents(asked, { model: 'm' })
    const types = [...events.push(chunkOf({}, 'stop')), ...events.finish()].map(({ type }) => type)
    assert.deepEqual(types, ['message_start', 'ping', 'message_delta', 'message_stop'])
  })

  it('stream a text as it comes, and each block whole before the next', () => {
    const events = createMessageEvents(asked, { model: 'm' })
    const call = (index: number, more: object) => chunkOf({ tool_calls: [{ index, ...more }] })
    const steps = [
      chunkOf({ content: 'Hel' }),
      chunkOf({ content: 'lo' }),
      call(0, { id: 'a', function: { name: 'look', arguments: '{"at"' } }),
      call(1, { id: 'b', function: { name: 'look', arguments: '{}' } }),
      call(0, { function: { arguments: ':1}' } }),
    ].map((chunk) =>
      events.push(chunk).map((event) => ('index' in event ? `${event.type}.${event.index}` : event.type)),
    )
    const [start, delta, stop] = ['content_block_start', 'content_block_delta', 'content_block_stop']
    assert.deepEqual(steps, [
      ['message_start', 'ping', `${start}.0`, `${delta}.0`],
      [`${delta}.0`],
      [`${stop}.0`, `${start}.1`, `${delta}.1`],
      [],
      [`${delta}.1`, `${stop}.1`, `${start}.2`, `${delta}.2`],
    ])
  })
})

function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof GazewayError && error.status === 400, String(error))
    return error.message
  }
  return 'nothing was refused'
}

function callOf(of: string, called: string, args: string) {
  return { id: of, type: 'function', function: { name: called, arguments: args } }
}

function completionOf(said: object, finish_reason: string, more: object = {}): ChatCompletion {
  const choices = [{ index: 0, message: { role: 'assistant', content: null, ...said }, finish_reason, ...more }]
  return { id: 'chatcmpl-1', model: 'm', choices, usage } as unknown as ChatCompletion
}

function chunkOf(delta: object, finish_reason: string | null = null): ChatChunk {
  return { model: 'm', choices: [{ index: 0, delta, finish_reason }] } as ChatChunk
}

function streamedMessage(chunks: ChatChunk[]): Message {
  const events = createMessageEvents({ max_tokens: 10, messages: [] }, { model: 'm' })
  const joined = joinMessage()
  for (const event of [...chunks.flatMap((chunk) => events.push(chunk)), ...events.finish()]) joined.push(event)
  return joined.message() as Message
}

/** Chunks hold no nulls and no role of their own where a whole completion has them. */
const withoutBlanks = (value: object): object =>
  JSON.parse(JSON.stringify(value, (_, of) => (of === null || of === '' ? undefined : of)))
