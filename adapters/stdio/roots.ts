import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** How long a client may take to name its roots before the working directory is used instead. */
const ROOTS_TIMEOUT_MS = 2000

/**
 * What `roots/list` answers, as clients answer it: the SDK's own schema refuses all roots for one that is no `file:`
 * address, as of a folder that is edited over SSH.
 */
const Roots = z.object({ roots: z.array(z.object({ uri: z.string() }).catch({ uri: '' })) })

/**
 * The folder that the client works in: its first root that is a folder here, else this process's working directory.
 * Asked once, and again when the client says that its roots changed.
 */
export function projectRoot({ server }: McpServer): () => Promise<string> {
  let known: Promise<string> | undefined
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
    known = undefined
  })

  async function ask(): Promise<string> {
    if (!server.getClientCapabilities()?.roots) return process.cwd()
    try {
      const { roots } = await server.request({ method: 'roots/list' }, Roots, { timeout: ROOTS_TIMEOUT_MS })
      return (await firstFolder(roots)) ?? process.cwd()
    } catch {
      // A client that does not answer for the roots it declares still gets its tools.
      return process.cwd()
    }
  }

  return () => {
    known ??= ask()
    return known
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
