import { createServer, type Server } from 'node:http'
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
  const server = createServer(
    {
      // A request must have arrived within these; replies may take as long as they stream.
      headersTimeout: options.headerTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
    },
    getRequestListener(app.fetch, { overrideGlobalObjects: false }),
  )
  await listen(server, options)
  const { host } = options
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        const deadline = setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS)
        server.close(() => {
          clearTimeout(deadline)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
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
