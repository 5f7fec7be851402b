import type { FrameContext } from './frame-context.ts'
import type { HostRules } from './hosts.ts'

/** `Access-Control-Max-Age` in seconds; Chromium caps it at two hours. */
const REMEMBERED_SECONDS = 7200
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/**
 * Allows pages of permitted origins to read the reply (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). Sets
 * headers on the Node reply, because some replies do not come from the router.
 *
 * @returns the complete reply to a preflight, which has no key; null for any other request
 */
export function allowOrigin(c: FrameContext, { allowedOrigins }: HostRules): Response | null {
  const { incoming, outgoing } = c.env
  const { headers, method } = incoming
  const { origin } = headers
  if (origin === undefined || !allowedOrigins.has(origin)) return null
  outgoing.setHeader('access-control-allow-origin', origin)
  outgoing.setHeader('vary', 'Origin')
  outgoing.setHeader('access-control-expose-headers', '*')
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return null
  const asked = headers['access-control-request-headers']
  return c.body(null, 204, {
    'x-request-id': c.get('requestId'),
    'access-control-allow-methods': METHODS,
    // A wildcard does not include Authorization.
    ...(asked !== undefined && { 'access-control-allow-headers': asked }),
    // For public pages that call this machine (https://wicg.github.io/private-network-access).
    ...(headers['access-control-request-private-network'] === 'true' && {
      'access-control-allow-private-network': 'true',
    }),
    'access-control-max-age': String(REMEMBERED_SECONDS),
  })
}
