import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Connections, createConnections } from '../../../src/connections/connections.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { createTickets, type Tickets } from '../../../src/identity/tickets.ts'
import type { HostRules } from '../../web/hosts.ts'
import { startPings } from '../../web/pings.ts'
import { refuseConnection } from '../../web/refuse.ts'
import { closeClients } from './close-clients.ts'
import { CLOSE } from './close-codes.ts'
import { type First, firstFrame } from './first-frame.ts'
import type { OpenConnection } from './serve-connection.ts'
import { createAdmissions } from './socket-admission.ts'
import { type AnswerDeps, createAnswer } from './socket-answers.ts'
import { createUnknownClients, type UnknownLimits } from './unknown-clients.ts'
import { type Offer, PROTOCOL, readOffer } from './upgrade-request.ts'
import { type WelcomeDeps, welcome } from './welcome.ts'

/** Maximum size of a frame of an authenticated client, in bytes. A larger frame closes the socket (1009). */
const MAX_FRAME_BYTES = 256 * 1024
/** Timeout of a client's side of a close, in milliseconds. */
const CLOSE_MS = 2_000

/** Options that ws's types lack: `closeTimeout` exists since ws 8.19. */
const WS_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_FRAME_BYTES,
  closeTimeout: CLOSE_MS,
}

/** The agent socket of this process. */
export interface AgentSocket {
  tickets: Tickets
  connections: Connections
  /** Handles an upgrade request of the shared server. */
  upgrade(incoming: IncomingMessage, raw: Duplex, head: Buffer): void
  /** Counts the open sockets of this process. */
  open(): number
  /** Stops accepting clients, lets answers in progress finish for `http.drain_ms`, then closes every socket (1001). */
  stop(): Promise<void>
}

/** Options of the socket besides the gateway's services. */
export interface AgentSocketOptions extends AnswerDeps, UnknownLimits, Pick<WelcomeDeps, 'count'> {
  hosts: HostRules
  /** Interval of pings in milliseconds; 30 s by default. */
  pingMs?: number
  /** Timeout of authentication in milliseconds; 5 s by default. */
  authMs?: number
}

/** Serves the agent socket on the `upgrade` events of an existing server. */
export function createAgentSocket(gateway: Gateway, options: AgentSocketOptions): AgentSocket {
  const { store, log } = gateway
  const { hosts, count, pingMs, authMs } = options
  const now = () => new Date()
  const tickets = createTickets({ store, now, fixedKey: () => gateway.loaded.config.identity.api_key })
  const onError = (err: unknown) => log.error('Failed to record connections in the store.', { err })
  const connections = createConnections({ store, tickets, now, onError })
  const admissions = createAdmissions(gateway, { tickets, connections })
  const server = socketServer()
  const pings = startPings(pingMs)
  const serving = { gateway, connections, pings, answer: createAnswer(options), count }
  const open = new Map<WebSocket, OpenConnection | null>()
  const unknown = createUnknownClients(options)
  let stopping = false

  /** Admits a client, or closes its socket: 4401 when it is refused, 1013 when the store cannot tell at the moment. */
  async function begin(ws: WebSocket, offer: Offer, raw: Duplex): Promise<void> {
    open.set(ws, null)
    ws.once('close', () => open.delete(ws))
    // The close code already tells the client. The error is the client's concern, so it is logged only at debug.
    ws.on('error', (err) => log.debug('Socket error.', { err }))
    const first = isKnown(offer) ? null : await introduction(ws, raw, unknown.take(offer.remote), authMs)
    if (!isKnown(offer) && first === null) return
    ws.pause()
    try {
      const admitted = await admissions.admit(first === null ? offer : { ticket: first.auth.ticket, key: null })
      if (admissions.isRevoked(admitted)) return void ws.close(CLOSE.unauthenticated, 'The API key was revoked.')
      if (ws.readyState !== ws.OPEN) return
      const sessionId = first?.auth.session_id ?? offer.sessionId
      const connection = welcome(serving, ws, admitted, { ...offer, sessionId, frameId: first?.auth.id })
      open.set(ws, connection)
      for (const [data, isBinary] of first?.early ?? []) connection.receive(data, isBinary)
    } catch (error) {
      closeRefused(ws, error)
    } finally {
      ws.resume()
    }
  }

  function upgrade(incoming: IncomingMessage, raw: Duplex, head: Buffer): void {
    raw.on('error', () => raw.destroy())
    try {
      const offer = readOffer(incoming, hosts)
      if (!isKnown(offer)) unknown.requirePlace(offer.remote)
      if (stopping) throw new GazewayError('cancelled', 'The service is stopping.', { status: 503 })
      server.handleUpgrade(incoming, raw, head, (ws) => {
        begin(ws, offer, raw).catch((err) => {
          log.error('Failed to open a socket.', { err })
          ws.close(CLOSE.failed, 'Internal error.')
        })
      })
    } catch (error) {
      refuseConnection(asKnown(error), incoming.headers, raw)
    }
  }

  return {
    tickets,
    connections,
    upgrade,
    open: () => open.size,
    async stop() {
      stopping = true
      admissions.stop()
      await closeClients(open, gateway.loaded.config.http.drain_ms)
      pings.stop()
      await connections.close()
    },
  }
}

const asKnown = (error: unknown): GazewayError =>
  error instanceof GazewayError ? error : new GazewayError('internal_error', 'Internal error.')

function socketServer(): WebSocketServer {
  const server = new WebSocketServer({
    ...WS_OPTIONS,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  })
  // Malformed upgrades, which ws would answer in its own format.
  server.on('wsClientError', (error, raw, { headers }) =>
    refuseConnection(new GazewayError('invalid_request', `${error.message}.`), headers, raw),
  )
  return server
}

/** @param leave gives back the client's place among those that have not authenticated */
async function introduction(ws: WebSocket, raw: Duplex, leave: () => void, authMs?: number): Promise<First | null> {
  const first = await firstFrame(ws, raw, authMs)
  // A refused client keeps its place until it has disconnected.
  if (first === null && ws.readyState !== ws.CLOSED) ws.once('close', leave)
  else leave()
  return first
}

function closeRefused(ws: WebSocket, error: unknown): void {
  if (!(error instanceof GazewayError)) throw error
  const refused = error.status === 401 || error.status === 403
  ws.close(refused ? CLOSE.unauthenticated : CLOSE.tryAgain, error.code)
}

/** Tells whether a client authenticates with its request rather than with a frame. */
const isKnown = ({ ticket, key }: Offer): boolean => ticket !== null || key !== null
