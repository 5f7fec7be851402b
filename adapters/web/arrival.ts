import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FrameContext } from './frame.ts'

/** A request whose caller is known, for routes that write their own reply. */
export interface Arrival {
  incoming: IncomingMessage
  outgoing: ServerResponse
  requestId: string
  /** Id of the caller's key. */
  callerId: string | null
  /** The request was paid for and is not billed. */
  isPaid: boolean
}

/** Reads a request's body and writes its reply; what it throws before the reply has begun is answered for it. */
export type Endpoint = (arrival: Arrival) => Promise<void>

/** A request that came through the router, as its route sees it. */
export const arrivalOf = (c: FrameContext): Arrival => ({
  incoming: c.env.incoming,
  outgoing: c.env.outgoing,
  requestId: c.get('requestId'),
  callerId: c.get('identity')?.id ?? null,
  isPaid: c.get('identity')?.isPaid === true,
})
