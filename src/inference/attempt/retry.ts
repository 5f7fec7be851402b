import type { GazewayError } from '../../errors.ts'
import { retryAfterMs } from '../api/retry-after.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { CLIENT_GONE, type Client } from '../relay/send.ts'

/**
 * Rules for sending a request to the same candidate again after a transient error. HTTP clients retry by themselves, so
 * only Gazeway's own calls are retried here.
 */

/** Transient errors: request timeout, conflict, rate limit; and every 5xx. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 409, 429])
/** Longest `Retry-After` that is waited for. The caller gets the error beyond that. */
const LONGEST_WAIT_MS = 30_000
/** First pause when the upstream names none. It doubles with each retry, less a random part of up to a quarter. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000
const JITTER = 0.25

/**
 * Sends a request and retries transient errors: error replies with a transient status, and connections that fail before
 * a reply. Timeouts are not retried, since the upstream may still be working.
 *
 * @param retries most retries
 * @param onDiscarded called with each reply after which the request is sent again
 * @throws as `send`, and CLIENT_GONE when the client disconnects between attempts
 */
export function withRetries(
  retries: number,
  client: Client,
  send: () => Promise<WholeReply | StreamReply>,
  onDiscarded: (reply: WholeReply | StreamReply) => void,
): Promise<WholeReply | StreamReply> {
  return retries === 0 ? send() : retried(retries, client, send, onDiscarded)
}

async function retried(
  retries: number,
  client: Client,
  send: () => Promise<WholeReply | StreamReply>,
  onDiscarded: (reply: WholeReply | StreamReply) => void,
): Promise<WholeReply | StreamReply> {
  for (let tried = 0; ; tried++) {
    let reply: WholeReply | StreamReply | null = null
    let pause = pauseMs(tried)
    try {
      reply = await send()
      const wanted = tried < retries ? pauseAfter(reply, tried) : null
      if (wanted === null) return reply
      pause = wanted
    } catch (error) {
      if (tried === retries || !isUnreachable(error as GazewayError)) throw error
    }
    await waitFor(pause, client)
    // Nobody waits for another reply, and an error costs nothing.
    if (client.hasLeft?.() === true) {
      if (reply === null) throw CLIENT_GONE
      return reply
    }
    if (reply !== null) onDiscarded(reply)
  }
}

/** Pause before a retry after a reply, in milliseconds. Null for no retry. */
function pauseAfter({ status, headers }: WholeReply | StreamReply, tried: number): number | null {
  const asked = String(headers['x-should-retry'] ?? '')
  const isTransient = asked === 'true' || (asked !== 'false' && (TRANSIENT.has(status) || status >= 500))
  if (!isTransient) return null
  const wanted = retryAfterMs(headers)
  if (wanted === null) return pauseMs(tried)
  return wanted > LONGEST_WAIT_MS ? null : wanted
}

const pauseMs = (tried: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** tried, LONGEST_PAUSE_MS) * (1 - Math.random() * JITTER)

/** Tells whether there was no reply. An error of an open circuit breaker does not count; it names its pause. */
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
