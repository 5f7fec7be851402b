import { Webhook } from 'standardwebhooks'
import { VERSION } from '../config/version.ts'
import { GazewayError } from '../errors.ts'
import { networkFetch } from '../wire/network-fetch.ts'

/** Time limit of one attempt, in milliseconds. */
const TIMEOUT_MS = 10_000

/** Address of alerts, and the secret that signs them. */
export interface WebhookAddress {
  url: string
  /** `whsec_` followed by base64. */
  secret: string
}

/**
 * Posts a message, signed by Standard Webhooks (https://www.standardwebhooks.com). Follows no redirects, and reads only
 * the status of the reply.
 *
 * @param message.id the same in each attempt
 * @returns null once the receiver has accepted it, otherwise the reason; never the address, which may contain a key
 */
export async function postWebhook(
  { url, secret }: WebhookAddress,
  { id, body, at }: { id: string; body: string; at: Date },
): Promise<string | null> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': `gazeway/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const reply = await networkFetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await reply.body?.cancel()
    return reply.ok ? null : `The receiver answered ${reply.status}.`
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `The receiver did not answer within ${TIMEOUT_MS / 1000} s.`
  const cause = error instanceof Error ? error.cause : undefined
  // Of the proxy.
  for (const known of [error, cause]) if (known instanceof GazewayError) return known.message
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return `The receiver could not be reached${code}.`
}
