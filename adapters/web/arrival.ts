import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../../src/identity/keys.ts'
import { addressOf } from './client-address.ts'
import type { FrameContext } from './frame-context.ts'

/** Request with a known caller, for routes that write their own reply. */
export interface Arrival {
  incoming: IncomingMessage
  outgoing: ServerResponse
  requestId: string
  /** Id of the caller's key. */
  callerId: string | null
  /** Address of the client. */
  address: string | null
  /** The request was paid for and is not billed. */
  isPaid: boolean
  /** The request loses what an upstream cannot express. */
  isLenient: boolean
  /** Gazeway sets no marks and keys for the caches of providers. */
  isCacheOff: boolean
}

/**
 * Reads a request's body and writes its reply. Errors thrown before the reply has begun are answered by the service.
 */
export type Endpoint = (arrival: Arrival) => Promise<void>

/** Converts a request of the router to an {@link Arrival}. */
export const arrivalOf = (c: FrameContext): Arrival => ({
  incoming: c.env.incoming,
  outgoing: c.env.outgoing,
  requestId: c.get('requestId'),
  callerId: c.get('identity')?.id ?? null,
  address: addressOf(c.env.incoming),
  isPaid: c.get('identity')?.isPaid === true,
  isLenient: isLenient(c.env.incoming, c.get('identity')),
  isCacheOff: c.get('identity')?.cache === 'off',
})

/** Tells whether a request or its key is lenient. */
export const isLenient = ({ headers }: IncomingMessage, identity: Identity | undefined): boolean =>
  headers['x-gazeway-lenient'] === 'true' || identity?.lenient === true
