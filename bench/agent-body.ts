/** Text of a tool's result: code, with quotes, line ends and letters beyond ASCII. */
const RESULT = Array.from(
  { length: 60 },
  (_, line) => `  const value${line} = read("file-${line}.ts", { at: ${line} }) // the line’s own text\n`,
).join('')
/** Bytes of the JSON around a result, about. */
const AROUND = 500

/**
 * The request of an agent's turn: calls of a tool with their results, up to a size.
 *
 * @param kb its size in KB, about
 * @param more further fields
 */
export function agentBody(api: 'chat' | 'messages', kb: number, more: object = {}): string {
  const turns = Math.max(1, Math.floor((kb * 1024) / (Buffer.byteLength(JSON.stringify(RESULT)) + AROUND)))
  const length = Math.max(0, Math.min(RESULT.length, kb * 1024 - AROUND))
  const turn = api === 'chat' ? chatTurn : messagesTurn
  const history = Array.from({ length: turns }, (_, index) => turn(`call_${index}`, RESULT.slice(0, length))).flat()
  const schema = { type: 'object', properties: { path: { type: 'string' }, model: { type: 'string' } } }
  const tool = { name: 'read', description: 'Reads a file.' }
  const tools =
    api === 'chat'
      ? [{ type: 'function', function: { ...tool, parameters: schema } }]
      : [{ ...tool, input_schema: schema }]
  const messages = [...history, { role: 'user', content: 'Say hello to the world, please.' }]
  return JSON.stringify({ model: 'm', max_tokens: 100, messages, tools, ...more })
}

const INPUT = { path: 'src/index.ts' }

const chatTurn = (id: string, result: string): object[] => [
  { role: 'user', content: 'Read the file.' },
  {
    role: 'assistant',
    content: 'I read it.',
    tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: JSON.stringify(INPUT) } }],
  },
  { role: 'tool', tool_call_id: id, content: result },
  { role: 'assistant', content: 'It holds sixty lines.' },
]

const messagesTurn = (id: string, result: string): object[] => [
  { role: 'user', content: 'Read the file.' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I read it.' },
      { type: 'tool_use', id, name: 'read', input: INPUT },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
  { role: 'assistant', content: [{ type: 'text', text: 'It holds sixty lines.' }] },
]
