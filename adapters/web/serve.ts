import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame.ts'
import { type Address, listen } from './listen.ts'
import { type ClientError, refuseConnection, refuseRequest, unreadable } from './refuse.ts'

/** How long replies in progress may go on once the service is told to stop. */
const SHUTDOWN_MS = 10_000

/** A service that listens. */
export interface Listening {
  /** `http://127.0.0.1:8811` */
  url: string
  /** Takes no more requests, lets those in progress finish for 10 s, then ends them. */
  stop(): Promise<void>
}

/**
 * Serves an app over HTTP. What never reaches it, because it is no whole request, is answered with an error body too.
 *
 * @throws GazewayError as `listen`
 */
export async function serve(
  app: Hono<Frame>,
  options: Address & { headerTimeoutMs: number; requestTimeoutMs: number },
): Promise<Listening> {
  const inProgress = new Set<Reply>()
  const connections = new Set<Socket>()
  let stopping = false

  function reply(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const errorHandler = (error: unknown) => refuseRequest(notForApp(error), incoming, outgoing)
    const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler })
    const begun: Reply = { incoming, outgoing, over: handle(incoming, outgoing).finally(ended) }
    inProgress.add(begun)
    function ended() {
      inProgress.delete(begun)
      if (stopping) closeUnused()
    }
  }
  /** Closes the connections that wait for a request; Node's own way leaves those that never had one. */
  function closeUnused(): void {
    const used = new Set([...inProgress].map(({ incoming }) => incoming.socket))
    for (const socket of connections) if (!used.has(socket)) socket.destroySoon()
  }
  function refuse(error: ClientError, socket: Duplex): void {
    const begun = [...inProgress].find(({ incoming }) => incoming.socket === socket)
    // What has gone, is ending or is being answered takes no other reply.
    if (error.code === 'ECONNRESET' || !socket.writable || begun?.outgoing.headersSent) socket.destroy()
    else refuseConnection(unreadable(error), begun?.incoming.headers ?? {}, socket)
  }

  const server = createServer(
    {
      // A request must have arrived within these; replies may take as long as they stream.
      headersTimeout: options.headerTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
      // Node's own refusal has neither body nor request id.
      requireHostHeader: false,
    },
    reply,
  )
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', tellWaiting)
  server.on('clientError', refuse)
  server.on('checkExpectation', (incoming, outgoing) => refuseRequest(unmet(), incoming, outgoing))
  await listen(server, options)
  const { host } = options
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async stop() {
      stopping = true
      const deadline = setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS)
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      closeUnused()
      await closed
      clearTimeout(deadline)
      // A call whose client has gone is still to be recorded.
      await Promise.allSettled([...inProgress].map(({ over }) => over))
    },
  }
}

/** A reply that is being made. */
interface Reply {
  incoming: IncomingMessage
  outgoing: ServerResponse
  over: Promise<unknown>
}

/**
 * A pipelined request waits its turn without a connection of its own, and Node does not tell it when that closes: its
 * reply would be worked on for nobody.
 */
function tellWaiting(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (outgoing.socket !== null) return
  incoming.socket.setMaxListeners(0)
  incoming.socket.once('close', () => {
    if (!outgoing.closed) outgoing.emit('close')
  })
}

/** Why a request was not handed to the app, or what the app threw that is no error. */
function notForApp(cause: unknown): GazewayError {
  if (cause instanceof RequestError)
    return new GazewayError('invalid_request', 'The Host header is missing or malformed, or the path is.', { cause })
  return new GazewayError('internal_error', 'Gazeway itself failed.', { cause })
}

function unmet(): GazewayError {
  return new GazewayError('expectation_failed', 'Only the expectation 100-continue can be met; leave out any other.')
}
