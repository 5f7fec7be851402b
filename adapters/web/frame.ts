import type { IncomingHttpHeaders } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { Scope } from '../../src/identity/keys.ts'
import type { Authenticator } from '../../src/identity/passes.ts'
import { isGeminiPath } from '../../src/inference/api/gemini-endpoints.ts'
import { isMessagesPath } from '../../src/inference/api/message-error.ts'
import { newId } from '../../src/text/ids.ts'
import { noteAddress } from './client-address.ts'
import { allowOrigin } from './cors.ts'
import type { Frame, FrameContext } from './frame-context.ts'
import { callerFault, requestFault } from './guards.ts'
import type { HostRules } from './hosts.ts'
import { isProbe } from './probes.ts'
import { noteCaller } from './request-log.ts'

/** Time for which a collector's key stays good while the store is away: that is when its figures are wanted. */
const COLLECTOR_MS = 3_600_000

/** Request ids that a client may choose. They cannot break a header or a log line. */
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/

/** RFC 9110, section 11.4: any number of spaces before the token. */
const BEARER = /^bearer +([^ ]+)/i

/**
 * Handles everything before the routes in one middleware, because it runs for each request:
 * - request id
 * - guards of requests and of callers
 * - CORS preflight
 * - authentication by bearer key
 *
 * @param options.open tells whether a request needs no key; probes never need one
 * @param options.alsoFor another scope whose keys may use a path, besides `scope`; null for most
 * @throws GazewayError `invalid_api_key`, or the fault that a guard finds
 */
export function frame(options: {
  keys: Authenticator
  scope: Scope
  hosts: HostRules
  open: (c: FrameContext) => boolean
  alsoFor?: (path: string) => Scope | null
}): MiddlewareHandler<Frame> {
  const { keys, scope, hosts, open, alsoFor } = options
  return async (c, next) => {
    const { incoming } = c.env
    const requestId = requestIdOf(incoming.headers)
    c.set('requestId', requestId)
    noteCaller(incoming, { requestId, keyId: null })
    const fault = requestFault(incoming.headers, isProbe(c.req.path) ? { ...hosts, anyHost: true } : hosts)
    if (fault !== null) throw fault
    const preflight = allowOrigin(c, hosts)
    if (preflight) return preflight
    if (!isProbe(c.req.path) && !open(c)) {
      const token = keyOf(incoming.headers, c.req.path) ?? queryKey(c)
      const seenMs = c.req.path === '/metrics' ? COLLECTOR_MS : 0
      const identity = keys.authenticateCached(token) ?? (await keys.authenticate(token, seenMs))
      noteCaller(incoming, { requestId, keyId: identity.id })
      if (identity.address !== undefined) noteAddress(incoming, identity.address)
      // Set before the guards, so that a refusal is recorded under its key.
      c.set('identity', identity)
      const other = alsoFor?.(c.req.path) ?? scope
      const refused = callerFault(identity, identity.scopes.has(other) ? other : scope)
      if (refused !== null) throw refused
    }
    await next()
    if (!c.env.outgoing.headersSent) c.header('x-request-id', requestId)
  }
}

/** Returns the request id that a client chose, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const asked = headers['x-request-id']
  return typeof asked === 'string' && SANE_REQUEST_ID.test(asked) ? asked : newId('req')
}

/** The list of models, which Anthropic's clients ask for, too. */
const MODELS = /^\/v1\/models(?:\/|$)/

/** Reads the key in the query of Google's API. Logs, errors and records have no queries. */
const queryKey = ({ req }: FrameContext): string | null => (isGeminiPath(req.path) ? (req.query('key') ?? null) : null)

/**
 * Reads the key of a request: its bearer token, `x-api-key` on Anthropic's endpoints, or `x-goog-api-key` on Google's.
 * The list of models takes each. `x-gazeway-key` takes precedence: the others may then be for the provider.
 *
 * @param path path without the query
 */
export function keyOf(
  { authorization, 'x-gazeway-key': ownKey, 'x-api-key': key, 'x-goog-api-key': googleKey }: IncomingHttpHeaders,
  path: string,
): string | null {
  if (typeof ownKey === 'string') return ownKey
  const token = bearerToken(authorization)
  const isGoogle = token === null && typeof googleKey === 'string' && googleKey !== ''
  if (isGoogle && (isGeminiPath(path) || MODELS.test(path))) return googleKey
  return token === null && typeof key === 'string' && (isMessagesPath(path) || MODELS.test(path)) ? key : token
}

/** Reads the bearer token of an Authorization header. Null without a header, and for another scheme. */
export function bearerToken(header: string | undefined): string | null {
  return header === undefined ? null : (BEARER.exec(header)?.[1] ?? null)
}
