import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { COMPLETION, FAILING_MODEL, MESSAGE } from './http-upstream.ts'

/**
 * A provider of models in a process of its own: `http-upstream-process.ts PORT`. It answers a chat completion at once,
 * or a Message, and streams `max_tokens` chunks as fast as it can write each by itself, then usage and `[DONE]`; with
 * `metadata.pause_ms` it waits before each further chunk, as models do.
 * `GET /abandoned` tells how many streams were left before their end.
 */

let abandoned = 0

// Longer than any pause of a client: Portkey's fetch fails where a connection closes as it sends.
createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  if (request.url === '/abandoned') return response.end(String(abandoned))
  // A gateway looks from time to time whether its provider is there.
  if (request.method === 'GET') return response.end('{"object":"list","data":[]}')
  const { stream, max_tokens, model, metadata } = JSON.parse(await readBody(request))
  const isMessage = request.url === '/v1/messages'
  if (model === FAILING_MODEL) response.statusCode = 500
  if (stream)
    return streamPieces(response, isMessage ? messageStream(max_tokens) : chatStream(max_tokens), metadata?.pause_ms)
  response.setHeader('content-type', 'application/json')
  response.end(isMessage ? MESSAGE : COMPLETION)
}).listen(Number(process.argv[2]), '127.0.0.1')

/** Text of a stream: its beginning, the piece that is repeated `pieces` times, and its end. */
interface Stream {
  begin: string
  piece: string
  pieces: number
  end: string
}

function streamPieces(response: ServerResponse, { begin, piece, pieces, end }: Stream, pauseMs?: number): void {
  response.setHeader('content-type', 'text/event-stream')
  if (begin !== '') response.write(begin)
  let left = pieces
  function next(): void {
    if (response.destroyed) return
    if (left === 0) return void response.end(end)
    left -= 1
    response.write(piece)
    // Node joins what is written in one turn.
    if (pauseMs === undefined) setImmediate(next)
    else setTimeout(next, pauseMs)
  }
  next()
  response.on('close', () => {
    if (!response.writableFinished) abandoned += 1
  })
}

function chatStream(pieces: number): Stream {
  const usage = { prompt_tokens: 10, completion_tokens: pieces, total_tokens: 10 + pieces }
  const last = event([{ index: 0, delta: {}, finish_reason: 'stop' }])
  return {
    begin: '',
    piece: event([{ index: 0, delta: { content: 'word ' }, finish_reason: null }]),
    pieces,
    end: `${last}${event([], usage)}data: [DONE]\n\n`,
  }
}

function messageStream(pieces: number): Stream {
  const named = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const of = (type: string, more: object) => named({ type, ...more })
  const message = {
    ...JSON.parse(MESSAGE),
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  }
  const begun = of('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  const delta = { stop_reason: 'end_turn', stop_sequence: null }
  return {
    begin: of('message_start', { message }) + begun,
    piece: of('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'word ' } }),
    pieces,
    end:
      of('content_block_stop', { index: 0 }) +
      of('message_delta', { delta, usage: { output_tokens: pieces } }) +
      of('message_stop', {}),
  }
}

function event(choices: unknown[], usage: unknown = null): string {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1760000000, model: 'm', choices, usage }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
