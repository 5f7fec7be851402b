import { fileURLToPath } from 'node:url'
import { freePort } from '../test/doubles/free-port.ts'
import { type Running, startServer } from './http-process.ts'

/** The upstream's reply to a chat completion without streaming. */
export const COMPLETION = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1760000000,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello there, this is a short answer.' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
})

/** A model that the upstream refuses at once, with a status that does not open a circuit breaker. */
export const FAILING_MODEL = 'failing'

/** The upstream's reply to a Message without streaming. */
export const MESSAGE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello there, this is a short answer.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
})

/**
 * A provider on Node, which answers some 30,000 requests a second; see `http-upstream-process.ts`. (nginx answering a
 * constant is faster still, but no proxy on Node reaches 40 % of nginx before it: a bare one without any work of its own
 * makes 38 %.)
 */
export async function startUpstream(): Promise<Running> {
  const port = await freePort()
  const script = fileURLToPath(new URL('http-upstream-process.ts', import.meta.url))
  return startServer(process.execPath, ['--import', 'tsx', script, String(port)], { port })
}

/** Number of streams that the upstream's clients have left before their end. */
export async function abandonedStreams({ port }: Running): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/abandoned`)
  return Number(await response.text())
}
