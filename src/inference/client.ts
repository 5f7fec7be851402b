import type OpenAI from 'openai'
import { lazily } from '../wire/lazily.ts'
import { type WholeEvents, wholeEvents } from '../wire/whole-events.ts'
import { record } from './convert/loose.ts'
import { badReply } from './failure.ts'
import type { Provider } from './provider.ts'
import { tooLarge, WHOLE_LIMIT_BYTES } from './relay/send.ts'

/** A wait that an upstream asks for is honoured up to this long; beyond it the caller is told instead. */
const LONGEST_WAIT_SECONDS = 30

const loadClient = lazily(async () => {
  const { default: Client } = await import('openai')
  return class Gazeway extends Client {
    /** Of a refusal the client reads only `error`; some upstreams say in other fields why, as in `detail`. */
    protected override makeStatusError(status: number, body: object, message: string | undefined, headers: Headers) {
      return super.makeStatusError(status, { error: record(body).error ?? body }, message, headers)
    }
  }
})

/**
 * The `openai` client for one call. It retries connection errors, 408, 409, 429 and 5xx with growing pauses, or after
 * the `Retry-After` that the upstream names.
 *
 * @param touch called before each request that is really sent, and with each piece of a reply, whatever it holds
 */
export async function openaiClient(provider: Provider, touch: () => void): Promise<OpenAI> {
  const Client = await loadClient()
  return new Client({
    baseURL: provider.baseUrl,
    apiKey: provider.apiKey ?? 'none',
    organization: null,
    project: null,
    defaultHeaders: { ...provider.headers, ...(provider.apiKey ? {} : { authorization: null }) },
    maxRetries: provider.maxRetries,
    // The caller's watchdog limits the silence instead, from the first byte to the last.
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    fetch: async (url, init) => {
      touch()
      const response = await provider.fetch(new Request(url, { ...init, redirect: 'manual' }))
      const { body, status, headers } = response
      touch()
      // No Response can be made with such a status.
      if (status > 599) return response
      const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
      const reply = new Response(body?.pipeThrough(bounded(provider, isStream, touch)) ?? null, { status, headers })
      // The client obeys this header before all else.
      if (waitsTooLong(headers)) reply.headers.set('x-should-retry', 'false')
      return reply
    },
  })
}

function waitsTooLong(headers: Headers): boolean {
  const wait = headers.get('retry-after')
  if (wait === null) return false
  const seconds = Number(wait)
  const until = Number.isNaN(seconds) ? (Date.parse(wait) - Date.now()) / 1000 : seconds
  return until > LONGEST_WAIT_SECONDS
}

/**
 * Passes a reply on, up to 64 MiB of it; a stream of events event by event, for the client looks for the end of one from
 * its beginning with each piece.
 *
 * @param touch told of each piece: providers that are at work keep a reply alive with comments and blank lines, which the
 *   client does not tell of
 */
function bounded(provider: Provider, isStream: boolean, touch: () => void): TransformStream<Uint8Array, Uint8Array> {
  const events = isStream ? wholeEvents() : null
  let size = 0
  return new TransformStream({
    transform(piece, controller) {
      touch()
      size += piece.length
      if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
      const ready = events ? ended(events, piece) : piece
      if (ready) controller.enqueue(ready)
    },
    flush(controller) {
      const rest = events?.rest()
      if (rest) controller.enqueue(rest)
    },
  })

  function ended(events: WholeEvents, { buffer, byteOffset, length }: Uint8Array): Buffer | null {
    try {
      return events.push(Buffer.from(buffer, byteOffset, length))
    } catch (error) {
      throw badReply(provider, 'an event of its stream has no end', error)
    }
  }
}
