import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { ASK, eventsOf, openGateway } from './http-gateway.ts'

const { server, post } = await openGateway()
const SCHEMA = { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] }
const FREE = { type: 'object', properties: {} }
const named = (parameters: object, name: string) => ({ name, description: 'It runs.', parameters })
const TOOLS = [named(SCHEMA, 'run'), named(FREE, 'list')]
const PATHS = {
  '/v1/chat/completions': { ...ASK, tools: TOOLS.map((tool) => ({ type: 'function', function: tool })) },
  '/v1/messages': {
    ...ASK,
    max_tokens: 100,
    tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
  },
  '/v1/responses': { input: 'Run it.', tools: TOOLS.map((tool) => ({ type: 'function', ...tool })) },
} as const
type Path = keyof typeof PATHS

interface Piece {
  index?: number
  id?: string | null
  function: { name?: string | null; arguments?: string | null }
}
const piece = (name: string | null, args: string | null, id: string | null = 'call_1', index = 0): Piece => ({
  index,
  id,
  function: { name, arguments: args },
})

/** Sends the pieces, in a stream or as whole calls. */
function calls(pieces: Piece[]): double.Behaviour {
  const [begun] = double.chunks([]) as [object]
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...begun,
    choices: [{ index: 0, delta, finish_reason }],
  })
  return (response, request) => {
    const whole = { ...double.completion(''), choices: [] as object[] }
    whole.choices = [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: pieces.map((one) => ({ type: 'function', ...one })) },
        finish_reason: 'tool_calls',
      },
    ]
    const isStream = (request.body as { stream?: boolean }).stream === true
    const events = [
      chunk({ role: 'assistant' }),
      ...pieces.map((one) => chunk({ tool_calls: [one] })),
      chunk({}, 'tool_calls'),
    ]
    return (isStream ? double.sse(events) : double.json(200, whole))(response, request)
  }
}

/** Calls as an SDK would run them: name and input. Null when the answer is an error. */
async function ran(path: Path, stream: boolean): Promise<unknown[] | null> {
  const reply = await post(path, { ...PATHS[path], stream })
  const text = await reply.text()
  if (!stream) return reply.status === 200 ? whole(path, JSON.parse(text)) : null
  const events = eventsOf(text)
  if (!reply.ok || events.some(({ type, error }) => type === 'error' || error)) return null
  if (path === '/v1/responses') return whole(path, events.at(-1).response)
  const found = new Map<number, { name: string; written: string }>()
  for (const { choices, index, content_block: block, delta } of events) {
    if (block?.type === 'tool_use') found.set(index, { name: block.name, written: '' })
    if (delta?.type === 'input_json_delta') (found.get(index) as { written: string }).written += delta.partial_json
    for (const call of choices?.[0]?.delta.tool_calls ?? []) {
      const known = found.get(call.index) ?? { name: '', written: '' }
      found.set(call.index, known)
      known.name ||= call.function.name ?? ''
      known.written += call.function.arguments ?? ''
    }
  }
  return [...found.values()].map(({ name, written }) => [name, JSON.parse(written || '{}')])
}

// biome-ignore lint/suspicious/noExplicitAny: answers of three APIs
function whole(path: Path, answer: any): unknown[] {
  if (path === '/v1/messages')
    return answer.content.flatMap((block: { type: string; name: string; input: object }) =>
      block.type === 'tool_use' ? [[block.name, block.input]] : [],
    )
  const made =
    path === '/v1/responses'
      ? answer.output.filter(({ type }: { type: string }) => type === 'function_call')
      : (answer.choices[0].message.tool_calls ?? []).map(({ function: called }: { function: object }) => called)
  return made.map((call: { name: string; arguments: string | null }) => [call.name, JSON.parse(call.arguments || '{}')])
}

/** Pieces, and the calls that a client runs of them; null for an error. */
const CASES: Record<string, { pieces: Piece[]; runs: unknown[] | null; isStreamed?: true }> = {
  'a call without an id': { pieces: [piece('run', '{"cmd":"ls"}', '')], runs: [['run', { cmd: 'ls' }]] },
  'a call with null as id': { pieces: [piece('run', '{"cmd":"ls"}', null)], runs: [['run', { cmd: 'ls' }]] },
  'a call without input, of a tool that needs none': { pieces: [piece('list', '')], runs: [['list', {}]] },
  'a call with null as input, of a tool that needs none': { pieces: [piece('list', null)], runs: [['list', {}]] },
  'a call without a name': { pieces: [piece('', '{"cmd":"ls"}')], runs: null },
  'a call without input, of a tool that needs it': { pieces: [piece('run', '')], runs: null },
  'a call with null as input': { pieces: [piece('run', null)], runs: null },
  'a call with the word null as input': { pieces: [piece('run', 'null')], runs: null },
  'arguments that are cut off': { pieces: [piece('run', '{"cmd":"l')], runs: null },
  'no call at all': { pieces: [], runs: null },
  'arguments encoded twice': {
    pieces: [piece('run', JSON.stringify('{"cmd":"ls"}'))],
    runs: [['run', { cmd: 'ls' }]],
  },
  'two calls at one index with equal ids': {
    pieces: [piece('run', '{"cmd":"a"}'), piece('run', '{"cmd":"b"}')],
    runs: [
      ['run', { cmd: 'a' }],
      ['run', { cmd: 'b' }],
    ],
    isStreamed: true,
  },
  'two calls at one index without ids': {
    pieces: [piece('run', '{"cmd":"a"}', null), piece('run', '{"cmd":"b"}', null)],
    runs: [
      ['run', { cmd: 'a' }],
      ['run', { cmd: 'b' }],
    ],
    isStreamed: true,
  },
}

describe('a tool call that a provider sends broken', () => {
  for (const [name, { pieces, runs, isStreamed = false }] of Object.entries(CASES))
    it(`${runs === null ? 'ends the answer with an error' : 'is delivered'}: ${name}`, async () => {
      server.on('/responses', double.fails(404))
      server.on('/chat/completions', calls(pieces))
      for (const path of Object.keys(PATHS) as Path[])
        for (const stream of isStreamed ? [true] : [false, true])
          assert.deepEqual(await ran(path, stream), runs, `${path}, stream: ${stream}`)
    })
})
