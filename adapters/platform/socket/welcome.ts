import type { WebSocket } from 'ws'
import type { Connections, LiveConnection } from '../../../src/connections/connections.ts'
import type { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { newId } from '../../../src/text/ids.ts'
import type { Pings } from '../../web/pings.ts'
import { refusesCaller } from '../../web/refused-calls.ts'
import { CLOSE } from './close-codes.ts'
import type { AuthFrame } from './frame-schemas.ts'
import { type OpenConnection, serveConnection } from './serve-connection.ts'
import type { Admitted } from './socket-admission.ts'
import type { Answer, Speaker } from './socket-answers.ts'
import { type Offer, SOCKET_PATH } from './upgrade-request.ts'

/** Dependencies of {@link welcome}. */
export interface WelcomeDeps {
  gateway: Pick<Gateway, 'log' | 'noteRefusal'>
  connections: Connections
  pings: Pings
  answer: Answer
  /** Counts a request of a key. @throws GazewayError `rate_limited` */
  count(keyId: string): void
}

/**
 * Serves an admitted client: registers its connection, and sends the `ready` frame.
 *
 * @param offer.frameId id of the auth frame, if it has one
 */
export function welcome(
  { gateway, connections, pings, answer, count }: WelcomeDeps,
  ws: WebSocket,
  { id, user, role, identity, speaksForOthers, named }: Admitted,
  { reachedAt, remote, frameId, ...offer }: Offer & { frameId: AuthFrame['id'] },
): OpenConnection {
  const sessionId = offer.sessionId ?? newId('ses')
  const spokenFor = named ? user : null
  const speaker: Speaker = { identity, user: spokenFor, role, speaksForOthers, sessionId, reachedAt, address: remote }
  const live = liveConnection(ws, { id, keyId: identity.id, user, role, sessionId, remote })

  function onFrame(): void {
    live.messages += 1
    live.lastActiveAt = Date.now()
    connections.active(live)
    count(identity.id)
  }
  function onFailedChat(error: GazewayError): void {
    if (!refusesCaller(error)) return
    const caller = { callerId: identity.id, address: remote }
    void gateway.noteRefusal({ surface: 'socket', ...caller, path: SOCKET_PATH, requestedModel: null, error })
  }

  const serving = serveConnection({ ws, id, speaker, answer, log: gateway.log, onFrame, onFailedChat })
  pings.add(ws)
  connections.opened(live)
  ws.on('pong', () => pings.heard(ws))
  ws.once('close', () => {
    pings.remove(ws)
    connections.gone(id)
  })
  const ready = { type: 'ready', connection_id: id, session_id: sessionId, role } as const
  serving.send({ ...ready, ...(frameId !== undefined && { id: frameId }) })
  return serving
}

function liveConnection(
  ws: WebSocket,
  client: Pick<LiveConnection, 'id' | 'keyId' | 'user' | 'role' | 'sessionId' | 'remote'>,
): LiveConnection {
  const at = Date.now()
  return {
    ...client,
    connectedAt: at,
    lastActiveAt: at,
    messages: 0,
    close: (reason) =>
      reason === 'asked'
        ? ws.close(CLOSE.asked, 'Someone closed this connection.')
        : ws.close(CLOSE.unauthenticated, 'The API key was revoked or has expired.'),
  }
}
