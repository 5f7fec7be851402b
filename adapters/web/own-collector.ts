import type { IncomingMessage } from 'node:http'
import { addressOf } from './client-address.ts'
import { bearerToken } from './frame.ts'
import { isLoopback, isToLoopback } from './hosts.ts'

/**
 * Tells whether a metrics request comes from this machine: a local peer with a loopback host name. The operator's
 * collector needs no key then; one that it sends counts, for an admin's shows more. A web page with DNS rebinding has another host name, and so has a proxy that keeps the
 * Host. A trusted proxy names another client.
 */
export function isOwnCollector(incoming: IncomingMessage): boolean {
  const isHere = (address: string | null | undefined) => address != null && isLoopback(address.replace(/^::ffff:/, ''))
  const sendsKey =
    bearerToken(incoming.headers.authorization) !== null || incoming.headers['x-gazeway-key'] !== undefined
  return (
    !sendsKey && isHere(incoming.socket.remoteAddress) && isHere(addressOf(incoming)) && isToLoopback(incoming.headers)
  )
}
