import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame.ts'

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
 * Serves an app over HTTP.
 *
 * @param options.flag the flag that sets the port, for the error
 * @throws GazewayError `conflict` when the port is taken
 */
export async function serve(
  app: Hono<Frame>,
  options: { host: string; port: number; flag: string; headerTimeoutMs: number; requestTimeoutMs: number },
): Promise<Listening> {
  const inProgress = new Set<Reply>()
  const connections = new Set<Socket>()
  let stopping = false

  const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  function reply(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const begun: Reply = { socket: incoming.socket, over: handle(incoming, outgoing).finally(ended) }
    inProgress.add(begun)
    function ended() {
      inProgress.delete(begun)
      if (stopping) closeUnused()
    }
  }
  /** Closes the connections that wait for a request; Node's own way leaves those that never had one. */
  function closeUnused(): void {
    const used = new Set([...inProgress].map(({ socket }) => socket))
    for (const socket of connections) if (!used.has(socket)) socket.destroySoon()
  }

  const server = createServer(
    {
      // A request must have arrived within these; replies may take as long as they stream.
      headersTimeout: options.headerTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
    },
    reply,
  )
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', tellWaiting)
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
  socket: Socket
  over: Promise<unknown>
}

function listen(server: Server, { host, port, flag }: { host: string; port: number; flag: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      const advice = `Stop what listens there, or choose another port with ${flag}.`
      reject(new GazewayError('conflict', `Port ${port} on ${host} is in use. ${advice}`, { cause: error }))
    })
    server.listen(port, host, () => resolve())
  })
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
