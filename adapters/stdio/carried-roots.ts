import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { Roots, rootFolders } from './root-folders.ts'

/** Name of the roots in `inputResponses`, when the client sends a request again with them. */
const ROOTS = 'roots'

const Capabilities = z.object({ roots: z.unknown() })

/**
 * Reads the client's roots from the request itself, because a server of this revision sends no requests of its own. The
 * first call that needs roots asks for them before it does anything else; the client then sends the request again.
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

/** The client's roots as one request sees them. */
export interface RequestRoots {
  /** Returns the root folders on this machine. Rejects when the client must send the request again with its roots. */
  roots: () => Promise<readonly string[]>
  /** Request for missing input; null when nothing is missing. */
  missing: () => InputRequiredResult | null
}
