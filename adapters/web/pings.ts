import type { WebSocket } from 'ws'

/** Interval of pings in milliseconds. */
const PING_MS = 30_000

/** Detects clients that have disappeared without closing. */
export interface Pings {
  add(ws: WebSocket): void
  remove(ws: WebSocket): void
  /** Called for each pong of a client. */
  heard(ws: WebSocket): void
  stop(): void
}

/**
 * Pings all clients with one timer. A client that has not answered before the next ping is disconnected.
 *
 * @param everyMs interval in milliseconds; 30 s by default
 */
export function startPings(everyMs = PING_MS): Pings {
  /** Liveness of each client since the last ping. */
  const clients = new Map<WebSocket, boolean>()

  function pingAll(): void {
    for (const [ws, heard] of clients) {
      if (!heard) ws.terminate()
      else if (ws.readyState === ws.OPEN) {
        clients.set(ws, false)
        ws.ping()
      }
    }
  }

  const timer = setInterval(pingAll, everyMs).unref()
  return {
    add: (ws) => void clients.set(ws, true),
    remove: (ws) => void clients.delete(ws),
    heard(ws) {
      if (clients.has(ws)) clients.set(ws, true)
    },
    stop: () => clearInterval(timer),
  }
}
