import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Connections, createConnections, type LiveConnection } from '../../../src/connections/connections.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { ENVIRONMENT_IDENTITY } from '../../../src/identity/identity.ts'
import { type Identity, requireScope } from '../../../src/identity/keys.ts'
import { type Admission, createTickets, type Tickets } from '../../../src/identity/tickets.ts'
import { newId } from '../../../src/text/ids.ts'
import type { HostRules } from '../../web/hosts.ts'
import { refuseConnection } from '../../web/refuse.ts'
import { refusesCaller } from '../../web/refused-calls.ts'
import { type AnswerDeps, createAnswer, type Speaker } from './answers.ts'
import { CLOSE } from './closes.ts'
import { type OpenConnection, serveConnection } from './connection.ts'
import { type First, firstFrame } from './first-frame.ts'
import type { AuthFrame } from './frames.ts'
import { type Offer, PROTOCOL, readOffer, SOCKET_PATH } from './offer.ts'
import { startPings } from './pings.ts'
import { createUnknownClients } from './unknown-clients.ts'

/** Maximum size of a frame of an authenticated client, in bytes. A larger frame closes the socket (1009). */
const MAX_FRAME_BYTES = 256 * 1024
/** Timeout of a client's side of a close, in milliseconds. */
const CLOSE_MS = 2_000
/** Time that pending answers get at shutdown, in milliseconds. */
const SHUTDOWN_MS = 10_000
/** Time before shutdown at which pending callers are warned, in milliseconds. */
const LAST_WORDS_MS = 1_000
/** Maximum number of revoked keys that are remembered, for clients admitted while their key is being revoked. */
const MAX_REVOKED = 10_000

/**
 * Maximum number of unauthenticated clients. Beyond it, only clients that authenticate with their request are admitted.
 */
const MAX_UNKNOWN = 500
/** Maximum number of them in one network, so that it cannot keep the others out. */
const MAX_UNKNOWN_PER_NETWORK = 100

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
  /** Stops accepting clients, lets answers in progress finish for 10 s, then closes every socket (1001). */
  stop(): Promise<void>
}

/** Options of the socket besides the gateway's services. */
export interface AgentSocketOptions extends AnswerDeps {
  hosts: HostRules
  /** Counts a request of a key. @throws GazewayError `rate_limited` */
  count(keyId: string): void
  /** Interval of pings in milliseconds; 30 s by default. */
  pingMs?: number
  /** Timeout of authentication in milliseconds; 5 s by default. */
  authMs?: number
  /** Maximum number of unauthenticated clients; 500 by default. */
  maxUnknown?: number
  /** Maximum number of unauthenticated clients of one network; 100 by default. */
  maxUnknownPerNetwork?: number
}

/** An admitted client. */
interface Admitted extends Admission, Pick<Speaker, 'speaksForOthers'> {
  /** `user` is a person's name, not a key's. */
  named: boolean
}

/** Serves the agent socket on the `upgrade` events of an existing server. */
export function createAgentSocket(gateway: Gateway, options: AgentSocketOptions): AgentSocket {
  const { store, keys, log } = gateway
  const { hosts, count, pingMs, authMs } = options
  const { maxUnknown = MAX_UNKNOWN, maxUnknownPerNetwork = MAX_UNKNOWN_PER_NETWORK } = options
  const now = () => new Date()
  const tickets = createTickets({ store, now, fixedKey: () => gateway.loaded.config.identity.api_key })
  const connections = createConnections({
    store,
    tickets,
    now,
    onError: (err) => log.error('Failed to record connections in the store.', { err }),
  })
  const answer = createAnswer(options)
  const server = new WebSocketServer({
    ...WS_OPTIONS,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  })
  // Malformed upgrades, which ws would answer in its own format.
  server.on('wsClientError', (error, raw, { headers }) =>
    refuseConnection(new GazewayError('invalid_request', `${error.message}.`), headers, raw),
  )
  const pings = startPings(pingMs)
  const open = new Map<WebSocket, OpenConnection | null>()
  const revoked = new LRUCache<string, true>({ max: MAX_REVOKED })
  const forgetRevocations = keys.onEnded((id, ending) => {
    if (ending === 'revoked') revoked.set(id, true)
    connections.endThoseOf(id)
  })
  // The fixed key has no id of its own. When it changes, all connections of the old key are ended.
  const forgetFixedKey = gateway.config.onChange((present, { config: before }) => {
    if (present.config.identity.api_key === before.identity.api_key) return
    connections.endThoseOf(ENVIRONMENT_IDENTITY.id)
  })
  const unknown = createUnknownClients({ total: maxUnknown, perNetwork: maxUnknownPerNetwork })
  let stopping = false

  /** @throws GazewayError `invalid_ticket`, `invalid_api_key`, `insufficient_scope` */
  async function admit({ ticket, key }: Pick<Offer, 'ticket' | 'key'>): Promise<Admitted> {
    if (ticket !== null) {
      const admission = await tickets.redeem(ticket)
      return { ...admission, speaksForOthers: admission.role === 'admin', named: true }
    }
    const identity = keys.authenticateCached(key) ?? (await keys.authenticate(key))
    requireScope(identity, 'platform')
    return {
      id: newId('conn'),
      user: identity.name,
      role: roleOf(identity),
      identity,
      speaksForOthers: true,
      named: false,
    }
  }

  async function introduction(ws: WebSocket, { remote }: Offer, raw: Duplex): Promise<First | null> {
    const leave = unknown.take(remote)
    const first = await firstFrame(ws, raw, authMs)
    // A refused client keeps its place until it has disconnected.
    if (first === null && ws.readyState !== ws.CLOSED) ws.once('close', leave)
    else leave()
    return first
  }

  /** Admits a client, or closes its socket: 4401 when it is refused, 1013 when the store cannot tell at the moment. */
  async function begin(ws: WebSocket, offer: Offer, raw: Duplex): Promise<void> {
    open.set(ws, null)
    ws.once('close', () => open.delete(ws))
    // The close code already tells the client. The error is the client's concern, so it is logged only at debug.
    ws.on('error', (err) => log.debug('Socket error.', { err }))
    const first = isKnown(offer) ? null : await introduction(ws, offer, raw)
    if (!isKnown(offer) && first === null) return
    ws.pause()
    try {
      const admitted = await admit(first === null ? offer : { ticket: first.auth.ticket, key: null })
      if (revoked.has(admitted.identity.id)) return void ws.close(CLOSE.unauthenticated, 'The API key was revoked.')
      if (ws.readyState !== ws.OPEN) return
      const serving = welcome(ws, admitted, {
        ...offer,
        ...(first?.auth.session_id && { sessionId: first.auth.session_id }),
        frameId: first?.auth.id,
      })
      for (const [data, isBinary] of first?.early ?? []) serving.receive(data, isBinary)
    } catch (error) {
      if (!(error instanceof GazewayError)) throw error
      const refused = error.status === 401 || error.status === 403
      ws.close(refused ? CLOSE.unauthenticated : CLOSE.tryAgain, error.code)
    } finally {
      ws.resume()
    }
  }

  /** @param offer.frameId id of the auth frame, if it has one */
  function welcome(
    ws: WebSocket,
    admitted: Admitted,
    { reachedAt, remote, frameId, ...offer }: Offer & { frameId: AuthFrame['id'] },
  ): OpenConnection {
    const { id, user, role, identity, speaksForOthers, named } = admitted
    const sessionId = offer.sessionId ?? newId('ses')
    const spokenFor = named ? user : null
    const speaker: Speaker = { identity, user: spokenFor, role, speaksForOthers, sessionId, reachedAt, address: remote }
    const at = Date.now()
    const live: LiveConnection = {
      id,
      keyId: identity.id,
      user,
      role,
      sessionId,
      remote,
      connectedAt: at,
      lastActiveAt: at,
      messages: 0,
      close: (reason) =>
        reason === 'asked'
          ? ws.close(CLOSE.asked, 'Someone closed this connection.')
          : ws.close(CLOSE.unauthenticated, 'The API key was revoked or has expired.'),
    }
    function onFrame(): void {
      live.messages += 1
      live.lastActiveAt = Date.now()
      connections.active(live)
      count(identity.id)
    }
    function onFailedChat(error: GazewayError): void {
      if (refusesCaller(error))
        void gateway.noteRefusal({
          surface: 'socket',
          callerId: identity.id,
          address: remote,
          path: SOCKET_PATH,
          requestedModel: null,
          error,
        })
    }
    const serving = serveConnection({ ws, id, speaker, answer, log, onFrame, onFailedChat })
    open.set(ws, serving)
    pings.add(ws)
    connections.opened(live)
    ws.on('pong', () => pings.heard(ws))
    ws.once('close', () => {
      pings.remove(ws)
      connections.gone(id)
    })
    serving.send({
      type: 'ready',
      connection_id: id,
      session_id: sessionId,
      role,
      ...(frameId !== undefined && { id: frameId }),
    })
    return serving
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
      const known = error instanceof GazewayError ? error : new GazewayError('internal_error', 'Internal error.')
      refuseConnection(known, incoming.headers, raw)
    }
  }

  return {
    tickets,
    connections,
    upgrade,
    async stop() {
      stopping = true
      forgetRevocations()
      forgetFixedKey()
      const closed = Promise.all([...open].map(([ws, serving]) => closing(ws, serving)))
      const lastWords = setTimeout(() => {
        for (const serving of open.values()) serving?.cutOff()
      }, SHUTDOWN_MS - LAST_WORDS_MS)
      const deadline = setTimeout(() => {
        for (const ws of open.keys()) ws.terminate()
      }, SHUTDOWN_MS)
      await closed
      clearTimeout(lastWords)
      clearTimeout(deadline)
      pings.stop()
      await connections.close()
    },
  }
}

/** Role of a key's own connection. */
const roleOf = ({ scopes }: Identity) => (scopes.has('admin') ? 'admin' : 'user')

/** Tells whether a client authenticates with its request rather than with a frame. */
const isKnown = ({ ticket, key }: Offer): boolean => ticket !== null || key !== null

/** Resolves when a socket is closed, after its received frames are answered. */
function closing(ws: WebSocket, serving: OpenConnection | null): Promise<void> {
  return new Promise((resolve, reject) => {
    ws.once('close', () => resolve())
    if (serving === null) ws.close(CLOSE.goingAway, 'The service is stopping.')
    else serving.finish().catch(reject)
  })
}
