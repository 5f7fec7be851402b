import {
  type InputRequiredResult,
  type ListResourcesResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { RequestRoots } from './carried-roots.ts'
import { readSkill } from './skills.ts'
import { workingFolder } from './working-folder.ts'

/** Memories per page. */
const LISTED = 100
/** Maximum number of completions that are counted. Clients see the first hundred. */
const COMPLETED = 1000

/**
 * Registers memories as resources, so that a person can attach one to a conversation: `memory://NAMESPACE/KEY`, with
 * `?project=PROJECT` for one of a project. An address without it is one of no project, or else of the client's.
 *
 * @param rootsOf returns the client's roots for one request
 */
export function registerMemories(
  mcp: McpServer,
  gateway: () => Promise<Gateway>,
  rootsOf: (request: ServerContext['mcpReq']) => RequestRoots,
): void {
  const template = new ResourceTemplate('memory://{namespace}/{+key}', {
    // The SDK drops the cursor of a template's own list, in both directions.
    list: undefined,
    complete: {
      namespace: async (start) => {
        const { memory } = await gateway()
        const { namespaces } = await memory.stats()
        return Object.keys(namespaces).filter((name) => name.startsWith(start))
      },
      key: async (start, context) => {
        const { memory } = await gateway()
        return memory.keys({ start, namespace: context?.arguments?.namespace || undefined, limit: COMPLETED })
      },
    },
  })
  async function list(cursor: string | undefined): Promise<ListResourcesResult> {
    const { memory } = await gateway()
    const page = await memory.recent({ limit: LISTED, ...(cursor === undefined ? {} : { cursor }) }).catch(asParams)
    return {
      resources: page.items.map(({ namespace, key, project, value, tags, updated_at }) => ({
        uri: addressOf(namespace, key, project),
        name: key,
        title: key,
        description: `Memory in ${namespace}${project === null ? '' : ` of ${project}`}${tags.length > 0 ? `, tagged ${tags.join(', ')}` : ''}`,
        mimeType: mimeTypeOf(value),
        annotations: { lastModified: updated_at },
      })),
      ...(page.next_cursor === null ? {} : { nextCursor: page.next_cursor }),
    }
  }
  async function read(
    uri: string,
    request: ServerContext['mcpReq'],
  ): Promise<ReadResourceResult | InputRequiredResult> {
    if (uri.startsWith('skill://')) return readSkill(uri)
    const address = parseAddress(uri)
    if (!address) throw new ResourceNotFoundError(uri, `Only memory://NAMESPACE/KEY is served here, not ${uri}.`)
    const { memory, projects } = await gateway()
    let found = await memory.recall({ ...address, project: address.project ?? null })
    if (!found.memory && address.project === undefined) {
      const { roots, missing } = rootsOf(request)
      const declared = await roots().catch(() => [])
      const incomplete = missing()
      if (incomplete) return incomplete
      const folder = workingFolder()
      const folders = declared.length > 0 || folder === null ? declared : [folder]
      found = await memory.recall({ ...address, project: await projects.at(folders) })
    }
    if (!found.memory)
      throw new ResourceNotFoundError(uri, `There is no memory ${address.key} in ${address.namespace}.`)
    const { value } = found.memory
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    return { contents: [{ uri, mimeType: mimeTypeOf(value), text }] }
  }

  const about = { title: 'Memory', description: 'What was stored under a key, by any assistant on this machine' }
  mcp.registerResource('memory', template, about, (uri, _variables, { mcpReq }) => read(uri.href, mcpReq))
  // Other assistants also store memories, and memories expire. This process is not notified of either, so a client that
  // relied on notifications would show an old list.
  mcp.server.registerCapabilities({ resources: { listChanged: false } })
  mcp.server.setRequestHandler('resources/list', ({ params }) => list(params?.cursor))
  // McpServer parses addresses as URLs, in which `a/../b` is `b`. Keys must not change.
  mcp.server.setRequestHandler('resources/read', ({ params }, { mcpReq }) => read(params.uri, mcpReq))
}

/** Reports an invalid cursor as a fault in the client's parameters (MCP, pagination). */
function asParams(error: unknown): never {
  if (error instanceof GazewayError && error.code === 'invalid_cursor')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
  throw error
}

const addressOf = (namespace: string, key: string, project: string | null) =>
  `memory://${encodeURIComponent(namespace)}/${encodeURIComponent(key)}${project === null ? '' : `?project=${encodeURIComponent(project)}`}`

const mimeTypeOf = (value: unknown) => (typeof value === 'string' ? 'text/plain' : 'application/json')

function parseAddress(uri: string): { namespace: string; key: string; project: string | undefined } | null {
  const [, namespace, key, project] = /^memory:\/\/([^/]+)\/(.+?)(?:\?project=([^?/]+))?$/s.exec(uri) ?? []
  if (namespace === undefined || key === undefined) return null
  return { namespace: decoded(namespace), key: decoded(key), project: project && decoded(project) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // The key was not encoded, and contains a "%".
    return part
  }
}
