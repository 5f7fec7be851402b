import { setTimeout as delay } from 'node:timers/promises'
import type { McpServer } from '@modelcontextprotocol/server'
import { Roots, rootFolders } from './root-folders.ts'

/** Timeout of the client's roots in milliseconds; the call then continues without roots. */
const PATIENCE_MS = 2000

/**
 * The roots that a client declares which has sent `initialize`, in its order, as far as they are folders here; none for a
 * client without roots. Asked by the first call that needs them, and again when the client says that they changed.
 */
export function declaredRoots({ server }: McpServer): () => Promise<readonly string[]> {
  let folders = askedFolders(server)
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    folders = askedFolders(server)
  })
  return async () => (server.getClientCapabilities()?.roots ? folders() : [])
}

/** Asks with each call until there is an answer; one that comes too late for its call is there for the next. */
function askedFolders(server: McpServer['server']): () => Promise<readonly string[]> {
  let known: readonly string[] | undefined
  let asking: Promise<unknown> | undefined

  async function ask(): Promise<void> {
    known = await rootFolders(await server.request({ method: 'roots/list' }, Roots))
  }

  return async () => {
    if (known !== undefined) return known
    // A client that does not answer for the roots it declares still gets its tools.
    asking ??= Promise.race([ask().catch(() => {}), delay(PATIENCE_MS, undefined, { ref: false })]).finally(() => {
      asking = undefined
    })
    await asking
    return known ?? []
  }
}
