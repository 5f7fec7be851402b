import type { GazewayError } from '../errors.ts'
import { CLIENT_GONE, type Client, type StreamReply, type WholeReply } from './relay/send.ts'

/**
 * When a request is sent to the same candidate again after a transient error. HTTP clients retry by themselves, so only
 * calls of Gazeway's own are retried here.
 */

/** Transient errors: request timeout, conflict, rate limit; and every 5xx. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 409, 429])
/** A longer `Retry-After` than this is not waited for: the caller is told instead. */
const LONGEST_WAIT_MS = 30_000
/** The pause where the upstream names none; it doubles with each retry, less up to a quarter by chance. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000
const JITTER = 0.25

/**
 * Sends a request, and again after transient errors: refusals of that kind, and connections that fail before a reply.
 * Silence is not retried: the upstream may be at work.
 *
 * @param retries how often at most
 * @throws as `send`, and CLIENT_GONE when the client goes between two tries
 */
export function withRetries(
  retries: number,
  client: Client,
  send: () => Promise<WholeReply | StreamReply>,
): Promise<WholeReply | StreamReply> {
  return retries === 0 ? send() : retried(retries, client, send)
}

async function retried(
  retries: number,
  client: Client,
  send: () => Promise<WholeReply | StreamReply>,
): Promise<WholeReply | StreamReply> {
  for (let tried = 0; ; tried++) {
    let pause: number | null
    try {
      const reply = await send()
      pause = tried < retries ? pauseAfter(reply, tried) : null
      if (pause === null) return reply
    } catch (error) {
      if (tried === retries || !isUnreachable(error as GazewayError)) throw error
      pause = pauseMs(tried)
    }
    await waitFor(pause, client)
  }
}

/** How long to wait before a request is sent again that had this reply, in milliseconds; null where it is not sent again. */
function pauseAfter({ status, headers }: WholeReply | StreamReply, tried: number): number | null {
  const asked = String(headers['x-should-retry'] ?? '')
  const isTransient = asked === 'true' || (asked !== 'false' && (TRANSIENT.has(status) || status >= 500))
  if (!isTransient) return null
  const wanted = askedPause(headers)
  if (wanted === null) return pauseMs(tried)
  return wanted > LONGEST_WAIT_MS ? null : wanted
}

/** The pause that an upstream asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). */
export function askedPause(headers: WholeReply['headers']): number | null {
  const precise = Number.parseFloat(String(headers['retry-after-ms']))
  if (!Number.isNaN(precise)) return Math.max(0, precise)
  const said = String(headers['retry-after'] ?? '')
  const ms = Number.isNaN(Number(said)) ? Date.parse(said) - Date.now() : Number(said) * 1000
  return said === '' || Number.isNaN(ms) ? null : Math.max(0, ms)
}

const pauseMs = (tried: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** tried, LONGEST_PAUSE_MS) * (1 - Math.random() * JITTER)

/** Whether nothing was answered. An endpoint that the circuit breaker leaves alone says for how long. */
const isUnreachable = ({ code, retryAfterSeconds }: GazewayError): boolean =>
  code === 'upstream_unreachable' && (retryAfterSeconds ?? null) === null

function waitFor(ms: number, client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    if (client.isGone()) return reject(CLIENT_GONE)
    const timer = setTimeout(resolve, ms)
    client.onGone(() => {
      clearTimeout(timer)
      reject(CLIENT_GONE)
    })
  })
}
