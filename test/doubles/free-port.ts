import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port that nothing listens on just now, for servers that must know their own, or have it again. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
