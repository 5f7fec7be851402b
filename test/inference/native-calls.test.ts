import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GazewayError } from '../../src/errors.ts'
import { watchChatCalls } from '../../src/inference/passages/chat-calls.ts'
import { watchMessageCalls } from '../../src/inference/passages/message-calls.ts'
import { watchResponseCalls } from '../../src/inference/passages/response-calls.ts'
import { fieldsOrNone, objectsOrNone } from '../../src/text/lenient-reader.ts'
import { splitEvents } from '../../src/wire/whole-sse-events.ts'

type Fields = Record<string, unknown>
type Watch = (context: Parameters<typeof watchChatCalls>[0]) => { read(events: Buffer): Buffer }

/** A tool of each API that needs a path. */
const NEEDS = { type: 'object', required: ['path'] }
const TOOLS = [
  { name: 'look', input_schema: NEEDS },
  { type: 'function', function: { name: 'look', parameters: NEEDS } },
]

const stream = (events: object[], end = '') =>
  Buffer.from(
    events
      .map((event) => {
        const { type } = event as Fields
        return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`
      })
      .join('') + end,
  )

/** Passes a stream on, as one chunk or event by event. */
function pass(watch: Watch, bytes: Buffer, { isWhole = false, tools = [] as object[] } = {}): Buffer {
  const provider = { label: 'double', section: 'upstreams.double', protocol: 'openai' }
  const { read } = watch({ asked: { tools }, provider } as never)
  return isWhole ? read(bytes) : Buffer.concat(splitEvents(bytes).map(read))
}

const fails = (work: () => unknown, fault: RegExp, what: string) =>
  assert.throws(work, (error) => {
    assert.ok(error instanceof GazewayError)
    assert.equal(error.code, 'upstream_bad_reply')
    assert.match(error.message, fault, what)
    return true
  })

const eventsOf = (bytes: Buffer): Fields[] =>
  [...bytes.toString('utf8').matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json as string))

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const chatCall = (args: unknown, more: object = {}) =>
  chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: args }, ...more }] })

const toolUse = (fields: object, ...json: string[]) => [
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'a', name: 'look', input: {}, ...fields },
  },
  ...json.map((partial_json) => ({
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index: 1 },
]
const message = (blocks: object[], stop_reason: string) => [
  { type: 'message_start', message: { content: [] } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I "tool_use" it.' } },
  { type: 'content_block_stop', index: 0 },
  ...blocks,
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]

const item = (args: string, more: object = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'a',
  name: 'look',
  arguments: args,
  ...more,
})
const response = (args: string, pieces: string[], more: object = {}, status = 'completed') => {
  const at = { item_id: 'fc_1', output_index: 0 }
  return [
    { type: 'response.created', response: {} },
    { type: 'response.output_item.added', output_index: 0, item: item('', more) },
    ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, arguments: args },
    { type: 'response.output_item.done', output_index: 0, item: item(args, more) },
    { type: `response.${status}`, response: { status, output: [item(args, more)] } },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

const DONE = 'data: [DONE]\n\n'
const CHAT: Watch = (context) => watchChatCalls(context, { isPlain: () => false })
const MESSAGES: Watch = watchMessageCalls
const RESPONSES: Watch = watchResponseCalls

describe('calls of answers in the API of their provider', () => {
  const good: [string, Watch, Buffer][] = [
    [
      'chat',
      CHAT,
      stream(
        [
          chatCall('{"path"'),
          chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
          chunk({}, 'tool_calls'),
        ],
        DONE,
      ),
    ],
    ['cut chat', CHAT, stream([chatCall('{"path"'), chunk({}, 'length')], DONE)],
    ['a message', MESSAGES, stream(message(toolUse({}, '', '{"path"', ':1}'), 'tool_use'))],
    ['a cut message', MESSAGES, stream(message(toolUse({}, '{"path"'), 'max_tokens'))],
    [
      'a message that fails',
      MESSAGES,
      stream([...message(toolUse({}, '{'), '').slice(0, -3), { type: 'error', error: {} }]),
    ],
    ['a response', RESPONSES, stream(response('{"path":1}', ['{"path"', ':1}']))],
    ['a cut response', RESPONSES, stream(response('{"path"', ['{"path"'], {}, 'incomplete'))],
  ]
  it('stay as they are, to the byte, where nothing is broken', () => {
    for (const [what, watch, bytes] of good)
      for (const isWhole of [true, false])
        assert.equal(pass(watch, bytes, { isWhole, tools: TOOLS }).toString('utf8'), bytes.toString('utf8'), what)
  })

  it('are not parsed before the first call', () => {
    const texts = stream([{ type: 'content_block_delta', index: 0, delta: { text: 'a' } }])
    const broken = Buffer.concat([Buffer.from('data: {"broken\n\n'), texts])
    for (const watch of [CHAT, MESSAGES, RESPONSES]) assert.equal(pass(watch, broken, { isWhole: true }), broken)
  })

  const broken: [string, Watch, Buffer, RegExp][] = [
    ['cut off', CHAT, stream([chatCall('{"path"'), chunk({}, 'tool_calls')], DONE), /not a JSON object/],
    ['cut off without a finish reason', CHAT, stream([chatCall('{"path"')], DONE), /not a JSON object/],
    ['none though needed', CHAT, stream([chatCall(''), chunk({}, 'stop')], DONE), /not a JSON object/],
    ['null though needed', CHAT, stream([chatCall('null'), chunk({}, 'stop')], DONE), /not a JSON object/],
    ['no call', CHAT, stream([chunk({ content: 'a' }), chunk({}, 'tool_calls')], DONE), /has none/],
    ['cut off', MESSAGES, stream(message(toolUse({}, '{"path"'), 'tool_use')), /not a JSON object/],
    [
      'cut off, and more',
      MESSAGES,
      stream(message([...toolUse({}, '{'), ...toolUse({}, '{"path":1}')], 'max_tokens')),
      /not a JSON object/,
    ],
    ['none though needed', MESSAGES, stream(message(toolUse({}), 'tool_use')), /not a JSON object/],
    ['a text', MESSAGES, stream(message(toolUse({}, 'path'), 'tool_use')), /not a JSON object/],
    ['no name', MESSAGES, stream(message(toolUse({ name: '' }, '{}'), 'tool_use')), /no name/],
    ['no call', MESSAGES, stream(message([], 'tool_use')), /has none/],
    ['cut off', RESPONSES, stream(response('{"path"', ['{"path"'])), /not a JSON object/],
    ['none though needed', RESPONSES, stream(response('', [])), /not a JSON object/],
    ['no name', RESPONSES, stream(response('{}', ['{}'], { name: '' })), /no name/],
    ['cut off in the last event', RESPONSES, stream(response('{"path"', []).slice(-1)), /not a JSON object/],
  ]
  it('end with an error where nobody may run them, however the stream is split', () => {
    for (const [what, watch, bytes, fault] of broken)
      for (const isWhole of [true, false]) fails(() => pass(watch, bytes, { isWhole, tools: TOOLS }), fault, what)
  })

  it('are of a tool with a schema where Messages says its default type', () => {
    const tools = [{ type: 'custom', name: 'look', input_schema: NEEDS }]
    const cut = stream(message(toolUse({}, '{"path"'), 'tool_use'))
    fails(() => pass(MESSAGES, cut, { tools }), /not a JSON object/, 'custom')
  })

  it('do not end before it is known that they are complete', () => {
    const cut = message(toolUse({}, '{"path"'), 'tool_use').slice(0, -2)
    const told = eventsOf(pass(MESSAGES, stream(cut), { tools: TOOLS }))
    assert.deepEqual(told, cut.slice(0, -1))
  })

  it('are mended where they are complete', () => {
    const twice = stream([
      ...message([], '').slice(0, 4),
      ...toolUse({ id: '' }, '{"path":1}').slice(0, -1),
      ...toolUse({}, '"{\\"path', '\\":2}"'),
      ...message([], 'tool_use').slice(-2),
    ])
    const blocks = eventsOf(pass(MESSAGES, twice, { tools: TOOLS })).filter(
      ({ index }) => index !== undefined && index !== 0,
    )
    assert.deepEqual(
      blocks.map(({ type, index, delta }) => [type, index, (delta as Fields)?.partial_json]),
      [
        ['content_block_start', 1, undefined],
        ['content_block_delta', 1, '{"path":1}'],
        // The block of the first call did not end.
        ['content_block_stop', 1, undefined],
        ['content_block_start', 2, undefined],
        ['content_block_delta', 2, '{"path":2}'],
        ['content_block_stop', 2, undefined],
      ],
    )
    assert.match(String(fieldsOrNone(blocks[0]?.content_block).id), /^toolu_\w{32}$/)

    const equal = stream([chatCall('{"path":1}'), chatCall('{"path":2}'), chunk({}, 'tool_calls')], DONE)
    const pieces = eventsOf(pass(CHAT, equal)).flatMap(({ choices }) => {
      const [{ delta }] = choices as [{ delta: { tool_calls?: Fields[] } }]
      return delta.tool_calls ?? []
    })
    assert.deepEqual(
      pieces.map(({ index }) => index),
      [0, 1],
    )
    assert.equal(new Set(pieces.map(({ id }) => id)).size, 2)

    const doubled = response('"{\\"path\\":1}"', ['"{\\"path', '\\":1}"'], { call_id: '' })
    const read = eventsOf(pass(RESPONSES, stream(doubled)))
    assert.deepEqual(
      read.map(({ sequence_number }) => sequence_number),
      [0, 1, 2, 3, 4, 5, 6],
    )
    assert.equal(read.map(({ delta }) => delta ?? '').join(''), '{"path":1}')
    const [whole] = objectsOrNone(fieldsOrNone(read[6]?.response).output)
    const ids = [read[1]?.item, read[5]?.item, whole].map((one) => String(fieldsOrNone(one).call_id))
    assert.equal(new Set(ids).size, 1)
    assert.match(ids[0] as string, /^call_/)

    const cut = eventsOf(pass(CHAT, stream([chatCall('"{'), chunk({}, 'length')], DONE)))
    assert.match(JSON.stringify(cut), /"arguments":"\\"\{"/)
  })
})
