import { type Behaviour, json } from './upstream.ts'

/** A Message as Anthropic's API answers it. */
export const message = (
  content: object[] | string,
  more: object = {},
  usage: object = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
) => ({
  id: 'msg_double',
  type: 'message',
  role: 'assistant',
  model: 'double-claude',
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
  ...more,
})

/** The events of its stream. */
export const messageStream = (words: string[], usage = { output_tokens: 5 }) => [
  {
    type: 'message_start',
    message: message([], { stop_reason: null }, { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 }),
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
]

/** Server-sent events with their names, then the given end. */
export const named =
  (events: object[], end: 'end' | 'break' = 'end'): Behaviour =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_upstream' })
    for (const event of events) {
      response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (end === 'end') response.end()
    else response.socket?.destroy()
  }

/** An error in Anthropic's shape. */
export const refuses = (status: number, type: string, text: string, headers: Record<string, string> = {}): Behaviour =>
  json(status, { type: 'error', error: { type, message: text }, request_id: 'req_upstream' }, headers)
