import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import type { Authenticator } from '../../../src/identity/passes.ts'
import type { ModelBody } from '../../../src/inference/admit/admit.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { structureBytes } from '../../../src/text/json-structure.ts'
import { isLenient } from '../../web/arrival.ts'
import { modelBodyLimit, tooLarge } from '../../web/body-limit.ts'
import { addressOf } from '../../web/client-address.ts'
import { keyOf, requestIdOf } from '../../web/frame.ts'
import { callerFault, requestFault } from '../../web/guards.ts'
import type { HostRules } from '../../web/hosts.ts'
import { startPings } from '../../web/pings.ts'
import type { RateLimit } from '../../web/rate-limit.ts'
import { refuseConnection } from '../../web/refuse.ts'
import type { OnRefused } from '../../web/refused-calls.ts'
import { targetFault } from '../../web/request-target.ts'
import { callContext, createAsk } from '../routes/chat-completions-route.ts'
import { checkResponses } from '../routes/responses-route.ts'
import { createEarlierResponse } from './earlier-response.ts'
import { CLOSE, type SocketTurns, serveTurns, type TurnRequest } from './socket-turns.ts'

const PATH = '/v1/responses'
/** Connections of one key. */
const MOST_PER_KEY = 64
/** Time after which a connection without a request is closed, in milliseconds. */
const IDLE_MS = 600_000
/** Timeout of a client's side of a close, in milliseconds. */
const CLOSE_MS = 2_000

/** The Responses API over WebSocket, on the port of the gateway. */
export interface ResponsesSocket {
  /** Handles an upgrade request of the server. */
  upgrade(incoming: IncomingMessage, raw: Duplex, head: Buffer): void
  /** Closes every connection (1001), after the response under way. */
  stop(): void
}

/** Dependencies of the socket besides the gateway's services. */
export interface ResponsesSocketDeps {
  calls: OpenCalls
  keys: Authenticator
  hosts: HostRules
  count: RateLimit['count']
  refused: OnRefused
  /** Interval of pings, in milliseconds; 30 s by default. */
  pingMs?: number
  /** Time without a request after which a connection is closed; 10 minutes by default. */
  idleMs?: number
  /** Connections of one key; 64 by default. */
  mostPerKey?: number
}

/** Serves the Responses API in OpenAI's WebSocket mode (https://developers.openai.com/docs/guides/websocket-mode). */
export function createResponsesSocket(gateway: Gateway, deps: ResponsesSocketDeps): ResponsesSocket {
  const { calls, keys, hosts, count, refused, idleMs = IDLE_MS, mostPerKey = MOST_PER_KEY } = deps
  const ask = createAsk(calls, gateway, '/responses')
  const pings = startPings(deps.pingMs)
  const open = new Map<WebSocket, SocketTurns>()
  const perKey = new Map<string, number>()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    closeTimeout: CLOSE_MS,
  } as { noServer: true })
  server.on('wsClientError', (error, raw, { headers }) =>
    refuseConnection(new GazewayError('invalid_request', `${error.message}.`), headers, raw),
  )
  let stopping = false

  async function authenticate(incoming: IncomingMessage): Promise<Identity> {
    const token = keyOf(incoming.headers, PATH)
    const identity = keys.authenticateCached(token) ?? (await keys.authenticate(token))
    const fault = callerFault(identity, 'inference')
    if (fault !== null) throw fault
    return identity
  }

  async function admit(incoming: IncomingMessage): Promise<Identity> {
    const fault = targetFault(incoming) ?? requestFault(incoming.headers, hosts)
    if (fault !== null) throw fault
    const [path] = (incoming.url ?? '').split('?', 1)
    if (path !== PATH) throw new GazewayError('not_found', `There is no socket here; it is at ${PATH}.`)
    const identity = await authenticate(incoming)
    if (stopping) throw new GazewayError('service_stopping', 'The service is stopping.')
    count(identity.id)
    if ((perKey.get(identity.id) ?? 0) >= mostPerKey) throw tooManyConnections(mostPerKey)
    return identity
  }

  function upgrade(incoming: IncomingMessage, raw: Duplex, head: Buffer): void {
    raw.on('error', () => raw.destroy())
    admit(incoming).then(
      (identity) => {
        const { bytes } = modelBodyLimit(gateway, identity.id)
        server.options.maxPayload = bytes
        server.handleUpgrade(incoming, raw, head, (ws) => serve(ws, raw, incoming, identity))
      },
      async (error: unknown) => {
        const known = error instanceof GazewayError ? error : new GazewayError('internal_error', 'Internal error.')
        gateway.log.info('A socket was refused.', { status: known.status, code: known.code })
        refuseConnection(known, incoming.headers, raw)
        const requestId = requestIdOf(incoming.headers)
        await refused(known, { incoming, path: PATH, requestId, callerId: null })
      },
    )
  }

  function serve(ws: WebSocket, raw: Duplex, incoming: IncomingMessage, { id }: Identity): void {
    const earlier = createEarlierResponse({ buffered: gateway.buffered, callerId: id })
    const unread = countUnread(gateway, raw, id, () => ws.terminate())
    let idle: NodeJS.Timeout | undefined
    perKey.set(id, (perKey.get(id) ?? 0) + 1)
    pings.add(ws)
    ws.on('pong', () => pings.heard(ws))
    ws.on('error', (err) => gateway.log.debug('Socket error.', { err }))
    ws.on('message', unread.reset)
    const turns = serveTurns({
      ws,
      earlier,
      log: gateway.log,
      ask: (request) =>
        askOver(request, incoming).catch(async (error: unknown) => {
          const { requestId } = request
          if (error instanceof GazewayError) await refused(error, { incoming, path: PATH, requestId, callerId: id })
          throw error
        }),
      onIdle(isIdle) {
        clearTimeout(idle)
        if (isIdle) idle = setTimeout(() => ws.close(CLOSE.normal, 'Idle.'), idleMs).unref()
      },
    })
    idle = setTimeout(() => ws.close(CLOSE.normal, 'Idle.'), idleMs).unref()
    open.set(ws, turns)
    ws.once('close', () => {
      clearTimeout(idle)
      pings.remove(ws)
      unread.reset()
      earlier.forget()
      open.delete(ws)
      const left = (perKey.get(id) ?? 1) - 1
      if (left === 0) perKey.delete(id)
      else perKey.set(id, left)
    })
  }

  async function askOver({ body, requestId, receiver }: TurnRequest, incoming: IncomingMessage): Promise<void> {
    const identity = await authenticate(incoming)
    count(identity.id)
    checkResponses(body)
    const limit = modelBodyLimit(gateway, identity.id)
    const text = JSON.stringify(body)
    const bytes = Buffer.from(text)
    if (bytes.length > limit.bytes) throw tooLarge(limit)
    const owner = { request: receiver, callerId: identity.id }
    gateway.buffered.take(owner, bytes.length + structureBytes(bytes))
    const context = callContext(
      {
        incoming,
        callerId: identity.id,
        address: addressOf(incoming),
        isPaid: false,
        isLenient: isLenient(incoming, identity),
        isCacheOff: identity.cache === 'off',
        requestId,
      },
      body as ModelBody,
    )
    try {
      await ask({ bytes, text, json: body as ModelBody }, receiver, context)
    } finally {
      gateway.buffered.release(receiver)
    }
  }

  return {
    upgrade,
    stop() {
      stopping = true
      pings.stop()
      for (const turns of open.values()) turns.finish()
    },
  }
}

/** Largest part of a message that is not counted, in bytes. */
const LARGEST_UNCOUNTED = 64 * 1024

/**
 * Counts the bytes of a message that has not come in whole, among all bodies in memory.
 *
 * @param onFull called when there is no room for more
 */
function countUnread({ buffered }: Gateway, raw: Duplex, callerId: string, onFull: () => void): { reset: () => void } {
  const owner = { request: {}, callerId }
  let size = 0
  raw.on('data', (chunk: Buffer) => {
    const before = size
    size += chunk.length
    if (size <= LARGEST_UNCOUNTED) return
    try {
      buffered.take(owner, before > LARGEST_UNCOUNTED ? chunk.length : size)
    } catch {
      onFull()
    }
  })
  return {
    reset() {
      size = 0
      buffered.release(owner.request)
    },
  }
}

const tooManyConnections = (most: number): GazewayError =>
  new GazewayError('too_many_requests', `This key has ${most} connections to ${PATH}. Close one of them.`, {
    retryAfterSeconds: 5,
  })
