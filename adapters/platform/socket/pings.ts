import type { WebSocket } from 'ws'

/** Interval of pings in milliseconds. */
const PING_MS = 30_000

/** Finds out which clients are gone without a word. */
export interface Pings {
  add(ws: WebSocket): void
  remove(ws: WebSocket): void
  /** The client gave a sign of life. */
  heard(ws: WebSocket): void
  stop(): void
}

/**
 * Pings every client, all of them by one timer; one that has not answered by the next ping is cut off.
 *
 * @param everyMs 30 s when absent
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
