import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { endWithTests } from './end-with-tests.ts'

/** A request as the double received it. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The raw body, and its JSON. */
  text: string
  bytes: Buffer
  body: unknown
  /** Resolves when the client disconnects before the reply is complete; rejects when all of it was sent. */
  aborted: Promise<void>
}

/** Handler of one request to the double. */
export type Behaviour = (response: ServerResponse, request: Received) => void | Promise<void>

/** A real HTTP server that acts as a model provider, correct or faulty. */
export interface UpstreamDouble {
  /** Base URL, ending `/v1`. */
  url: string
  received: Received[]
  /** Sets the behaviours of the next requests to a path, one each; the last one stays. */
  on(path: string, ...behaviours: Behaviour[]): void
  /** Sets for how many milliseconds it keeps a connection without use: a provider for a minute or longer, Node for 5 s. */
  keepConnections(ms: number): void
  close(): Promise<void>
}

/**
 * @param tls its key and certificate, PEM, where it is to be reached by HTTPS
 * @param at the port; a free one when absent
 */
export async function startUpstream(tls?: { key: string; cert: string }, at = 0): Promise<UpstreamDouble> {
  const received: Received[] = []
  const scripts = new Map<string, Behaviour[]>()
  const answer: RequestListener = async (request, response) => {
    const pieces: Buffer[] = []
    for await (const chunk of request) pieces.push(chunk)
    const bytes = Buffer.concat(pieces)
    const text = bytes.toString('utf8')
    const path = (request.url ?? '').replace(/^\/v1/, '').split('?')[0] ?? ''
    const aborted = new Promise<void>((resolve, reject) => {
      response.on('close', () => {
        if (response.writableFinished) reject(new Error('the reply was sent whole, nobody aborted it'))
        else resolve()
      })
    })
    // Most tests do not ask.
    aborted.catch(() => undefined)
    const { method = '', url = '', headers } = request
    const entry = { method, path: url, headers, text, bytes, body: parsed(text), aborted }
    const script = scripts.get(path)
    // `GET /health` looks for the list of models; that is no call of the test's own.
    if (script !== undefined || path !== '/models') received.push(entry)
    const behaviour = script && script.length > 1 ? script.shift() : script?.[0]
    await (behaviour ?? json(404, { error: { message: `no script for ${path}` } }))(response, entry)
  }
  const server = tls ? createTlsServer(tls, answer) : createServer(answer)
  await new Promise<void>((resolve) => endWithTests(server).listen(at, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/v1`,
    received,
    on: (path, ...behaviours) => void scripts.set(path, behaviours),
    keepConnections: (ms) => {
      server.keepAliveTimeout = ms
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        // One that was still on its way would otherwise be waited for.
        server.on('connection', (socket) => socket.destroy())
      }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

export const fails = (status: number, headers: Record<string, string> = {}, param: string | null = null): Behaviour =>
  json(status, { error: { message: `double says ${status}`, type: 'server_error', code: null, param } }, headers)

/** Accepts only `max_completion_tokens` as the answer limit, as OpenAI's reasoning models do; relays name no field. */
export const renamesLimit: Behaviour = (response, request) => {
  const message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
  const { max_tokens, stream } = request.body as { max_tokens?: number; stream?: boolean }
  if (max_tokens !== undefined)
    return json(400, { error: { message, param: stream ? 'max_tokens' : null } })(response, request)
  return stream ? sse(chunks(['Hello.']))(response, request) : json(200, completion('Hello.'))(response, request)
}

/** Replies with status 200 and truncated JSON. */
export const malformed: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": "x", "choices": [')
}

/** Never answers. */
export const hangs: Behaviour = () => {}

/** Closes the connection without a byte. */
export const drops: Behaviour = (response) => void response.socket?.destroy()

/** Refuses `stream_options`, as some providers do; `behaviour` handles all other requests. */
export const tellsNoUsage =
  (behaviour: Behaviour, status = 422): Behaviour =>
  (response, request) => {
    const refused = request.text.includes('stream_options')
    const message = 'Extra inputs are not permitted: stream_options'
    return (refused ? json(status, { error: { message, param: 'stream_options' } }) : behaviour)(response, request)
  }

/** Server-sent events, then the given end. */
export const sse =
  (events: unknown[], end: 'done' | 'break' | 'hang' | 'none' = 'done'): Behaviour =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      const { type } = event as { type?: string }
      const name = type?.startsWith('response.') || type === 'error' ? `event: ${type}\n` : ''
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (end === 'break') response.socket?.destroy()
    if (end === 'done') response.end('data: [DONE]\n\n')
    if (end === 'none') response.end()
  }

export const completion = (
  text: string,
  usage: unknown = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'double-chat',
  choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, finish_reason: 'stop' }],
  ...(usage ? { usage } : {}),
})

export const chunks = (
  words: string[],
  usage: unknown = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
) => {
  const chunk = (choices: unknown[], extra = {}) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'double-chat',
    choices,
    ...extra,
  })
  return [
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    ...words.map((content) => chunk([{ index: 0, delta: { content }, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    ...(usage ? [chunk([], { usage })] : []),
  ]
}

/** Fields of a choice that its provider aborted, in the forms of OpenRouter and others. */
export const failedChoices = [
  { error: { message: 'The worker died.', code: 502 }, finish_reason: 'error' },
  { error: { message: 'The worker died.', code: 502 } },
  ...['error', 'network_error', 'insufficient_system_resource', 'malformed_function_call'].map((finish_reason) => ({
    finish_reason,
  })),
]

/** A completion whose only choice failed. */
export const failedCompletion = (text: string, failed: object) => {
  const whole = completion(text)
  return { ...whole, choices: [{ ...whole.choices[0], finish_reason: null, ...failed }] }
}

/** A stream whose only choice fails after some words. */
export const failedChunks = (words: string[], failed: object) => {
  const [begun, ...said] = chunks(words, null).slice(0, -1)
  return [begun, ...said, { ...begun, choices: [{ index: 0, delta: { content: '' }, ...failed }] }]
}

export const response = (text: string, annotations: unknown[] = []) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'completed',
  model: 'double-research',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations }],
    },
  ],
  usage: { input_tokens: 20, output_tokens: 7, total_tokens: 27 },
})

export const responseEvents = (words: string[]) => {
  const whole = response(words.join(''))
  const started = { ...whole, status: 'in_progress', output: [], usage: null }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  return [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    { type: 'response.output_item.added', output_index: 0, item: { ...whole.output[0], content: [] } },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.completed', response: whole },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

/** Streams of Responses events whose last event omits the earlier output. */
export const endedWithoutOutput = (text: string): Record<string, unknown[]> => {
  const events = responseEvents([text])
  const { output, ...rest } = response(text)
  const [message] = output
  const items = [
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
  ]
  const ending = (over: object) => ({ type: 'response.completed', response: { ...rest, ...over } })
  return {
    'with no items': [...events.slice(0, -1), ...items, ending({ output: [] })],
    'without its output': [...events.slice(0, -1), ...items, ending({})],
    'with no items, after nothing but text': [...events.slice(0, -1), ending({ output: [] })],
  }
}
