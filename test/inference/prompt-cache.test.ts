import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type CallSession, NO_SESSION } from '../../src/calls/call-session.ts'
import type { MessagesRequest, ResponseRequest } from '../../src/inference/api/requests.ts'
import { withCacheMarks } from '../../src/inference/convert/anthropic-cache-marks.ts'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const BILLING = text('x-anthropic-billing-header: cc_version=2.1.197.5e2; cc_entrypoint=cli; cch=03d5f;')
const session: CallSession = { ...NO_SESSION, session_id: 's1' }
const agent = { ...session, client: 'codex' }
const FIRST = [{ role: 'user', content: 'Begin.' }]
const SECOND = [
  ...FIRST,
  { role: 'assistant', content: 'Yes.' },
  { role: 'user', content: [text('Go on.'), text('Now.')] },
]

const marksIn = (value: unknown): number => JSON.stringify(value).split('"cache_control":{').length - 1
const marked = (messages: object[], of = session, more: object = {}) =>
  withCacheMarks({ max_tokens: 9, system: 'Be brief.', messages, ...more } as unknown as MessagesRequest, of)

describe('Marks for the prompt cache', () => {
  it('stay where a chat has them, on its way to Messages', () => {
    const asked = {
      messages: [
        { role: 'system', content: [text('Rules.'), text('More.', mark)] },
        { role: 'user', content: 'a', ...mark },
        {
          role: 'assistant',
          content: [text('b', mark)],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'd', ...mark },
      ],
    }
    const { system, messages } = toMessagesFromChat(asked as never)
    assert.deepEqual(system, [text('Rules.\nMore.', mark)])
    assert.deepEqual(
      messages.map(({ content }) => content),
      [
        [text('a', mark)],
        [text('b'), { type: 'tool_use', id: 'c', name: 'f', input: {}, ...mark }],
        [{ type: 'tool_result', tool_use_id: 'c', content: 'd', ...mark }],
      ],
    )
  })

  it('stay at the ends of turns on their way to a chat that takes them, and are named as dropped elsewhere', () => {
    const messages = [
      { role: 'user', content: [text('a', mark)] },
      { role: 'assistant', content: [text('b', mark), { type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'd', ...mark }] },
    ]
    const asked = { max_tokens: 9, system: [BILLING, text('Rules.', mark)], messages } as unknown as MessagesRequest
    const notes: string[] = []
    const note = (field: string) => void notes.push(field)
    const sent = (cacheMarks: boolean) =>
      toChatFromMessages(asked, note, undefined, '', { cacheMarks }).messages.map(({ content }) => content)
    assert.deepEqual(sent(true), [[text('Rules.', mark)], [text('a', mark)], [text('b', mark)], [text('d', mark)]])
    assert.deepEqual(notes, [])
    assert.deepEqual(sent(false), ['Rules.', 'a', 'b', 'd'])
    assert.deepEqual(notes, ['cache_control'])
  })

  it('stay on the tools and the ends of the turns of a Responses client, in a chat that takes them', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {}, ...mark }]
    const input = [
      { role: 'developer', content: [{ type: 'input_text', text: 'Rules.', ...mark }] },
      { role: 'user', content: [{ type: 'input_text', text: 'a', ...mark }, text('b')] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'c', ...mark }] },
      { type: 'function_call', call_id: 'd', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'd', output: 'e', ...mark },
    ]
    const request = { input, tools, ...mark } as unknown as ResponseRequest
    const notes: string[] = []
    const sent = (cacheMarks: boolean) =>
      toChatRequest(request, null, (field) => void notes.push(field), { open: () => null }, { cacheMarks })
    const kept = sent(true)
    const contents = ['Rules.', 'a\nb', 'c', 'e']
    assert.deepEqual(
      kept.messages.map(({ content }) => content),
      contents.map((words) => [text(words, mark)]),
    )
    assert.deepEqual([marksIn(kept.tools), marksIn(kept), notes], [1, 6, []])
    const plain = sent(false)
    assert.deepEqual(
      plain.messages.map(({ content }) => content),
      contents,
    )
    assert.deepEqual([marksIn(plain), notes], [0, ['cache_control']])
  })

  it('never lead a prompt of another provider by the line about billing', () => {
    const asked = { max_tokens: 9, system: [BILLING], messages: FIRST } as unknown as MessagesRequest
    assert.deepEqual(toChatFromMessages(asked).messages, FIRST)
  })

  it('are set from the second turn of a session, and at once for known agents', () => {
    const [begin, , on] = SECOND
    assert.deepEqual(marked(SECOND), {
      max_tokens: 9,
      system: [text('Be brief.', mark)],
      messages: [
        { ...begin, content: [text('Begin.', mark)] },
        SECOND[1],
        { ...on, content: [text('Go on.'), text('Now.', mark)] },
      ],
    })
    assert.equal(marksIn(marked(FIRST)), 0)
    assert.equal(marksIn(marked(FIRST, agent)), 2)
    assert.equal(marksIn(marked(FIRST, agent, { system: undefined, tools: [{ name: 'a' }, { name: 'b' }] })), 2)
  })

  it('are not set without a session, for a trace, or beside those of the client', () => {
    for (const other of [NO_SESSION, { ...session, session_id: 'trace:1' }])
      assert.equal(marksIn(marked(SECOND, other)), 0)
    const own = [...FIRST, { role: 'user', content: [text('mine', mark)] }]
    assert.deepEqual(marked(own, agent).messages, own)
  })

  it('are at most three of the four that Anthropic takes, and never on thinking or blank text', () => {
    const block = fc.oneof(
      fc.constantFrom('', ' ', 'a').map((words) => text(words)),
      fc.constant({ type: 'thinking', thinking: 'Hm.', signature: 's' }),
      fc.constant({ type: 'tool_result', tool_use_id: 'c', content: 'd' }),
    )
    const content = fc.oneof(fc.constantFrom('', ' ', 'a'), fc.array(block, { maxLength: 3 }))
    const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.option(content, { nil: undefined }), (messages, system) => {
        const sent = marked(messages, agent, { system })
        assert.ok(marksIn(sent) <= 3)
        for (const found of JSON.stringify(sent).matchAll(/\{[^{}]*"cache_control":\{"type":"ephemeral"\}\}/g))
          assert.ok(!/"thinking"|"text":" ?"/.test(found[0]), found[0])
      }),
      { numRuns: 200 },
    )
  })
})
