import { fileURLToPath } from 'node:url'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

/** How long a client may take to name its roots before the working directory is used instead. */
const ROOTS_TIMEOUT_MS = 2000

/**
 * The folder that the client works in: its first root, else this process's working directory. Asked once, and again
 * when the client says that its roots changed.
 */
export function projectRoot({ server }: McpServer): () => Promise<string> {
  let known: Promise<string> | undefined
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
    known = undefined
  })

  async function ask(): Promise<string> {
    if (!server.getClientCapabilities()?.roots) return process.cwd()
    try {
      const { roots } = await server.listRoots(undefined, { timeout: ROOTS_TIMEOUT_MS })
      return roots[0] ? fileURLToPath(roots[0].uri) : process.cwd()
    } catch {
      // A client that does not answer for the roots it declares, or has none on this machine, still gets its tools.
      return process.cwd()
    }
  }

  return () => {
    known ??= ask()
    return known
  }
}
