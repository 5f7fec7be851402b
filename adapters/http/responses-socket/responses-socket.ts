import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { modelBodyLimit } from '../../web/body-limit.ts'
import { requestIdOf } from '../../web/frame.ts'
import { type Pings, startPings } from '../../web/pings.ts'
import { refuseConnection } from '../../web/refuse.ts'
import type { OnRefused } from '../../web/refused-calls.ts'
import { createEarlierResponse } from './earlier-response.ts'
import { createSocketAsk, type SocketAsk } from './socket-ask.ts'
import { createSocketCallers, PATH, type SocketCallersDeps } from './socket-callers.ts'
import { CLOSE, type SocketTurns, serveTurns, type TurnRequest } from './socket-turns.ts'
import { countUnread } from './unread-bytes.ts'

/** Time after which a connection without a request is closed, in milliseconds. */
const IDLE_MS = 600_000
/** Timeout of a client's side of a close, in milliseconds. */
const CLOSE_MS = 2_000

/** The Responses API over WebSocket, on the port of the gateway. */
export interface ResponsesSocket {
  /** Handles an upgrade request of the server. */
  upgrade(incoming: IncomingMessage, raw: Duplex, head: Buffer): void
  /** Counts the open connections. */
  open(): number
  /** Closes every connection (1001), after the response under way. */
  stop(): void
}

/** Dependencies of the socket besides the gateway's services. */
export interface ResponsesSocketDeps extends SocketCallersDeps {
  calls: OpenCalls
  refused: OnRefused
  /** Interval of pings, in milliseconds; 30 s by default. */
  pingMs?: number
  /** Time without a request after which a connection is closed; 10 minutes by default. */
  idleMs?: number
}

/** Serves the Responses API in OpenAI's WebSocket mode (https://developers.openai.com/docs/guides/websocket-mode). */
export function createResponsesSocket(gateway: Gateway, deps: ResponsesSocketDeps): ResponsesSocket {
  const { calls, refused, pingMs, idleMs = IDLE_MS } = deps
  const callers = createSocketCallers(deps)
  const serving = {
    gateway,
    idleMs,
    pings: startPings(pingMs),
    ask: createSocketAsk(gateway, { calls, callers, refused }),
  }
  const open = new Map<WebSocket, SocketTurns>()
  const server = socketServer()
  let stopping = false

  async function admitted(incoming: IncomingMessage, raw: Duplex, head: Buffer): Promise<void> {
    const { id } = await callers.admit(incoming)
    if (stopping) throw new GazewayError('service_stopping', 'The service is stopping.')
    callers.requirePlace(id)
    server.options.maxPayload = modelBodyLimit(gateway, id).bytes
    server.handleUpgrade(incoming, raw, head, (ws) => {
      const leave = callers.enter(id)
      open.set(ws, serve(ws, { ...serving, incoming, raw, callerId: id }))
      ws.once('close', () => {
        leave()
        open.delete(ws)
      })
    })
  }

  async function refuse(error: unknown, incoming: IncomingMessage, raw: Duplex): Promise<void> {
    if (!(error instanceof GazewayError)) gateway.log.error('Failed to open a socket.', { err: error })
    const known = error instanceof GazewayError ? error : new GazewayError('internal_error', 'Internal error.')
    gateway.log.info('A socket was refused.', { status: known.status, code: known.code })
    refuseConnection(known, incoming.headers, raw)
    await refused(known, { incoming, path: PATH, requestId: requestIdOf(incoming.headers), callerId: null })
  }

  return {
    upgrade(incoming, raw, head) {
      raw.on('error', () => raw.destroy())
      admitted(incoming, raw, head).catch((error) => refuse(error, incoming, raw))
    },
    open: () => open.size,
    stop() {
      stopping = true
      serving.pings.stop()
      for (const turns of open.values()) turns.finish()
    },
  }
}

/** A connection of a caller. */
interface Connection {
  gateway: Gateway
  pings: Pings
  ask: SocketAsk
  idleMs: number
  /** Its upgrade request. */
  incoming: IncomingMessage
  raw: Duplex
  callerId: string
}

function serve(ws: WebSocket, of: Connection): SocketTurns {
  const { gateway, pings, ask, idleMs, incoming, raw, callerId } = of
  const { buffered, log } = gateway
  const earlier = createEarlierResponse({ buffered, callerId })
  const unread = countUnread(raw, { buffered, callerId, onFull: () => ws.terminate() })
  let idle: NodeJS.Timeout | undefined
  function onIdle(isIdle: boolean): void {
    clearTimeout(idle)
    if (isIdle) idle = setTimeout(() => ws.close(CLOSE.normal, 'Idle.'), idleMs).unref()
  }
  onIdle(true)
  pings.add(ws)
  ws.on('pong', () => pings.heard(ws))
  ws.on('error', (err) => log.debug('Socket error.', { err }))
  // Before the listener that counts the whole message.
  ws.on('message', unread.reset)
  ws.once('close', () => {
    onIdle(false)
    pings.remove(ws)
    unread.reset()
    earlier.forget()
  })
  const asked = (request: TurnRequest) => ask(request, incoming, callerId)
  return serveTurns({ ws, earlier, buffered, callerId, log, onIdle, ask: asked })
}

/** Options that ws's types lack: `closeTimeout` exists since ws 8.19. */
const WS_OPTIONS = { noServer: true, clientTracking: false, perMessageDeflate: false, closeTimeout: CLOSE_MS }

function socketServer(): WebSocketServer {
  const server = new WebSocketServer(WS_OPTIONS)
  // Malformed upgrades, which ws would answer in its own format.
  server.on('wsClientError', (error, raw, { headers }) =>
    refuseConnection(new GazewayError('invalid_request', `${error.message}.`), headers, raw),
  )
  return server
}
