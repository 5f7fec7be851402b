import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'
import { NO_MODEL } from '../../src/inference/sandbox/text-prefix.ts'
import { withoutFraming } from '../../src/inference/sandbox/without-framing.ts'

const sandbox = createSandbox()
const QUESTION = 'Which port does the gateway use? Look with Read in README.md.'
const SYSTEM = 'You are a coding agent. The gateway port is never to be told. Which port does the gateway use?'
const REMINDER = '<system-reminder>\nThe gateway uses the port of your CLAUDE.md: 1.\n</system-reminder>'
const README = `${'Parcels travel by ship.\n'.repeat(60)}The gateway uses port 8811.`
const OF_README = `${NO_MODEL}Read answered: The gateway uses port 8811.`

/** Claude Code's tools, as far as they matter here. */
const TOOLS = [
  tool('Read', 'Reads a file from the local filesystem.', {
    required: ['file_path'],
    properties: {
      file_path: { type: 'string' },
      offset: { type: 'integer', minimum: 0 },
      pages: { type: 'string', description: 'Page range for PDF files (e.g., "1-5").' },
    },
  }),
  tool('Grep', 'A search tool built on ripgrep.', {
    required: ['pattern'],
    properties: { pattern: { type: 'string' } },
  }),
]

function tool(name: string, description: string, more: object) {
  return { name, description, parameters: { type: 'object', additionalProperties: false, ...more } }
}

/** Answer of an endpoint of the sandbox: its text, or the call of a tool. */
interface Said {
  text: string
  call: { id: string; name: string; arguments: string } | null
}

async function post(path: string, body: object) {
  const reply = await sandbox.fetch(
    new Request(`http://sandbox.local/v1${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'llm-1', ...body }),
    }),
  )
  // biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
  const json: any = await reply.json()
  assert.equal(reply.status, 200, JSON.stringify(json))
  return json
}

async function chat(messages: object[]): Promise<Said> {
  const tools = TOOLS.map((fn) => ({ type: 'function', function: fn }))
  const { choices } = await post('/chat/completions', { messages, tools })
  const [call] = choices[0].message.tool_calls ?? []
  return { text: choices[0].message.content ?? '', call: call ? { id: call.id, ...call.function } : null }
}

/** As the gateway converts a Messages request for the sandbox. */
async function messages(turns: object[]): Promise<Said> {
  const request = {
    model: 'llm-1',
    max_tokens: 1000,
    system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }],
    messages: turns,
    tools: TOOLS.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
  }
  const converted = toChatFromMessages(request as never) as unknown as { messages: object[]; tools: object[] }
  const { choices } = await post('/chat/completions', { messages: converted.messages, tools: converted.tools })
  const [call] = choices[0].message.tool_calls ?? []
  return { text: choices[0].message.content ?? '', call: call ? { id: call.id, ...call.function } : null }
}

async function responses(input: object[]): Promise<Said> {
  const tools = TOOLS.map((fn) => ({ type: 'function', strict: false, ...fn }))
  const { output } = await post('/responses', { instructions: SYSTEM, input, tools, store: false, tool_choice: 'auto' })
  const [item] = output
  if (item.type !== 'function_call') return { text: item.content[0].text, call: null }
  return { text: '', call: { id: item.call_id, name: item.name, arguments: item.arguments } }
}

describe('a coding assistant on the sandbox', () => {
  it('Claude Code, over messages, reads the file that is named once, and is answered with what is in it', async () => {
    const text = (...parts: string[]) => parts.map((part) => ({ type: 'text', text: part }))
    const asked = { role: 'user', content: text(REMINDER, REMINDER, QUESTION) }
    const { call } = await messages([asked])
    assert.deepEqual([call?.name, call?.arguments], ['Read', '{"file_path":"README.md"}'])
    const use = { type: 'tool_use', id: call?.id, name: 'Read', input: { file_path: 'README.md' } }
    const result = { type: 'tool_result', tool_use_id: call?.id, content: `${README}\n\n${REMINDER}` }
    const turns = [asked, { role: 'assistant', content: [use] }, { role: 'user', content: [result, ...text(REMINDER)] }]
    assert.deepEqual(await messages(turns), { text: OF_README, call: null })
  })

  it('a client of chat completions is quoted neither its system message nor its earlier answers', async () => {
    const before = [
      { role: 'system', content: SYSTEM },
      { role: 'developer', content: SYSTEM },
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'The gateway uses port 2.' },
    ]
    const { call } = await chat([...before, { role: 'user', content: `${REMINDER}\n${QUESTION}` }])
    assert.equal(call?.name, 'Read')
    const silent = await chat([...before, { role: 'user', content: 'Which port is used by the gateway?' }])
    assert.equal(silent.text, `${NO_MODEL}Nothing in the given text matches: Which port is used by the gateway?`)
    const own = await chat([...before, { role: 'user', content: 'Which port is used? The gateway uses port 8811.' }])
    assert.equal(own.text, `${NO_MODEL}The gateway uses port 8811.`)
  })

  it('Codex, over responses, is asked with its environment and instructions before the question', async () => {
    const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
    const input = [
      {
        type: 'message',
        role: 'developer',
        content: [{ type: 'input_text', text: `<permissions instructions>\n${SYSTEM}\n</permissions instructions>` }],
      },
      user(`# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nThe gateway uses port 3.\n</INSTRUCTIONS>`),
      user('<environment_context>\n  <cwd>/p</cwd>\n  The gateway uses port 4.\n</environment_context>'),
      user(QUESTION),
    ]
    const { call } = await responses(input)
    assert.deepEqual([call?.name, call?.arguments], ['Read', '{"file_path":"README.md"}'])
    const called = { type: 'function_call', call_id: call?.id, name: 'Read', arguments: call?.arguments }
    const output = { type: 'function_call_output', call_id: call?.id, output: README }
    assert.deepEqual(await responses([...input, called, output]), { text: OF_README, call: null })
  })

  it('tries another tool after one that failed, and none after each has', async () => {
    const question = { role: 'user', content: 'Use Read and Grep for README.md.' }
    const turns: object[] = [question]
    const called: string[] = []
    for (let turn = 0; turn < 5; turn++) {
      const { call } = await chat(turns)
      if (call === null) break
      called.push(call.name)
      const { id, ...fn } = call
      turns.push({ role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: fn }] })
      turns.push({ role: 'tool', tool_call_id: id, content: '<tool_use_error>File does not exist.</tool_use_error>' })
    }
    assert.deepEqual(called, ['Read', 'Grep'])
  })
})

describe("a person's text without what clients add", () => {
  for (const [text, own] of [
    ['a<system-reminder>b</system-reminder>c', 'ac'],
    ['<system-reminder>a<system-reminder>b</system-reminder>c', 'c'],
    ['What does <system-reminder> mean?', 'What does <system-reminder> mean?'],
    ['</system-reminder>a', '</system-reminder>a'],
    ['<work_context>\na\n</work_context>\n\nb', '<work_context>\na\n</work_context>\n\nb'],
    ['<user_query>a</user_query>', '<user_query>a</user_query>'],
  ] as const)
    it(`is ${JSON.stringify(own)} of ${JSON.stringify(text)}`, () => assert.equal(withoutFraming(text), own))

  it('is found in time by its length', () => {
    const begun = performance.now()
    for (const part of ['<system-reminder>', '</system-reminder>', '<a_context></b_context>', '<system-reminder '])
      withoutFraming(part.repeat(1_000_000 / part.length))
    assert.ok(performance.now() - begun < 20_000)
  })
})
