import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import type { BufferedBytes } from '../../src/wire/buffered-bytes.ts'
import { type ClientAddresses, noteAddress } from './client-address.ts'
import type { FastLane } from './fast-lane.ts'
import type { Frame } from './frame-context.ts'
import { type Address, listen } from './listen.ts'
import { type ClientError, refuseConnection, refuseRequest, unreadable } from './refuse.ts'
import { onReplyClosed } from './reply-closed.ts'
import { logRequest } from './request-log.ts'
import { targetFault } from './request-target.ts'
import { type OnUpgrade, passUpgrades, shouldUpgradeCallback } from './websocket-upgrades.ts'

/** Time before the deadline at which pending callers are warned. */
const LAST_WORDS_MS = 1_000
/** Time for the last bytes of ended replies. */
const SENT_WITHIN_MS = 250

/** A service that listens. */
export interface Listening {
  /** `http://127.0.0.1:8811` */
  url: string
  /**
   * Stops accepting requests, and gives those in progress the time of a drain to finish. Ends the others, and waits for
   * their last writes.
   */
  stop(): Promise<void>
}

/** Options of {@link serve}. Times are in milliseconds. */
interface ServeOptions extends Address {
  headerTimeoutMs: number
  requestTimeoutMs: number
  /** Timeout of an idle connection. */
  keepAliveMs: number
  /** Time that replies in progress get at a stop, in milliseconds. Asked when the stop begins. */
  drainMs: () => number
  /** Tells whether the process is going to stop: connections then end with their reply. Never by default. */
  isDraining?: () => boolean
  addresses: ClientAddresses
  /** Logs each request. */
  log: Log
  /** Bodies in memory. That of a request is given back once the work on it is done. */
  buffered?: Pick<BufferedBytes, 'release'>
  lane?: FastLane
  onUpgrade?: OnUpgrade
  /** Called one second before replies in progress are ended. */
  onLastWords?: () => void
  /** Called when replies in progress must end. Replies that it ends properly are still sent. */
  onDeadline?: () => void
}

/**
 * Serves an app over HTTP. A request that cannot be read completely never reaches the app; it also gets an error body.
 *
 * @throws GazewayError as `listen`
 */
export async function serve(app: Hono<Frame>, options: ServeOptions): Promise<Listening> {
  const replies = createReplies()
  const { addresses, buffered, isDraining, lane, log, onUpgrade } = options

  function reply(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const at = performance.now()
    noteAddress(incoming, addresses.of(incoming))
    replies.begin(incoming.socket, outgoing)
    // A client that keeps its connection would lose the request that it sends as the service stops to listen.
    if (isDraining?.()) outgoing.shouldKeepAlive = false
    const over = () => {
      buffered?.release(incoming)
      logRequest(log, incoming, outgoing, performance.now() - at)
      replies.end()
    }
    const fault = targetFault(incoming)
    if (fault !== null) {
      refuseRequest(fault, incoming, outgoing)
      over()
      return
    }
    if (lane?.(incoming, outgoing, over)) return
    route(incoming, outgoing).then(over, (error) => {
      over()
      throw error
    })
  }
  function route(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const errorHandler = (error: unknown) => refuseRequest(notForApp(error), incoming, outgoing)
    // The listener's own cleanup cuts a client off 500 ms after its answer: it would see a broken connection instead of
    // the refusal of a body that it still sends. Node reads the rest, within the request timeout.
    const options = { overrideGlobalObjects: false, autoCleanupIncoming: false, errorHandler }
    return getRequestListener(app.fetch, options)(incoming, outgoing)
  }

  const server = createServer(
    {
      // A request must arrive within these limits; its reply may stream for longer. The head is part of the request, so
      // Node refuses a longer limit for it.
      headersTimeout: Math.min(options.headerTimeoutMs, options.requestTimeoutMs),
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: options.keepAliveMs,
      maxHeaderSize: 16 * 1024,
      // Node's own refusal has neither body nor request id.
      requireHostHeader: false,
      ...(onUpgrade && { shouldUpgradeCallback }),
    },
    reply,
  )
  server.on('connection', replies.connect)
  if (onUpgrade) {
    const upgrade: OnUpgrade = (incoming, raw, head) => {
      noteAddress(incoming, addresses.of(incoming))
      onUpgrade(incoming, raw, head)
    }
    passUpgrades(server, upgrade, replies.connections)
  }
  server.prependListener('request', notifyWaiting)
  server.on('clientError', (error, socket) => refuse(error, socket, replies.first(socket as Socket), log))
  server.on('checkExpectation', (incoming, outgoing) => refuseRequest(unmet(), incoming, outgoing))
  await listen(server, options)
  return { url: urlOf(server, options), stop: () => stop(server, replies, options) }
}

/** Address of a server that listens, whose port the system may have chosen. */
function urlOf(server: Server, { host, port }: Address): string {
  const address = server.address()
  const chosen = typeof address === 'object' && address ? address.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`
}

/** Replies of a server that are not sent yet. */
interface Replies {
  /** By connection. */
  connections: Map<Socket, ServerResponse[]>
  connect(socket: Socket): void
  begin(socket: Socket, reply: ServerResponse): void
  /** Ends the work on a reply. */
  end(): void
  /** The oldest reply of a connection. */
  first(socket: Socket): ServerResponse | undefined
  /** Closes the connections that wait for a request, now and whenever one is idle. */
  closeIdle(): void
  /** Waits for the work on all replies. Some of it outlasts their connections. */
  ended(): Promise<void>
}

function createReplies(): Replies {
  // Arrays, because a Set that each request enters and leaves is copied again and again. The old copies keep finished
  // requests alive for the garbage collector.
  const connections = new Map<Socket, ServerResponse[]>()
  let working = 0
  let onRest: (() => void) | undefined
  let stopping = false

  /** Closes a connection that waits for a request. Node's own method skips connections that never had one. */
  function closeIfUnused(socket: Socket, unsent: readonly ServerResponse[]): void {
    if (unsent.length === 0) socket.destroySoon()
  }
  return {
    connections,
    connect(socket) {
      // A connection that was returned after an upgrade request.
      if (connections.has(socket)) return
      connections.set(socket, [])
      socket.once('close', () => connections.delete(socket))
    },
    begin(socket, reply) {
      const unsent = connections.get(socket) ?? []
      unsent.push(reply)
      working++
      onReplyClosed(reply, () => {
        unsent.splice(unsent.indexOf(reply), 1)
        if (stopping) closeIfUnused(socket, unsent)
      })
    },
    end() {
      working--
      if (working === 0) onRest?.()
    },
    first: (socket) => connections.get(socket)?.[0],
    closeIdle() {
      stopping = true
      for (const [socket, unsent] of connections) closeIfUnused(socket, unsent)
    },
    async ended() {
      if (working > 0)
        await new Promise<void>((resolve) => {
          onRest = resolve
        })
    },
  }
}

async function stop(server: Server, replies: Replies, options: ServeOptions): Promise<void> {
  const { onLastWords, onDeadline } = options
  const drainMs = options.drainMs()
  const lastWords = setTimeout(() => onLastWords?.(), drainMs - LAST_WORDS_MS)
  let deadline = setTimeout(() => {
    onDeadline?.()
    deadline = setTimeout(() => server.closeAllConnections(), SENT_WITHIN_MS)
  }, drainMs)
  // Node's own method would cut off replies in transmission, because it takes their connections for idle.
  server.closeIdleConnections = () => {}
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
  replies.closeIdle()
  await closed
  // The deadline applies to replies that outlast their connections as well.
  await replies.ended()
  clearTimeout(lastWords)
  clearTimeout(deadline)
}

/**
 * Refuses a request that could not be read.
 *
 * @param answer oldest reply of its connection that is not sent yet
 */
function refuse(error: ClientError, socket: Duplex, answer: ServerResponse | undefined, log: Log): void {
  // Nobody waits for a reply on a connection that was opened ahead, or by a health check.
  if (hasNeverSent(socket)) return void socket.destroy()
  // A connection that is closed, closing or being answered takes no other reply.
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent) socket.destroy()
  else {
    const fault = unreadable(error)
    log.info('A request could not be read.', { status: fault.status, code: fault.code })
    refuseConnection(fault, answer?.req.headers ?? {}, socket)
  }
}

/**
 * Emits `close` for a pipelined request that waits for its turn when its connection closes. Such a request has no
 * connection of its own, and Node before 24 does not notify it. Its reply would be computed for nobody.
 */
function notifyWaiting(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (outgoing.socket !== null) return
  const { socket } = incoming
  // Node notifies a request whose turn has come. Newer versions notify all requests before this immediate runs.
  const tell = () =>
    setImmediate(() => {
      if (outgoing.socket === null && !outgoing.closed) outgoing.emit('close')
    })
  socket.setMaxListeners(0)
  socket.once('close', tell)
  onReplyClosed(outgoing, () => socket.off('close', tell))
}

/** Tells whether a connection has sent nothing at all. */
const hasNeverSent = (socket: Duplex): boolean => 'bytesRead' in socket && socket.bytesRead === 0

/** Error of a request that never reached the app, or of a thrown value that is not an error. */
function notForApp(cause: unknown): GazewayError {
  if (cause instanceof RequestError)
    return new GazewayError('invalid_request', 'The Host header or the path is missing or malformed.', { cause })
  return new GazewayError('internal_error', 'Internal error.', { cause })
}

function unmet(): GazewayError {
  return new GazewayError('expectation_failed', 'Only the expectation 100-continue is supported. Omit any other.')
}
