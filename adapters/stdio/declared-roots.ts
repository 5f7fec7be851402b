import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** How long a call waits for the client's roots before it goes on as if there were none. */
const PATIENCE_MS = 2000

/**
 * What `roots/list` answers, as clients answer it: the SDK's own schema refuses all roots for one that is no `file:`
 * address, as of a folder that is edited over SSH.
 */
const Roots = z.object({ roots: z.array(z.object({ uri: z.string() }).catch({ uri: '' })) })

/**
 * The roots that the client declares, in its order, as far as they are folders here; none for a client without roots.
 * Asked by the first call that needs them, and again when the client says that they changed.
 */
export function declaredRoots({ server }: McpServer): () => Promise<readonly string[]> {
  let folders = askedFolders(server)
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
    folders = askedFolders(server)
  })
  return async () => (server.getClientCapabilities()?.roots ? folders() : [])
}

/** Asks with each call until there is an answer; one that comes too late for its call is there for the next. */
function askedFolders(server: Server): () => Promise<readonly string[]> {
  let known: readonly string[] | undefined
  let asking: Promise<unknown> | undefined

  async function ask(): Promise<void> {
    const { roots } = await server.request({ method: 'roots/list' }, Roots)
    known = await foldersAmong(roots)
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

/** Clients name folders of other machines too, in containers and over SSH, and files that are open. */
async function foldersAmong(roots: readonly { uri: string }[]): Promise<string[]> {
  const folders: string[] = []
  for (const { uri } of roots) {
    try {
      const path = fileURLToPath(uri)
      if ((await stat(path)).isDirectory()) folders.push(path)
    } catch {
      // No address of a file, or nothing there.
    }
  }
  return folders
}
