import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'
import { withGateway } from './running.ts'

const QUESTION = 'A saccade is a jump of the eyes; a fixation is the rest between two. What is a fixation?'

/**
 * Starts the gateway of the built command over HTTP and asks it as programs do: a chat, a stream, a Response; then another
 * one, before a provider whose responses endpoint fails. Prints what they answered.
 *
 * @param options.command the built `cli.js`
 * @throws Error when a start or a request fails, or nothing falls back
 */
export async function showHttp({ command, dataDir }: { command: string; dataDir: string }): Promise<void> {
  await withGateway({ command, dataDir, upstream: 'sandbox' }, async ({ url, admin: key }) => {
    console.log(`\nGazeway’s gateway on ${url}, with the sandbox for a model.\n`)
    const messages = [{ role: 'user', content: QUESTION }]
    await show('1. A chat completion', () => post(`${url}/v1/chat/completions`, key, { messages }))
    await show('2. The same as a stream', () => post(`${url}/v1/chat/completions`, key, { messages, stream: true }))
    await show('3. A response', () => post(`${url}/v1/responses`, key, { input: QUESTION }))
  })
  const provider = await startFailing()
  await withGateway({ command, dataDir, upstream: provider.url }, async ({ url, admin: key }) => {
    console.log(
      `Another gateway, before a provider of this demo: its /responses answer 503, its chat is the sandbox’s.\n`,
    )
    await show('4. A response, which chat completions give', async () => {
      const reply = await post(`${url}/v1/responses`, key, { input: QUESTION })
      if (reply.headers.get('x-gazeway-route') !== 'chat_fallback') throw new Error('Nothing fell back.')
      return reply
    })
  }).finally(provider.close)
}

/** A provider whose responses endpoint is down. */
async function startFailing(): Promise<{ url: string; close(): void }> {
  const sandbox = createSandbox()
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/responses') {
      response.writeHead(503, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'Down for the demonstration.', type: 'server_error' } }))
    } else await passOn(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }

  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const sent = request.method === 'POST' ? { method: 'POST', body: Buffer.concat(chunks).toString('utf8') } : {}
    const reply = await sandbox.fetch(new Request(`http://sandbox.local${request.url}`, sent))
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    response.end(await reply.text())
  }
}

async function post(url: string, key: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`)
  return reply
}

/** Prints what was answered: the headers that Gazeway adds, and the JSON, or the events' beginning and end. */
async function show(title: string, ask: () => Promise<Response>): Promise<void> {
  const began = performance.now()
  const reply = await ask()
  const text = await reply.text()
  const own = [...reply.headers].filter(([name]) => name.startsWith('x-gazeway-'))
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream')
  const lines = isStream
    ? ends(text.split('\n\n').filter(Boolean))
    : JSON.stringify(JSON.parse(text), null, 2).split('\n')
  console.log(`${title} (${Math.round(performance.now() - began)} ms)\n`)
  for (const line of [...own.map(([name, value]) => `${name}: ${value}`), '', ...lines])
    console.log(`   ${line}`.trimEnd())
  console.log()
}

function ends(events: readonly string[]): string[] {
  return events.length <= 5
    ? [...events]
    : [...events.slice(0, 2), `… ${events.length - 4} more …`, ...events.slice(-2)]
}
