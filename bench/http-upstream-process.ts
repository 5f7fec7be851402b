import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { COMPLETION } from './http-upstream.ts'

/**
 * A provider of models in a process of its own: `http-upstream-process.ts PORT`. It answers a chat completion at once,
 * and streams `max_tokens` chunks as fast as it can write each by itself, then usage and `[DONE]`.
 * `GET /abandoned` tells how many streams were left before their end.
 */

let abandoned = 0

createServer(async (request, response) => {
  if (request.url === '/abandoned') return response.end(String(abandoned))
  // A gateway looks from time to time whether its provider is there.
  if (request.method === 'GET') return response.end('{"object":"list","data":[]}')
  const { stream, max_tokens } = JSON.parse(await readBody(request))
  if (stream) return streamChunks(response, max_tokens)
  response.setHeader('content-type', 'application/json')
  response.end(COMPLETION)
}).listen(Number(process.argv[2]), '127.0.0.1')

function streamChunks(response: ServerResponse, chunks: number): void {
  response.setHeader('content-type', 'text/event-stream')
  let left = chunks
  function next(): void {
    if (response.destroyed) return
    if (left > 0) {
      left -= 1
      response.write(event([{ index: 0, delta: { content: 'word ' }, finish_reason: null }]))
      // Node joins what is written in one turn.
      setImmediate(next)
      return
    }
    response.write(event([{ index: 0, delta: {}, finish_reason: 'stop' }]))
    const usage = { prompt_tokens: 10, completion_tokens: chunks, total_tokens: 10 + chunks }
    response.end(`${event([], usage)}data: [DONE]\n\n`)
  }
  next()
  response.on('close', () => {
    if (!response.writableFinished) abandoned += 1
  })
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
