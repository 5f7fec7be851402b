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

/** End of a stream: `done` as chat completions have it, with or without a name. */
export type StreamEnd = 'end' | 'break' | 'done' | 'named done'

/** Server-sent events with their names, then the given end. Events without a type have none, as those of some proxies. */
export const named =
  (events: object[], end: StreamEnd = 'end', areNamed = true): Behaviour =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_upstream' })
    for (const event of events) {
      const { type } = event as { type?: string }
      response.write(`${areNamed && type ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (end === 'break') response.socket?.destroy()
    else response.end(end === 'end' ? undefined : `${end === 'done' ? '' : 'event: done\n'}data: [DONE]\n\n`)
  }

/** An error in Anthropic's shape. */
export const refuses = (status: number, type: string, text: string, headers: Record<string, string> = {}): Behaviour =>
  json(status, { type: 'error', error: { type, message: text }, request_id: 'req_upstream' }, headers)
