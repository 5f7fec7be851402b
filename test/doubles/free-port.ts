import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections and to port 0 (from 32768 on Linux, 49152 elsewhere). */
const FROM = 12_000
const TO = 32_000
const TRIES = 100

/**
 * Finds a free port, for servers that need to know their port in advance or reuse it. It is one that no connection of
 * another test is given before the server listens, or while it is stopped.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(FROM, TO)
    const probe = createServer().listen(port, '127.0.0.1')
    try {
      await once(probe, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && tries < TRIES) continue
      throw error
    }
    probe.close()
    await once(probe, 'close')
    return port
  }
}
