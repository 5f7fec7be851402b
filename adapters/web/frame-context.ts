import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Identity } from '../../src/identity/keys.ts'

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
