import type { IncomingHttpHeaders } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import { type Identity, requireScope, type Scope } from '../../src/identity/keys.ts'
import type { Authenticator } from '../../src/identity/passes.ts'
import { isMessagesPath } from '../../src/inference/relay/message-error.ts'
import { newId } from '../../src/text/ids.ts'
import { refuseLoop, VIA } from '../../src/wire/via.ts'
import { allowOrigin } from './cors.ts'
import { checkHost, type HostRules } from './hosts.ts'
import { noteCaller } from './request-log.ts'

/** Context of every route of both HTTP services. */
export interface Frame {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    /** Identity of the request's key; absent on routes without one. */
    identity?: Identity
    /** Set where a payment opened it, which is given back should it fail. */
    paid?: PaidFor
    /** The body, where it was read before the request is passed on. */
    body?: Buffer
  }
}

/** Checks of a paid request before its answer, as a refunded request must not be answered. */
export interface PaidFor {
  /** Before the answer begins. @returns false where the payment was given back */
  confirm(): Promise<boolean>
  /** Before each piece of it: whether the payment is known to stand at this very moment. */
  isHeld(): boolean
  /** Before its end. @returns false where the payment was given back */
  served(): Promise<boolean>
}

/** The context of one request to either service. */
export type FrameContext = Context<Frame>

/** Identity of a request. @throws GazewayError `invalid_api_key` without one */
export function callerOf(c: FrameContext): Identity {
  const identity = c.get('identity')
  if (identity) return identity
  throw new GazewayError('invalid_api_key', 'This request needs an API key. Send it as "Authorization: Bearer KEY".')
}

/** A request id that a client may choose: nothing that could break a header or a log line. */
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/

/** RFC 9110, section 11.4: any number of spaces before the token. */
const BEARER = /^bearer +([^ ]+)/i

/**
 * Handles everything before the routes in one step, as it runs for each request:
 * - the request id
 * - checks of host and origin, and of forwarding loops
 * - CORS preflight
 * - authentication by bearer key
 *
 * @param options.open tells whether a request needs no key
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
    checkHost(incoming.headers, hosts)
    refuseLoop(incoming.headers.via, VIA)
    const preflight = allowOrigin(c, hosts)
    if (preflight) return preflight
    if (!open(c)) {
      const token = keyOf(incoming.headers, c.req.path)
      const identity = keys.authenticateCached(token) ?? (await keys.authenticate(token))
      noteCaller(incoming, { requestId, keyId: identity.id })
      // First, so that a refusal is noted under its key.
      c.set('identity', identity)
      requireScope(identity, scope)
    }
    await next()
    if (!c.env.outgoing.headersSent) c.header('x-request-id', requestId)
  }
}

/** The request id that a client chose, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const asked = headers['x-request-id']
  return typeof asked === 'string' && SANE_REQUEST_ID.test(asked) ? asked : newId('req')
}

/** The key of a request: its bearer token, or `x-api-key` where it asks Anthropic's API for something. @param path without the query */
export function keyOf({ authorization, 'x-api-key': key }: IncomingHttpHeaders, path: string): string | null {
  const token = bearerToken(authorization)
  return token === null && typeof key === 'string' && isMessagesPath(path) ? key : token
}

/** The token of an Authorization header; null without one, or with one of another scheme. */
export function bearerToken(header: string | undefined): string | null {
  return header === undefined ? null : (BEARER.exec(header)?.[1] ?? null)
}
