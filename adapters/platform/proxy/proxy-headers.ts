import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../../../src/identity/identity.ts'
import type { Headers } from '../../../src/inference/relay/send.ts'
import { PLATFORM_VIA } from '../../../src/wire/via.ts'
import { isEventStream } from './passed-events.ts'

/** Headers that concern one connection only (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Of a request: the caller's credentials, and what this connection has already answered. */
const NOT_SENT = new Set([
  'authorization',
  'payment-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'host',
  'expect',
  'origin',
  'referer',
  // Some servers take these for the method and the path, by which a request is billed.
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
])
/** Of a reply: what would be taken as the platform's own word. */
const NOT_RETURNED = new Set([
  'set-cookie',
  'www-authenticate',
  'payment-receipt',
  'strict-transport-security',
  'alt-svc',
  'x-request-id',
])
const CROSS_ORIGIN = 'access-control-'
/** Names a session, or a memory, of the agent gateway: admins alone may see those, and speak there. */
const SESSION = 'x-hermes-session'

/**
 * The headers that a request goes on with.
 *
 * @param of.token what the agent gateway is opened with; null for none
 * @param of.isRead whether the reply is read on the way, which must come as it is for that
 */
export function requestHeaders(
  headers: IncomingHttpHeaders,
  of: { caller: Identity; token: string | null; requestId: string; isRead: boolean },
): Record<string, string> {
  const sent = passed(headers, NOT_SENT)
  if (!of.caller.scopes.has('admin'))
    for (const name of Object.keys(sent)) if (name.startsWith(SESSION)) delete sent[name]
  if (of.isRead) delete sent['accept-encoding']
  sent['x-request-id'] = of.requestId
  sent.via = headers.via === undefined ? PLATFORM_VIA : `${headers.via}, ${PLATFORM_VIA}`
  if (of.token !== null) sent.authorization = `Bearer ${of.token}`
  return sent as Record<string, string>
}

/** Headers of a reply. Streams of events tell nginx not to buffer them. */
export function replyHeaders(headers: Headers, requestId: string): Record<string, string | string[]> {
  const unbuffered = isEventStream(headers) && { 'x-accel-buffering': 'no' }
  return { ...unbuffered, ...passed(headers, NOT_RETURNED), 'x-request-id': requestId }
}

function passed(headers: Headers, dropped: ReadonlySet<string>): Record<string, string | string[]> {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  return Object.fromEntries(
    Object.entries(headers).filter(
      (header): header is [string, string | string[]] =>
        header[1] !== undefined &&
        !HOP_BY_HOP.has(header[0]) &&
        !named.has(header[0]) &&
        !dropped.has(header[0]) &&
        !header[0].startsWith(CROSS_ORIGIN),
    ),
  )
}
