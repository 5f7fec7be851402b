import { CLIENT_CAPABILITIES_META_KEY, inputRequired, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { RequestRoots } from './mcp-server.ts'
import { Roots, rootFolders } from './root-folders.ts'

/** The name of the roots among what a request is sent again with. */
const ROOTS = 'roots'

const Capabilities = z.object({ roots: z.unknown() })

/**
 * Reads the client's roots from the request itself: in this revision a server sends no requests of its own. A client that
 * declares roots is asked for them by the first call that needs them, before it does anything else.
 */
export function carriedRoots({ envelope, inputResponses }: ServerContext['mcpReq']): RequestRoots {
  const capabilities = Capabilities.safeParse((envelope as Record<string, unknown>)?.[CLIENT_CAPABILITIES_META_KEY])
  const hasRoots = capabilities.data?.roots !== undefined
  const carried = inputResponses?.[ROOTS]
  let isMissing = false
  return {
    async roots() {
      if (!hasRoots) return []
      if (carried === undefined) {
        isMissing = true
        throw new Error('The request does not carry its roots.')
      }
      const roots = Roots.safeParse(carried)
      return roots.success ? rootFolders(roots.data) : []
    },
    missing: () => (isMissing ? inputRequired({ inputRequests: { [ROOTS]: inputRequired.listRoots() } }) : null),
  }
}
