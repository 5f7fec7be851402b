import type { WebSocket } from 'ws'
import { CLOSE } from './closes.ts'
import type { OpenConnection } from './serve-connection.ts'

/** Time that pending answers get at shutdown, in milliseconds. */
const SHUTDOWN_MS = 10_000
/** Time before shutdown at which pending callers are warned, in milliseconds. */
const LAST_WORDS_MS = 1_000

/** Clients by socket; null until admitted. */
export type Clients = ReadonlyMap<WebSocket, OpenConnection | null>

/** Closes the sockets of all clients (1001), after answers in progress have finished or 10 s have passed. */
export async function closeClients(clients: Clients): Promise<void> {
  const closed = Promise.all([...clients].map(([ws, serving]) => closing(ws, serving)))
  const lastWords = setTimeout(() => {
    for (const serving of clients.values()) serving?.cutOff()
  }, SHUTDOWN_MS - LAST_WORDS_MS)
  const deadline = setTimeout(() => {
    for (const ws of clients.keys()) ws.terminate()
  }, SHUTDOWN_MS)
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
