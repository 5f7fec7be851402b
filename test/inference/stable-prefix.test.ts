import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ChatRequest, MessagesRequest, ResponseRequest } from '../../src/inference/api/requests.ts'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { UNNOTED } from '../../src/inference/convert/reported-changes.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'
import { type Api, mendedFields } from '../../src/inference/dialect/mend.ts'
import { knownMends } from '../../src/inference/dialect/mends.ts'
import type { ReasoningState } from '../../src/inference/reasoning/reasoning-state.ts'

type Fields = Record<string, unknown>

/** Events of a conversation from one request to the next. */
interface Step {
  /** Kind of reasoning of the model, the same in all of a conversation. Null for none. */
  thought: 'plain' | 'signed' | null
  said: string
  calls: { args: Fields; result: string; image: boolean; failed: boolean; custom: boolean }[]
  instruction: string | null
  asked: string[]
}

const PIXEL = 'iVBORw0KGgo='
const text = fc.constantFrom('', ' ', 'Look at it.', 'über 1e400', '{"a": 1}')
const step = fc.record<Omit<Step, 'thought'>>({
  said: text,
  calls: fc.array(
    fc.record({
      args: fc.dictionary(fc.constantFrom('b', 'a', '2', '1'), fc.oneof(fc.integer(), text)),
      result: text,
      image: fc.boolean(),
      failed: fc.boolean(),
      custom: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  instruction: fc.option(text),
  asked: fc.array(text, { maxLength: 2 }),
})

/** A conversation with one model, whose answers have a text or a call. */
const conversation = fc
  .tuple(fc.constantFrom('plain' as const, 'signed' as const, null), fc.array(step, { minLength: 1, maxLength: 4 }))
  .map(([thought, steps]): Step[] =>
    steps.map((one) => ({
      ...one,
      thought,
      said: one.said.trim() === '' && one.calls.length === 0 ? 'Yes.' : one.said,
    })),
  )

const TOOLS = ['zulu', 'alpha', 'mike'].map((name) => ({
  name,
  schema: { type: 'object', properties: { b: { type: 'string' }, a: { type: 'number' } }, required: ['b'] },
}))
const callId = (turn: number, call: number) => `call_${turn}_${call}`

/** Opens reasoning of two kinds of providers: text beside the message, and signatures of its calls. */
function open(sealed: unknown): ReasoningState | null {
  const [kind = '', ...ids] = String(sealed).split(' ')
  if (kind === 'plain') return { message: { reasoning_content: `thought ${ids.join(' ')}` }, calls: {} }
  const signed = (id: string) => [id, { extra_content: { google: { thought_signature: id } } }]
  return kind === 'signed' ? { message: {}, calls: Object.fromEntries(ids.map(signed)) } : null
}

const sealOf = ({ thought, calls }: Step, turn: number) =>
  [thought, ...calls.map((_, index) => callId(turn, index))].join(' ')

const instructionOf = ({ instruction }: Step, role: string) =>
  instruction === null ? [] : [{ role, content: instruction }]

/** The requests of a Messages client. */
function messagesOf(steps: Step[]): Fields {
  const turns = steps.flatMap((one, turn) => {
    const thinking = one.thought === null ? [] : [{ type: 'thinking', thinking: 'Hm.', signature: sealOf(one, turn) }]
    const uses = one.calls.map(({ args }, i) => ({ type: 'tool_use', id: callId(turn, i), name: 'alpha', input: args }))
    const results = one.calls.map(({ result, image, failed }, i) => ({
      type: 'tool_result',
      tool_use_id: callId(turn, i),
      is_error: failed,
      content: [
        { type: 'text', text: result },
        ...(image ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }] : []),
      ],
    }))
    const asked = one.asked.map((words) => ({ type: 'text', text: words }))
    return [
      { role: 'assistant', content: [...thinking, { type: 'text', text: one.said }, ...uses] },
      { role: 'user', content: [...results, ...asked, { type: 'text', text: `Turn ${turn}.` }] },
      ...instructionOf(one, 'system'),
    ]
  })
  const tools = TOOLS.map(({ name, schema }) => ({ name, input_schema: schema }))
  return { max_tokens: 9, system: 'Be brief.', messages: [{ role: 'user', content: 'Begin.' }, ...turns], tools }
}

/** The requests of a chat client. */
function chatOf(steps: Step[]): Fields {
  const turns = steps.flatMap((one, turn) => [
    {
      role: 'assistant',
      content: one.said,
      ...(one.calls.length > 0 && {
        tool_calls: one.calls.map(({ args }, i) => ({
          id: callId(turn, i),
          type: 'function',
          function: { name: 'alpha', arguments: JSON.stringify(args) },
        })),
      }),
    },
    ...one.calls.map(({ result }, i) => ({ role: 'tool', tool_call_id: callId(turn, i), content: result })),
    ...one.asked.map((content) => ({ role: 'user', content })),
    { role: 'user', content: [{ type: 'text', text: `Turn ${turn}.` }] },
    ...instructionOf(one, 'system'),
  ])
  const tools = TOOLS.map(({ name, schema }) => ({ type: 'function', function: { name, parameters: schema } }))
  const head = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'And kind.' },
  ]
  return { messages: [...head, { role: 'user', content: 'Begin.' }, ...turns], tools }
}

/** The requests of a client of Responses. */
function responsesOf(steps: Step[]): Fields {
  const turns = steps.flatMap((one, turn) => [
    ...(one.thought === null ? [] : [{ type: 'reasoning', summary: [], encrypted_content: sealOf(one, turn) }]),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: one.said }] },
    ...one.calls.map(({ args, custom }, i) => ({
      call_id: callId(turn, i),
      ...(custom
        ? { type: 'custom_tool_call', name: 'patch', input: JSON.stringify(args) }
        : { type: 'function_call', name: 'alpha', arguments: JSON.stringify(args) }),
    })),
    ...one.calls.map(({ result, image, custom }, i) => ({
      type: custom ? 'custom_tool_call_output' : 'function_call_output',
      call_id: callId(turn, i),
      output: image ? [{ type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` }] : result,
    })),
    ...one.asked.map((words) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] })),
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: `Turn ${turn}.` }] },
    ...instructionOf(one, 'developer').map((message) => ({ type: 'message', ...message })),
  ])
  const tools = TOOLS.map(({ name, schema }) => ({ type: 'function', name, parameters: schema }))
  const head = [{ type: 'message', role: 'developer', content: 'And kind.' }]
  const input = [...head, { type: 'message', role: 'user', content: 'Begin.' }, ...turns]
  return { instructions: 'Be brief.', input, tools: [...tools, { type: 'custom', name: 'patch' }] }
}

/** The request as an upstream gets it, with the mends that every converted request gets. */
function sentAs(api: Api, request: object): Fields {
  const body = request as Fields
  return { ...body, ...mendedFields(knownMends(api, [], true, []), body, UNNOTED) }
}

const toChat = (request: Fields) => toChatRequest(request as unknown as ResponseRequest, null, UNNOTED, { open })
const CONVERSIONS: [title: string, requestOf: (steps: Step[]) => Fields, convert: (request: Fields) => Fields][] = [
  [
    'Messages over chat',
    messagesOf,
    (request) => sentAs('chat', toChatFromMessages(request as unknown as MessagesRequest, UNNOTED, { open })),
  ],
  [
    'chat over Messages',
    chatOf,
    (request) => sentAs('messages', toMessagesFromChat(request as unknown as ChatRequest)),
  ],
  ['Responses over chat', responsesOf, (request) => sentAs('chat', toChat(request))],
  [
    'Responses over Messages',
    responsesOf,
    (request) => sentAs('messages', toMessagesFromChat(toChatRequest(request as unknown as ResponseRequest))),
  ],
]

describe('A conversation that goes on', () => {
  for (const [title, requestOf, convert] of CONVERSIONS)
    it(`begins with the same bytes as before: ${title}`, () =>
      fc.assert(
        fc.property(conversation, (steps) => {
          const [before, after] = [steps.slice(0, -1), steps].map((some) => convert(requestOf(some))) as [
            Fields,
            Fields,
          ]
          const earlier = before.messages as unknown[]
          const began = JSON.stringify((after.messages as unknown[]).slice(0, earlier.length))
          assert.equal(began, JSON.stringify(earlier))
          assert.equal(JSON.stringify([after.system, after.tools]), JSON.stringify([before.system, before.tools]))
        }),
        { numRuns: 200 },
      ))

  it('offers its tools and their fields in the order of the client', () => {
    for (const [title, requestOf, convert] of CONVERSIONS) {
      const [, , third] = convert(requestOf([])).tools as { name?: string; input_schema?: Fields; function?: Fields }[]
      const { name, input_schema, parameters } = { ...third, ...third?.function } as Fields
      assert.equal(name, 'mike', title)
      assert.equal(JSON.stringify(input_schema ?? parameters), JSON.stringify(TOOLS[2]?.schema), title)
    }
  })
})
