import type { IncomingHttpHeaders } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import { type Identity, requireScope, type Scope } from '../../src/identity/keys.ts'
import type { Authenticator } from '../../src/identity/passes.ts'
import { isMessagesPath } from '../../src/inference/api/message-error.ts'
import { newId } from '../../src/text/ids.ts'
import { refuseLoop, VIA } from '../../src/wire/via.ts'
import { noteAddress } from './client-address.ts'
import { allowOrigin } from './cors.ts'
import { checkHost, type HostRules } from './hosts.ts'
import { isProbe } from './probes.ts'
import { noteCaller } from './request-log.ts'

/** Context of every route of both HTTP services. */
export interface Frame {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    /** Identity of the request's key; absent on routes without one. */
    identity?: Identity
    /** Set when a payment opened the request. The payment is refunded if the request fails. */
    paid?: PaidFor
    /** Body, when it was read before the route runs. */
    body?: Buffer
  }
}

/** Checks of a paid request before its answer. A refunded request must not be answered. */
export interface PaidFor {
  /** Runs before the answer begins. @returns false when the payment was refunded */
  confirm(): Promise<boolean>
  /** Tells, before each piece of the answer, whether the payment is known to be valid at this moment. */
  isHeld(): boolean
  /** Runs before the end of the answer. @returns false when the payment was refunded */
  served(): Promise<boolean>
}

/** The context of one request to either service. */
export type FrameContext = Context<Frame>

/** Returns the identity of a request. @throws GazewayError `invalid_api_key` without one */
export function callerOf(c: FrameContext): Identity {
  const identity = c.get('identity')
  if (identity) return identity
  throw new GazewayError('invalid_api_key', 'This request needs an API key. Send it as "Authorization: Bearer KEY".')
}

/** Request ids that a client may choose. They cannot break a header or a log line. */
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/

/** RFC 9110, section 11.4: any number of spaces before the token. */
const BEARER = /^bearer +([^ ]+)/i

/**
 * Handles everything before the routes in one middleware, because it runs for each request:
 * - request id
 * - checks of host and origin, and of forwarding loops
 * - CORS preflight
 * - authentication by bearer key
 *
 * @param options.open tells whether a request needs no key; probes never need one
 * @throws GazewayError `forbidden_origin`, `loop_detected`, `invalid_api_key` or `insufficient_scope`
 */
export function frame(options: {
  keys: Authenticator
  scope: Scope
  hosts: HostRules
  open: (c: FrameContext) => boolean
}): MiddlewareHandler<Frame> {
  const { keys, scope, hosts, open } = options
  return async (c, next) => {
    const { incoming } = c.env
    const requestId = requestIdOf(incoming.headers)
    c.set('requestId', requestId)
    noteCaller(incoming, { requestId, keyId: null })
    checkHost(incoming.headers, isProbe(c.req.path) ? { ...hosts, anyHost: true } : hosts)
    refuseLoop(incoming.headers.via, VIA)
    const preflight = allowOrigin(c, hosts)
    if (preflight) return preflight
    if (!isProbe(c.req.path) && !open(c)) {
      const token = keyOf(incoming.headers, c.req.path)
      const identity = keys.authenticateCached(token) ?? (await keys.authenticate(token))
      noteCaller(incoming, { requestId, keyId: identity.id })
      if (identity.address !== undefined) noteAddress(incoming, identity.address)
      // Set before the check, so that a refusal is recorded under its key.
      c.set('identity', identity)
      requireScope(identity, scope)
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

/**
 * Reads the key of a request: its bearer token, or `x-api-key` on Anthropic's endpoints.
 *
 * @param path path without the query
 */
export function keyOf({ authorization, 'x-api-key': key }: IncomingHttpHeaders, path: string): string | null {
  const token = bearerToken(authorization)
  return token === null && typeof key === 'string' && isMessagesPath(path) ? key : token
}

/** Reads the bearer token of an Authorization header. Null without a header, and for another scheme. */
export function bearerToken(header: string | undefined): string | null {
  return header === undefined ? null : (BEARER.exec(header)?.[1] ?? null)
}
