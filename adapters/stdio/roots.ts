import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** How long a call waits for the client's roots before it uses the working directory instead. */
const PATIENCE_MS = 2000

/**
 * What `roots/list` answers, as clients answer it: the SDK's own schema refuses all roots for one that is no `file:`
 * address, as of a folder that is edited over SSH.
 */
const Roots = z.object({ roots: z.array(z.object({ uri: z.string() }).catch({ uri: '' })) })

/**
 * The folder that the client works in: its first root that is a folder here, else this process's working directory.
 * Asked by the first call that needs it, and again when the client says that its roots changed.
 */
export function projectRoot({ server }: McpServer): () => Promise<string> {
  let folder = askedFolder(server)
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
    folder = askedFolder(server)
  })
  return async () => (server.getClientCapabilities()?.roots ? folder() : process.cwd())
}

/** Asks with each call until there is an answer; one that comes too late for its call is there for the next. */
function askedFolder(server: Server): () => Promise<string> {
  let known: string | undefined
  let asking: Promise<unknown> | undefined

  async function ask(): Promise<void> {
    const { roots } = await server.request({ method: 'roots/list' }, Roots)
    known = (await firstFolder(roots)) ?? process.cwd()
  }

  return async () => {
    if (known !== undefined) return known
    // A client that does not answer for the roots it declares still gets its tools.
    asking ??= Promise.race([ask().catch(() => {}), delay(PATIENCE_MS, undefined, { ref: false })]).finally(() => {
      asking = undefined
    })
    await asking
    return known ?? process.cwd()
  }
}

/** Clients name folders of other machines too, in containers and over SSH, and files that are open. */
async function firstFolder(roots: readonly { uri: string }[]): Promise<string | undefined> {
  for (const { uri } of roots) {
    try {
      const path = fileURLToPath(uri)
      if ((await stat(path)).isDirectory()) return path
    } catch {
      // No address of a file, or nothing there.
    }
  }
  return undefined
}
