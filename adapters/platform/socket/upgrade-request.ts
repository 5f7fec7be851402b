import type { IncomingMessage } from 'node:http'
import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import { SessionId } from '../../../src/sessions/session.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import { addressOf } from '../../web/client-address.ts'
import { keyOf } from '../../web/frame.ts'
import { checkHost, type HostRules } from '../../web/hosts.ts'
import { ownKeyOf, ownKeyUnused } from '../../web/own-key.ts'
import { reachedAt } from '../../web/reached-address.ts'
import { targetFault } from '../../web/request-target.ts'

/** Path of the socket. */
export const SOCKET_PATH = '/agent'

/** Subprotocol of the socket. A ticket is sent as a second subprotocol, and is never echoed. */
export const PROTOCOL = 'gazeway.v1'
const TICKET_PREFIX = 'ticket.'

/** Credentials of an upgrade request. Without any, the first frame must contain a ticket. */
export interface Offer {
  ticket: string | null
  key: string | null
  sessionId: string | null
  /** Address of the service as the client reached it: http://127.0.0.1:8812 */
  reachedAt: string
  /** Address of the client. */
  remote: string
}

const Named = z.object({ session_id: SessionId.nullable() })

/**
 * Reads an upgrade request.
 *
 * @throws GazewayError `forbidden_origin`; `not_found` for another path; `validation_failed`; `invalid_request` for
 *   another protocol than WebSocket
 */
export function readOffer(incoming: IncomingMessage, hosts: HostRules): Offer {
  const { headers, url = '' } = incoming
  const fault = targetFault(incoming)
  if (fault !== null) throw fault
  checkHost(headers, hosts)
  const [path, query] = url.split('?', 2)
  if (path !== SOCKET_PATH)
    throw new GazewayError('not_found', `There is no socket at ${path?.slice(0, 200)}; it is at ${SOCKET_PATH}.`)
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    throw new GazewayError('invalid_request', `${SOCKET_PATH} is upgraded to websocket only.`)
  if (ownKeyOf(incoming) !== undefined) throw ownKeyUnused(SOCKET_PATH)
  const { session_id } = parseInput(Named, { session_id: new URLSearchParams(query).get('session_id') })
  return {
    ticket: offeredTicket(headers['sec-websocket-protocol']),
    key: keyOf(headers, SOCKET_PATH),
    sessionId: session_id,
    reachedAt: reachedAt(headers),
    remote: addressOf(incoming) ?? '',
  }
}

function offeredTicket(protocols = ''): string | null {
  const offered = protocols.split(',').map((protocol) => protocol.trim())
  return offered.find((protocol) => protocol.startsWith(TICKET_PREFIX))?.slice(TICKET_PREFIX.length) ?? null
}
