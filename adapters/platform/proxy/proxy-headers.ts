import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../../../src/identity/identity.ts'
import type { Headers } from '../../../src/inference/relay/exchange.ts'
import type { OwnKey } from '../../../src/inference/upstreams/own-key.ts'
import { PLATFORM_VIA } from '../../../src/wire/forwarding-loop.ts'
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
/** Request headers that are not forwarded: the caller's credentials, and headers that this connection has handled. */
const NOT_SENT = new Set([
  'authorization',
  'payment-authorization',
  'cookie',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'x-provider-key',
  'x-gazeway-key',
  'host',
  'expect',
  'origin',
  'referer',
  // Some servers use these in place of the method and path, but a request is billed by its method and path.
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
  // The platform names the client itself: anyone could have sent these.
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
])
/** Reply headers that are not returned, because clients would take them as the platform's own. */
const NOT_RETURNED = new Set([
  'set-cookie',
  'www-authenticate',
  'payment-receipt',
  'strict-transport-security',
  'alt-svc',
  'x-request-id',
])
const CROSS_ORIGIN = 'access-control-'
/** Prefix of headers that name a session or memory of the agent gateway. Only admins may use these headers. */
const SESSION = 'x-hermes-session'

/**
 * Builds the headers of a forwarded request.
 *
 * @param of.address address of the client, in place of what its headers say
 * @param of.token bearer token for the agent gateway; null for none
 * @param of.ownKey credential of the client for the provider, which this process's own gateway alone receives
 * @param of.isRead whether the reply is read on the way and must therefore be uncompressed
 */
export function requestHeaders(
  headers: IncomingHttpHeaders,
  of: {
    caller: Identity
    address: string | null
    token: string | null
    ownKey?: OwnKey | undefined
    requestId: string
    /** Trace context, in place of the client's. */
    traceparent?: string | undefined
    isRead: boolean
  },
): Record<string, string> {
  const sent = passed(headers, NOT_SENT)
  if (!of.caller.scopes.has('admin'))
    for (const name of Object.keys(sent)) if (name.startsWith(SESSION)) delete sent[name]
  if (of.isRead) delete sent['accept-encoding']
  sent['x-request-id'] = of.requestId
  if (of.traceparent !== undefined) sent.traceparent = of.traceparent
  if (of.address !== null) sent['x-forwarded-for'] = of.address
  sent.via = headers.via === undefined ? PLATFORM_VIA : `${headers.via}, ${PLATFORM_VIA}`
  if (of.token !== null) sent.authorization = `Bearer ${of.token}`
  return { ...sent, ...ownKeyHeaders(of) } as Record<string, string>
}

/** Headers that bring the credential of a client, beside the key of this process. */
function ownKeyHeaders({ ownKey, token }: { ownKey?: OwnKey | undefined; token: string | null }) {
  if (ownKey === undefined || token === null) return {}
  if (ownKey.kind === 'own_key') return { 'x-provider-key': ownKey.secret }
  return { ...ownKey.headers, 'x-gazeway-key': token }
}

/** Builds the headers of a returned reply. For event streams they tell nginx not to buffer. */
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
