import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { toChatFromGemini } from '../../src/inference/convert/gemini-to-chat.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { UNNOTED } from '../../src/inference/convert/reported-changes.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'
import { API_NAMES, type Api, mendedFields } from '../../src/inference/dialect/mend.ts'
import { knownMends } from '../../src/inference/dialect/mends.ts'

type Fields = Record<string, unknown>

/** Entries of a request of half the largest size that is taken, 32 MiB. */
const MANY = 150_000
/** Time after which a conversion counts as endless, in milliseconds: those below take a small part of it. */
const ENDLESS_MS = 30_000

const many = <T>(make: (at: number) => T): T[] => Array.from({ length: MANY }, (_, at) => make(at))
const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })
const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: '' })

/** Runs work that must not take a time that grows with the square of a request. */
function ends<T>(work: () => T): T {
  return runInNewContext('work()', { work }, { timeout: ENDLESS_MS })
}
/** Mends a request as those that were all refused. */
const mended = (api: Api, body: Fields, facts: readonly string[] = []): Fields =>
  mendedFields(knownMends(api, facts, true, []), body, UNNOTED)

describe('a request with a hundred thousand entries is converted and mended', () => {
  it('of calls of one turn, and of results of one call', () => {
    const calls = many((at) => ({ type: 'function_call', call_id: `c${at}`, name: 'look', arguments: '{}' }))
    const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: '' }))
    const same = many(() => ({ type: 'function_call_output', call_id: 'c1', output: '' }))
    const chat = ends(() => toChatRequest({ model: 'm', input: [...calls, ...results] } as never))
    assert.equal(chat.messages.length, 1 + MANY)
    assert.deepEqual(
      ends(() => mended('chat', chat as never)),
      {},
    )
    const repeated = ends(() => toChatRequest({ model: 'm', input: [...calls.slice(0, 2), ...same] } as never))
    assert.equal((ends(() => mended('chat', repeated as never)).messages as unknown[]).length, 3)
  })

  it('of Messages, and to Messages', () => {
    const uses = many((at) => ({ type: 'tool_use', id: `c${at}`, name: 'look', input: {} }))
    const results = uses.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '' }))
    const messages = [
      { role: 'assistant', content: uses },
      { role: 'user', content: [...results].reverse() },
    ]
    const chat = ends(() => toChatFromMessages({ model: 'm', max_tokens: 1, messages } as never))
    assert.equal(chat.messages.length, 1 + MANY)
    const paired = ends(() => mended('chat', chat as never)).messages as unknown[]
    assert.equal(paired.length, 1 + MANY)
    const back = ends(() => toMessagesFromChat({ model: 'm', messages: paired } as never))
    assert.equal(back.messages.length, 2)
    assert.deepEqual(
      ends(() => mended('messages', { ...back })),
      {},
    )
    const lacking = { messages: [messages[0], { role: 'user', content: results.slice(1) }] }
    const [, user] = ends(() => mended('messages', lacking)).messages as { content: unknown[] }[]
    assert.equal(user?.content.length, MANY)
  })

  it('of parts of one message', () => {
    const parts = many(() => ({ type: 'text', text: 'a' }))
    const messages = [
      { role: 'user', content: 'b' },
      { role: 'user', content: parts },
    ]
    const { messages: turns } = ends(() => toMessagesFromChat({ model: 'm', messages } as never))
    assert.equal(((turns[0] as unknown as Fields).content as unknown[]).length, 1 + MANY)
  })

  it('of Gemini', () => {
    const calls = many((at) => ({ functionCall: { name: `look${at % 7}`, args: {} } }))
    const results = many((at) => ({ functionResponse: { name: `look${at % 7}`, response: { output: '' } } }))
    const contents = [
      { role: 'model', parts: calls },
      { role: 'user', parts: results },
    ]
    const { messages } = ends(() => toChatFromGemini({ contents } as never, UNNOTED))
    assert.deepEqual(
      messages.slice(1).map((message) => (message as unknown as Fields).tool_call_id),
      (messages[0] as unknown as { tool_calls: { id: string }[] }).tool_calls.map(({ id }) => id),
    )
  })

  it('of turns that are joined, calls that are doubled, and fields that nobody knows', () => {
    const turns = many((at) => ({ role: 'user', content: [{ type: 'text', text: 'a' }], [`x${at}`]: 1 }))
    const [joined = {}] = ends(() => mended('chat', { messages: turns }, ['alternate_turns'])).messages as Fields[]
    assert.equal((joined.content as unknown[]).length, MANY)
    const odd = Object.fromEntries(many((at) => [`x${at}`, 1]))
    const messages = [{ role: 'assistant', content: null, tool_calls: many((at) => chatCall(`c${at % 2}`)) }]
    const doubled = ends(() => mended('chat', { messages: [...messages, tool('c0'), tool('c1')] })).messages
    assert.equal((doubled as unknown[]).length, 3)
    const known = ends(() =>
      mended('chat', { messages: [{ role: 'user', content: 'a', ...odd }] }, ['known_message_fields']),
    )
    assert.deepEqual(known, { messages: [{ role: 'user', content: 'a' }] })
  })

  it('of required fields of a union', () => {
    const required = many((at) => `x${at}`)
    const one = { type: 'object', properties: {}, required }
    const parameters = { anyOf: [one, { ...one, required: [...required].reverse() }] }
    for (const api of API_NAMES) {
      const tools = [{ input_schema: parameters, parameters, function: { name: 'look', parameters } }]
      const { tools: flat } = ends(() => mended(api, { tools }, ['no_unions'])) as { tools: Fields[] }
      assert.ok(JSON.stringify(flat).includes('"x1"'))
    }
  })
})
