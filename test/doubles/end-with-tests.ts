import type { Server, Socket } from 'node:net'
import { after } from 'node:test'

const open = new Set<Server | Socket>()
after(() => {
  for (const handle of open) handle.unref()
})

/**
 * Lets the process of a test file end once its tests have, although nobody has closed a server: where `before` fails, `after`
 * often fails as well, before it closes anything.
 */
export function endWithTests<S extends Server>(server: S): S {
  const keep = (handle: Server | Socket) => {
    open.add(handle)
    handle.once('close', () => open.delete(handle))
  }
  keep(server)
  server.on('connection', keep)
  return server
}
