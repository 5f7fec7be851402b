import { randomInt } from 'node:crypto'
import { Agent, request } from 'undici'
import * as double from '../doubles/upstream.ts'
import type { GatewayProcess } from '../e2e/gateway-process.ts'

/** Outcomes of the requests of a load, as clients saw them. */
export interface Outcome {
  answered: number
  /** Given up by the client on purpose, somewhere between its first byte and the last of the reply. */
  aborted: number
  /** Status and body of replies that should not have been. */
  wrong: string[]
}

/** One of eight requests is given up at a random moment; of one of ten responses chat is the author. */
const ABORTED = 1 / 8
const REFUSED = 1 / 10
/** A client that gives up does so within this time, about that of a reply under load. */
const PATIENCE_MS = 40

const WORDS = Array.from({ length: 20 }, (_, i) => `word ${i} `)
const TEXT = 'x'.repeat(2000)

/** Makes a double a busy provider: whole replies, streams of 20 words, and a responses endpoint that fails at times. */
export function beBusy(upstream: double.UpstreamDouble): void {
  upstream.on('/chat/completions', (response, { body }) =>
    isStream(body)
      ? double.sse(double.chunks(WORDS))(response, undefined as never)
      : double.json(200, double.completion(TEXT))(response, undefined as never),
  )
  upstream.on('/responses', (response, { body }) => {
    upstream.received.length = 0
    if (Math.random() < REFUSED) return double.fails(500)(response, undefined as never)
    return isStream(body)
      ? double.sse(double.responseEvents(WORDS), 'none')(response, undefined as never)
      : double.json(200, double.response(TEXT))(response, undefined as never)
  })
}

/** Sends all kinds of requests over `connections` connections, and gives some of them up; closes them at the end. */
export async function sendTraffic(
  { url, key }: GatewayProcess,
  { connections, durationMs }: { connections: number; durationMs: number },
): Promise<Outcome> {
  const agent = new Agent({ connections, pipelining: 1 })
  const outcome: Outcome = { answered: 0, aborted: 0, wrong: [] }
  const until = Date.now() + durationMs

  async function ask(): Promise<void> {
    const path = Math.random() < 0.5 ? '/v1/chat/completions' : '/v1/responses'
    const stream = Math.random() < 0.5
    const asked = path.endsWith('responses') ? { input: TEXT } : { messages: [{ role: 'user', content: TEXT }] }
    const leaving = Math.random() < ABORTED ? AbortSignal.timeout(randomInt(PATIENCE_MS)) : null
    try {
      const { statusCode, body } = await request(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...asked, stream }),
        dispatcher: agent,
        ...(leaving ? { signal: leaving } : {}),
      })
      const text = await body.text()
      const whole = !stream || /\[DONE\]|response\.completed/.test(text)
      if (statusCode === 200 && whole) outcome.answered++
      else outcome.wrong.push(`${statusCode} ${text.slice(0, 300)}`)
    } catch (error) {
      if (!leaving?.aborted) throw error
      outcome.aborted++
    }
  }
  async function client(): Promise<void> {
    while (Date.now() < until) await ask()
  }

  await Promise.all(Array.from({ length: connections }, client))
  await agent.close()
  return outcome
}

const isStream = (body: unknown): boolean => (body as { stream?: boolean }).stream === true
