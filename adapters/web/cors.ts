import type { FrameContext } from './frame.ts'
import type { HostRules } from './hosts.ts'

/** `Access-Control-Max-Age` in seconds; Chromium caps it at two hours. */
const REMEMBERED_SECONDS = 7200
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/**
 * Lets the pages of allowed origins read the reply (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). Written to
 * the reply itself, as not all of them come from the router.
 *
 * @returns the whole answer to a preflight, which comes without a key; null for all else
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
    // A wildcard would leave out Authorization.
    ...(asked !== undefined && { 'access-control-allow-headers': asked }),
    // For pages of the internet that call this machine (https://wicg.github.io/private-network-access).
    ...(headers['access-control-request-private-network'] === 'true' && {
      'access-control-allow-private-network': 'true',
    }),
    'access-control-max-age': String(REMEMBERED_SECONDS),
  })
}
