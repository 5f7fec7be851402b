import type { WebSocket } from 'ws'
import { CLOSE } from './close-codes.ts'
import type { OpenConnection } from './serve-connection.ts'

/** Time before shutdown at which pending callers are warned, in milliseconds. */
const LAST_WORDS_MS = 1_000

/** Clients by socket; null until admitted. */
export type Clients = ReadonlyMap<WebSocket, OpenConnection | null>

/**
 * Closes the sockets of all clients (1001), after answers in progress have finished.
 *
 * @param drainMs time for these answers, in milliseconds
 */
export async function closeClients(clients: Clients, drainMs: number): Promise<void> {
  const closed = Promise.all([...clients].map(([ws, serving]) => closing(ws, serving)))
  const lastWords = setTimeout(() => {
    for (const serving of clients.values()) serving?.cutOff()
  }, drainMs - LAST_WORDS_MS)
  const deadline = setTimeout(() => {
    for (const ws of clients.keys()) ws.terminate()
  }, drainMs)
  await closed
  clearTimeout(lastWords)
  clearTimeout(deadline)
}

/** Resolves when a socket is closed, after its received frames are answered. */
function closing(ws: WebSocket, serving: OpenConnection | null): Promise<void> {
  return new Promise((resolve, reject) => {
    ws.once('close', () => resolve())
    if (serving === null) ws.close(CLOSE.goingAway, 'The service is stopping.')
    else serving.finish().catch(reject)
  })
}
