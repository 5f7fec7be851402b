import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../src/config/log.ts'
import type { Scope } from '../../src/identity/keys.ts'
import type { Authenticator } from '../../src/identity/passes.ts'
import { cameThrough, VIA } from '../../src/wire/via.ts'
import type { Arrival, Endpoint } from './arrival.ts'
import { errorReply } from './error-reply.ts'
import { keyOf, requestIdOf } from './frame.ts'
import { type HostRules, hostFault } from './hosts.ts'
import type { OnRefused } from './refused-calls.ts'
import { noteCaller } from './request-log.ts'

/** Larger bodies are the router's, in bytes. */
const LARGEST_BODY = 1024 * 1024

/**
 * Takes a request if it can, and calls `over` once the work on it is done.
 *
 * @returns false where it leaves the request, untouched, to the router
 */
export type FastLane = (incoming: IncomingMessage, outgoing: ServerResponse, over: () => void) => boolean

/**
 * Answers plain requests to `endpoints` without the router, whose own work costs as much as a relayed call's. It takes a
 * POST to exactly one of their paths, with a body of known and moderate length, from a caller who is known without a
 * query; every other request, those of web pages too, and every refusal, is the router's, which has the same endpoints.
 *
 * @param options.endpoints by path
 * @param options.began told of each request that is taken, with its path
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
    const { status, headers, body } = errorReply(error, { ...arrival, path }, { log, refused })
    // Too late for another status: the client sees that the reply is not whole, unless all of it goes out in this turn.
    if (outgoing.headersSent) setImmediate(() => outgoing.destroy())
    else outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
  }

  return (incoming, outgoing, over) => {
    const { method, url = '', headers } = incoming
    const endpoint = method === 'POST' ? endpoints.get(url) : undefined
    if (!endpoint || !(Number(headers['content-length']) <= LARGEST_BODY) || !unlimited()) return false
    if (headers.origin !== undefined || hostFault(headers, hosts) !== null) return false
    if (cameThrough(headers.via, VIA)) return false
    const identity = keys.authenticateCached(keyOf(headers, url))
    if (!identity?.scopes.has(scope)) return false
    began(url, incoming, outgoing)
    const arrival = {
      incoming,
      outgoing,
      requestId: requestIdOf(headers),
      callerId: identity.id,
      isPaid: identity.isPaid === true,
    }
    noteCaller(incoming, { requestId: arrival.requestId, keyId: identity.id })
    // In one step: each promise more costs a fiftieth of all that a request does.
    endpoint(arrival).then(over, (error: unknown) => {
      refuse(error, url, arrival)
      over()
    })
    return true
  }
}
