import { setTimeout as delay } from 'node:timers/promises'
import type { McpServer } from '@modelcontextprotocol/server'
import { Roots, rootFolders } from './root-folders.ts'

/** Timeout of the client's roots in milliseconds; the call then continues without roots. */
const PATIENCE_MS = 2000

/**
 * Creates a reader of the root folders that an initialized client declares, in its order. Roots that are not folders on
 * this machine are omitted. Empty for a client without roots.
 *
 * The first call that needs roots asks the client for them. They are requested again after the client reports a change.
 */
export function declaredRoots({ server }: McpServer): () => Promise<readonly string[]> {
  let folders = askedFolders(server)
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    folders = askedFolders(server)
  })
  return async () => (server.getClientCapabilities()?.roots ? folders() : [])
}

/** Asks the client with each call until it answers. An answer that is too late for its call serves the next one. */
function askedFolders(server: McpServer['server']): () => Promise<readonly string[]> {
  let known: readonly string[] | undefined
  let asking: Promise<unknown> | undefined

  async function ask(): Promise<void> {
    known = await rootFolders(await server.request({ method: 'roots/list' }, Roots))
  }

  return async () => {
    if (known !== undefined) return known
    // A client that declares roots but does not send them still gets its tools.
    asking ??= Promise.race([ask().catch(() => {}), delay(PATIENCE_MS, undefined, { ref: false })]).finally(() => {
      asking = undefined
    })
    await asking
    return known ?? []
  }
}
