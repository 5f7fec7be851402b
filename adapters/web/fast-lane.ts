import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import type { Scope } from '../../src/identity/keys.ts'
import type { Authenticator } from '../../src/identity/passes.ts'
import { type Arrival, type Endpoint, isLenient } from './arrival.ts'
import { addressOf, noteAddress } from './client-address.ts'
import { errorReply } from './error-reply.ts'
import { keyOf, requestIdOf } from './frame.ts'
import { callerFault, requestFault } from './guards.ts'
import type { HostRules } from './hosts.ts'
import type { OnRefused } from './refused-calls.ts'
import { noteCaller } from './request-log.ts'

/** Maximum size of a body, in bytes. Requests with a larger body go to the router. */
const LARGEST_BODY = 1024 * 1024

/**
 * Handles a request if it can, and calls `over` once the work on it is done.
 *
 * @returns false when it leaves the request, untouched, to the router
 */
export type FastLane = (incoming: IncomingMessage, outgoing: ServerResponse, over: () => void) => boolean

/**
 * Answers plain requests to `endpoints` without the router, which would cost as much as relaying the call. Takes a
 * request that fulfils all conditions:
 *
 * - a POST to exactly one of the paths
 * - a body of known length, at most {@link LARGEST_BODY}
 * - no request limit, and no `Origin`
 * - a key that is known without a query
 * - admitted by all guards
 *
 * Every other request and every refusal goes to the router, which has the same endpoints.
 *
 * @param options.endpoints by path
 * @param options.began called with each request that is taken, with its path
 */
export function fastLane(options: {
  endpoints: Readonly<Record<string, Endpoint>>
  keys: Authenticator
  scope: Scope
  hosts: HostRules
  /** Tells whether keys have no request limit; the router counts requests otherwise. */
  unlimited: () => boolean
  began: (path: string, incoming: IncomingMessage, outgoing: ServerResponse) => void
  log: Log
  /** Called with each error of an endpoint. */
  refused: OnRefused
}): FastLane {
  const { keys, scope, hosts, unlimited, began, log, refused } = options
  const endpoints = new Map(Object.entries(options.endpoints))

  function refuse(error: unknown, path: string, arrival: Arrival): void {
    const { outgoing } = arrival
    const request = { ...arrival, path }
    if (error instanceof GazewayError) void refused(error, request)
    const { status, headers, body } = errorReply(error, request, log)
    // The stream of a call has ended with the error.
    if (outgoing.writableEnded) return
    // Too late for another status. Ending the connection shows the client that the reply is incomplete.
    if (outgoing.headersSent) setImmediate(() => outgoing.destroy())
    else outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
  }

  return (incoming, outgoing, over) => {
    const { method, url = '', headers } = incoming
    const endpoint = method === 'POST' ? endpoints.get(url) : undefined
    if (!endpoint || !(Number(headers['content-length']) <= LARGEST_BODY) || !unlimited()) return false
    if (headers.origin !== undefined || requestFault(headers, hosts) !== null) return false
    const identity = keys.authenticateCached(keyOf(headers, url))
    if (identity === null || callerFault(identity, scope) !== null) return false
    if (identity.address !== undefined) noteAddress(incoming, identity.address)
    began(url, incoming, outgoing)
    const arrival = {
      incoming,
      outgoing,
      requestId: requestIdOf(headers),
      callerId: identity.id,
      address: addressOf(incoming),
      isPaid: identity.isPaid === true,
      isLenient: isLenient(incoming, identity),
      isCacheOff: identity.cache === 'off',
    }
    noteCaller(incoming, { requestId: arrival.requestId, keyId: identity.id })
    // In one step, because each further promise slows every request down.
    endpoint(arrival).then(over, (error: unknown) => {
      refuse(error, url, arrival)
      over()
    })
    return true
  }
}
