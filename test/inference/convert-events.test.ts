import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ResponseOutputItem } from 'openai/resources/responses/responses'
import { GazewayError } from '../../src/errors.ts'
import type { ChatChunk, ChatCompletion, ResponseRequest } from '../../src/inference/api/requests.ts'
import { type ResponseObject, toResponse } from '../../src/inference/convert/chat-to-response.ts'
import {
  completionEvents,
  createResponseEvents,
  type ResponseEvent,
} from '../../src/inference/convert/chat-to-response-events.ts'
import { failedChoices } from '../doubles/upstream.ts'

const request: ResponseRequest = { input: 'Hello', tools: [{ type: 'custom', name: 'patch' }] }

function chunk(delta: object | null, finish_reason: string | null = null, more: object = {}): ChatChunk {
  const choices = delta ? [{ index: 0, delta, finish_reason, logprobs: null }] : []
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'llm-1' }
  return { ...head, choices, ...more } as ChatChunk
}
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] })

function eventsOf(chunks: ChatChunk[], asked = request): ResponseEvent[] {
  const events = createResponseEvents(asked, { model: 'llm-asked' })
  return [...events.start(), ...chunks.flatMap((each) => events.push(each)), ...events.finish()]
}
const typesOf = (events: ResponseEvent[]) => events.map((event) => event.type.replace('response.', ''))
const last = (events: ResponseEvent[]): ResponseObject => {
  const event = events.at(-1)
  assert.ok(event && 'response' in event, 'the last event holds the Response')
  return event.response
}
const deltasOf = (events: ResponseEvent[], type: ResponseEvent['type']) =>
  events.flatMap((event) => (event.type === type && 'delta' in event ? [event.delta] : []))

describe('a chat stream as Responses events', () => {
  it('streams text in the documented order, with the usage of the chunk without choices', () => {
    const events = eventsOf([
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: 'Hel' }),
      chunk({ content: '' }),
      chunk({}),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
      chunk(null, null, { usage, service_tier: 'flex' }),
    ])
    assert.deepEqual(typesOf(events), [
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    assert.deepEqual(deltasOf(events, 'response.output_text.delta'), ['Hel', 'lo'])
    const response = last(events)
    assert.deepEqual(
      [response.model, response.usage?.total_tokens, response.output_text, response.service_tier],
      ['llm-1', 15, 'Hello', 'flex'],
    )
    const created = events[0]
    assert.ok(created?.type === 'response.created')
    assert.deepEqual([created.response.model, created.response.output], ['llm-asked', []])
    assert.equal(created.response.id, response.id)
  })

  it('gives an item added as it was then, whatever comes after', () => {
    const events = eventsOf([chunk({ content: 'Hello' }), chunk({}, 'stop')])
    const added = events.find((event) => event.type === 'response.output_item.added')
    assert.deepEqual(added?.item.type === 'message' && [added.item.status, added.item.content], ['in_progress', []])
    const part = events.find((event) => event.type === 'response.content_part.added')
    assert.equal(part?.part.type === 'output_text' && part.part.text, '')
  })

  it('streams parallel calls that come in turns, with text between them', () => {
    const events = eventsOf([
      chunk({ content: 'I look.' }),
      chunk(call(0, { id: 'c1', type: 'function', function: { name: 'look', arguments: '' } })),
      chunk(call(1, { id: 'c2', type: 'function', function: { name: 'read', arguments: '{"b"' } })),
      chunk(call(0, { function: { arguments: '{"a":' } })),
      chunk({ content: ' And read.' }),
      chunk({
        tool_calls: [
          { index: 1, function: { arguments: ':2}' } },
          { index: 0, function: { arguments: '1}' } },
        ],
      }),
      chunk({}, 'tool_calls', { usage }),
    ])
    const [message, ...calls] = last(events).output
    assert.equal(message?.type === 'message' && message.content.length, 1)
    assert.equal(last(events).output_text, 'I look. And read.')
    assert.deepEqual(
      calls.map((item) => item.type === 'function_call' && [item.call_id, item.name, item.arguments, item.status]),
      [
        ['c1', 'look', '{"a":1}', 'completed'],
        ['c2', 'read', '{"b":2}', 'completed'],
      ],
    )
    const types = typesOf(events)
    assert.ok(types.indexOf('function_call_arguments.done') < types.lastIndexOf('output_item.done'))
    assert.equal(last(events).usage?.output_tokens, 5)
  })

  it('tells calls apart that an upstream numbers badly', () => {
    const events = eventsOf([
      chunk(call(0, { id: 'c1', function: { name: 'look', arguments: '{"a":1}' } })),
      chunk(call(0, { id: 'c2', function: { name: 'look', arguments: '{"a":2}' } })),
      chunk({ tool_calls: [{ id: 'c3', function: { name: 'read' } }] }),
      chunk({ tool_calls: [{ id: 'c4', function: { name: 'read', arguments: '{"b":4}' } }] }),
      chunk({ tool_calls: [{ id: 'c3', function: { arguments: '{"b":3}' } }] }),
      chunk({}, 'tool_calls'),
    ])
    assert.deepEqual(
      last(events).output.map((item) => item.type === 'function_call' && [item.call_id, item.arguments]),
      [
        ['c1', '{"a":1}'],
        ['c2', '{"a":2}'],
        ['c3', '{"b":3}'],
        ['c4', '{"b":4}'],
      ],
    )
  })

  it('waits for the name of a call, and gives a call without arguments an empty object', () => {
    const events = eventsOf([
      chunk(call(0, { id: 'c1', function: { arguments: '{"a"' } })),
      chunk(call(0, { function: { name: 'look', arguments: ':1}' } })),
      chunk(call(1, { id: 'c2', function: { name: 'stop' } })),
      chunk({}, 'tool_calls'),
    ])
    assert.deepEqual(deltasOf(events, 'response.function_call_arguments.delta'), ['{"a"', ':1}', '{}'])
    const added = events.filter((event) => event.type === 'response.output_item.added')
    assert.deepEqual(
      added.map(({ item }) => item.type === 'function_call' && item.name),
      ['look', 'stop'],
    )
  })

  it('streams the call of a custom tool with its input in one delta', () => {
    const events = eventsOf([
      chunk(call(0, { id: 'c1', function: { name: 'patch', arguments: '{"input":"a' } })),
      chunk(call(0, { function: { arguments: '\\nb"}' } })),
      chunk({}, 'tool_calls'),
    ])
    assert.deepEqual(deltasOf(events, 'response.custom_tool_call_input.delta'), ['a\nb'])
    const [item] = last(events).output
    assert.equal(item?.type === 'custom_tool_call' && item.input, 'a\nb')
  })

  it('streams the calls of tools in a namespace by their own names', () => {
    const tools: ResponseRequest['tools'] = [
      {
        type: 'namespace',
        name: 'mcp__a',
        description: 'Of a.',
        tools: [
          { type: 'function', name: 'look' },
          { type: 'custom', name: 'patch' },
        ],
      },
    ]
    const events = eventsOf(
      [
        chunk(call(0, { id: 'c1', function: { name: 'mcp__a__look', arguments: '{' } })),
        chunk(call(0, { function: { arguments: '}' } })),
        chunk(call(1, { id: 'c2', function: { name: 'mcp__a__patch', arguments: '{"input":"x"}' } })),
        chunk({}, 'tool_calls'),
      ],
      { input: 'Go', tools },
    )
    const named = (item: ResponseOutputItem) => 'namespace' in item && [item.type, item.namespace, item.name]
    const expected = [
      ['function_call', 'mcp__a', 'look'],
      ['custom_tool_call', 'mcp__a', 'patch'],
    ]
    for (const type of ['response.output_item.added', 'response.output_item.done'] as const)
      assert.deepEqual(
        events.flatMap((event) => (event.type === type ? [named(event.item)] : [])),
        expected,
      )
    assert.deepEqual(last(events).output.map(named), expected)
    const done = events.find((event) => event.type === 'response.function_call_arguments.done')
    assert.deepEqual([done?.name, done?.arguments], ['look', '{}'])
    assert.deepEqual(deltasOf(events, 'response.custom_tool_call_input.delta'), ['x'])
  })

  it('streams a refusal as a part of its own', () => {
    const events = eventsOf([chunk({ refusal: 'I will' }), chunk({ refusal: ' not.' }), chunk({}, 'stop')])
    assert.deepEqual(deltasOf(events, 'response.refusal.delta'), ['I will', ' not.'])
    const [item] = last(events).output
    assert.deepEqual(item?.type === 'message' && item.content, [{ type: 'refusal', refusal: 'I will not.' }])
    assert.equal(last(events).output_text, '')
  })

  it('streams reasoning as an item that ends where the answer begins', () => {
    const events = eventsOf([
      chunk({ role: 'assistant', reasoning_content: 'Let me ' }),
      chunk({ reasoning: 'see.' }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
    ])
    assert.deepEqual(typesOf(events).slice(2, 11), [
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
    ])
    const [item] = last(events).output
    assert.deepEqual(item?.type === 'reasoning' && item.summary, [{ type: 'summary_text', text: 'Let me see.' }])
  })

  it('streams the thoughts that come as parts of the content, or under the second of two names', () => {
    const parts = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me ' }] }]
    const events = eventsOf([
      chunk({ content: parts }),
      chunk({ content: '', reasoning_content: '', reasoning: 'see.' }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
    ])
    assert.deepEqual(deltasOf(events, 'response.reasoning_summary_text.delta'), ['Let me ', 'see.'])
    assert.equal(last(events).output_text, 'Hi')
  })

  it('streams citations and log probabilities with the text', () => {
    const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 }
    const logprobs = { content: [{ token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null }
    const spoken = chunk({ content: 'Hi' })
    const events = eventsOf([
      { ...spoken, choices: spoken.choices.map((choice) => ({ ...choice, logprobs })) } as ChatChunk,
      chunk({ annotations: [{ type: 'url_citation', url_citation }] }),
      chunk({}, 'stop'),
    ])
    const cited = events.find((event) => event.type === 'response.output_text.annotation.added')
    assert.deepEqual([cited?.annotation_index, cited?.annotation], [0, { type: 'url_citation', ...url_citation }])
    const done = events.find((event) => event.type === 'response.output_text.done')
    assert.equal(done?.logprobs.length, 1)
  })

  it('ends as incomplete where the answer was cut', () => {
    const events = eventsOf([
      chunk({ content: 'Hi' }),
      chunk(call(0, { id: 'c1', function: { name: 'look', arguments: '{"a' } })),
      chunk({}, 'length'),
    ])
    assert.equal(events.at(-1)?.type, 'response.incomplete')
    assert.deepEqual(last(events).incomplete_details, { reason: 'max_output_tokens' })
    assert.deepEqual(
      last(events).output.map((item) => 'status' in item && item.status),
      ['completed', 'incomplete'],
    )
  })

  for (const [finish, reason] of Object.entries({
    model_context_window_exceeded: 'max_output_tokens',
    sensitive: 'content_filter',
  }))
    it(`ends as incomplete on ${finish}`, () => {
      const cutCall = call(0, { id: 'c1', function: { name: 'look', arguments: '{"path":"/tm' } })
      const { status, incomplete_details, output } = last(eventsOf([chunk(cutCall), chunk({}, finish)]))
      assert.deepEqual([status, incomplete_details?.reason], ['incomplete', reason])
      assert.equal(output[0]?.type === 'function_call' && output[0].status, 'incomplete')
    })

  it('is incomplete where an empty finish reason comes after the one that says so', () => {
    const events = eventsOf([chunk({ content: 'Hel' }, ''), chunk({}, 'length'), chunk({}, '', { usage })])
    assert.equal(events.at(-1)?.type, 'response.incomplete')
  })

  it('leaves reasoning completed that had ended where the answer was cut, and what went on after it incomplete', () => {
    const cutCall = [
      chunk(call(0, { id: 'c1', function: { name: 'look', arguments: '{"path":"/tm' } })),
      chunk({ reasoning_content: 'Hm.' }),
      chunk(call(0, { function: { arguments: 'p/a' } })),
    ]
    const cutText = [chunk({ content: 'A' }), chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'B' })]
    const cutThought = [chunk({ content: 'A' }), chunk({ reasoning_content: 'Hm.' })]
    for (const [chunks, statuses] of [
      [cutCall, ['incomplete', 'completed']],
      [cutText, ['incomplete', 'completed']],
      [cutThought, ['completed', 'incomplete']],
    ] as const) {
      const events = eventsOf([...chunks, chunk({}, 'length')])
      const { output } = last(events)
      assert.deepEqual(
        output.map((item) => 'status' in item && item.status),
        statuses,
      )
      const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event] : []))
      for (const { output_index, item } of done) assert.deepEqual(item, output[output_index])
      assert.equal(done.length, 2)
    }
  })

  it('gives an answer without anything as an empty message', () => {
    const events = eventsOf([chunk({ role: 'assistant' }), chunk({}, 'stop')])
    assert.deepEqual(typesOf(events).slice(2), [
      'output_item.added',
      'content_part.added',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
  })

  it('takes an answer without a finish reason for complete', () => {
    const response = last(eventsOf([chunk({ content: 'Hello' })]))
    assert.deepEqual([response.status, response.output_text], ['completed', 'Hello'])
  })

  it('streams a whole completion as one chunk of it, its calls by their order', () => {
    const calls = ['look', 'patch'].map((name) => ({ function: { name, arguments: '{"input":"x"}' } }))
    const message = { role: 'assistant', content: 'Both.', reasoning_content: 'Hm.', tool_calls: calls }
    const whole = { model: 'llm-1', usage, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    const events = completionEvents(whole as unknown as ChatCompletion, request)
    const delta = { ...message, tool_calls: calls.map((made, index) => ({ ...made, index })) }
    assert.deepEqual(typesOf(events), typesOf(eventsOf([chunk(delta, 'tool_calls')])))
    const { output, usage: counted } = last(events)
    assert.deepEqual(
      output.map(({ type }) => type),
      ['reasoning', 'message', 'function_call', 'custom_tool_call'],
    )
    assert.equal(counted?.total_tokens, 15)
  })

  it('reads the first choice alone', () => {
    const second = { index: 1, delta: { content: 'Other' }, finish_reason: null }
    const events = eventsOf([
      { ...chunk({ content: 'Hi' }), choices: [second] } as ChatChunk,
      chunk({ content: 'Hi' }, 'stop'),
    ])
    assert.equal(last(events).output_text, 'Hi')
  })
})

describe('a chat stream that breaks', () => {
  it('fails without ending what is open', () => {
    const converter = createResponseEvents(request)
    const events = [
      ...converter.push(chunk({ content: 'Hel' })),
      ...converter.push(chunk(call(0, { id: 'c1', function: { name: 'look', arguments: '{"a' } }))),
      ...converter.fail(new GazewayError('upstream_bad_reply', 'Cut off.')),
    ]
    assert.deepEqual(typesOf(events).slice(-2), ['error', 'failed'])
    assert.ok(!typesOf(events).some((type) => type.endsWith('.done')))
    const response = last(events)
    assert.deepEqual(
      [response.status, response.error?.code, response.output_text, response.completed_at],
      ['failed', 'server_error', 'Hel', null],
    )
    assert.deepEqual(
      response.output.map((item) => 'status' in item && item.status),
      ['incomplete', 'incomplete'],
    )
  })

  it('begins before it fails, and gives the error in both documented shapes', () => {
    const events = createResponseEvents(request).fail(new GazewayError('rate_limited', 'Too many.', { status: 429 }))
    assert.deepEqual(typesOf(events), ['created', 'in_progress', 'error', 'failed'])
    const { type: _, sequence_number, ...error } = events[2] as ResponseEvent & Record<string, unknown>
    const fields = { code: 'rate_limited', message: 'Too many.', param: null }
    assert.deepEqual(error, { ...fields, error: { type: 'rate_limit_error', ...fields } })
    assert.equal(sequence_number, 2)
    assert.equal(last(events).error?.code, 'rate_limit_exceeded')
  })

  it('fails with the error that a chunk holds', () => {
    const events = createResponseEvents(request)
    events.push(chunk({ content: 'Hel' }))
    const failed = events.push({ error: { message: 'overloaded', code: 503 } } as never)
    assert.deepEqual(typesOf(failed), ['error', 'failed'])
    assert.match(last(failed).error?.message ?? '', /overloaded/)
  })

  for (const failed of failedChoices)
    it(`fails with a choice that its provider gave up: ${JSON.stringify(failed)}`, () => {
      const cutCall = call(0, { id: 'c1', function: { name: 'look', arguments: '{"path":"/tm' } })
      const chunks = [chunk(cutCall), { ...chunk(null), choices: [{ index: 0, delta: {}, ...failed }] } as never]
      const types = typesOf(eventsOf(chunks))
      assert.deepEqual(types.slice(-2), ['error', 'failed'])
      assert.ok(!types.some((type) => type.endsWith('.done')), 'a cut call must not be run')
    })

  it('quotes a long error up to the end of a character', () => {
    for (const before of ['', 'x']) {
      const failed = createResponseEvents(request).push({ error: { message: before + '👋'.repeat(300) } } as never)
      assert.ok(last(failed).error?.message.isWellFormed())
    }
  })

  it('says nothing after its end', () => {
    const events = createResponseEvents(request)
    events.push(chunk({ content: 'Hi' }, 'stop'))
    events.finish()
    const late = new GazewayError('upstream_timeout', 'Late.')
    assert.deepEqual(
      [events.start(), events.push(chunk({ content: '!' })), events.finish(), events.fail(late)],
      [[], [], [], []],
    )
  })
})

/** Cuts `text` at random places, an empty piece among them at times. */
const pieces = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 6 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), text.length]
    return at.slice(1).map((end, index) => text.slice(at[index], end))
  })

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const answered = fc
  .record({
    reasoning: fc.option(text),
    content: fc.option(text),
    refusal: fc.option(text, { freq: 3 }),
    calls: fc.array(fc.record({ name: fc.constantFrom('look', 'patch'), args: fc.oneof(fc.json(), fc.constant('')) }), {
      maxLength: 3,
    }),
    finish: fc.constantFrom(
      'stop',
      'tool_calls',
      'length',
      'content_filter',
      'model_context_window_exceeded',
      'sensitive',
    ),
    usageWithChoices: fc.boolean(),
  })
  .chain((answer) => {
    const tracks = [
      pieces(answer.content ?? '').map((all) => all.map((content) => ({ content }))),
      pieces(answer.refusal ?? '').map((all) => all.map((refusal) => ({ refusal }))),
      ...answer.calls.map(({ name, args }, index) =>
        pieces(args).map((all) => [
          call(index, { id: `c${index}`, type: 'function', function: { name, arguments: '' } }),
          ...all.map((each) => call(index, { function: { arguments: each } })),
        ]),
      ),
    ]
    return fc.record({
      answer: fc.constant(answer),
      thoughts: pieces(answer.reasoning ?? ''),
      tracks: fc.tuple(...tracks),
      turns: fc.infiniteStream(fc.nat()),
    })
  })

/** One list of the tracks' deltas, each track in its own order. */
function interleave(tracks: object[][], turns: Iterator<number>): object[] {
  const left = tracks.map((track) => [...track])
  const merged: object[] = []
  while (left.some((track) => track.length > 0)) {
    const open = left.filter((track) => track.length > 0)
    merged.push(open[Number(turns.next().value) % open.length]?.shift() ?? {})
  }
  return merged
}

/** Items without ids, sorted by kind: the order in which they appear is the stream's own. */
function comparable(output: ResponseOutputItem[]) {
  const rank = ['reasoning', 'message', 'function_call', 'custom_tool_call']
  const plain = output.map(({ ...item }) => {
    const content = item.type === 'message' ? [...item.content].sort((a, b) => a.type.localeCompare(b.type)) : null
    return { ...item, id: undefined, status: undefined, ...(content && { content }) }
  })
  const key = (item: (typeof plain)[number]) =>
    `${rank.indexOf(item.type)} ${'call_id' in item ? String(item.call_id) : ''}`
  return plain.sort((a, b) => key(a).localeCompare(key(b)))
}

describe('any chunking of a completion', () => {
  it('gives the Response of the whole completion, events numbered without a gap, and a done for each item added', () => {
    fc.assert(
      fc.property(answered, ({ answer, thoughts, tracks, turns }) => {
        const { reasoning, content, refusal, calls, finish, usageWithChoices } = answer
        const message = {
          role: 'assistant',
          content,
          refusal,
          reasoning_content: reasoning,
          tool_calls: calls.map(({ name, args }, index) => ({
            id: `c${index}`,
            type: 'function',
            function: { name, arguments: args },
          })),
        }
        const whole = { model: 'llm-1', created: 1, choices: [{ index: 0, message, finish_reason: finish }], usage }
        const expected = toResponse(whole as unknown as ChatCompletion, request)
        const events = eventsOf([
          chunk({ role: 'assistant' }),
          ...thoughts.map((reasoning_content) => chunk({ reasoning_content })),
          ...interleave(tracks as object[][], turns).map((delta) => chunk(delta)),
          chunk({}, finish, usageWithChoices ? { usage } : {}),
          ...(usageWithChoices ? [] : [chunk(null, null, { usage })]),
        ])

        assert.deepEqual(
          events.map((event) => event.sequence_number),
          events.map((_, index) => index),
        )
        const response = last(events)
        const same = ({ output, id, created_at, completed_at, ...rest }: ResponseObject) => rest
        assert.deepEqual(same(response), same(expected))
        assert.deepEqual(comparable(response.output), comparable(expected.output))
        assert.deepEqual(
          response.output.map((item) => 'status' in item && item.status),
          expected.output.map((item) => 'status' in item && item.status),
        )

        const added = events.filter((event) => event.type === 'response.output_item.added')
        const done = events.filter((event) => event.type === 'response.output_item.done')
        assert.deepEqual(
          added.map((event) => [event.output_index, event.item.id]),
          response.output.map((item, index) => [index, item.id]),
        )
        assert.deepEqual(
          done.map((event) => event.item),
          response.output,
        )
        const openParts = events.filter((event) => event.type === 'response.content_part.added').length
        assert.equal(events.filter((event) => event.type === 'response.content_part.done').length, openParts)
        assert.equal(deltasOf(events, 'response.output_text.delta').join(''), content ?? '')
      }),
      { numRuns: 300 },
    )
  })
})
