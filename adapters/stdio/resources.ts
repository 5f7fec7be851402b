import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'

/** How many memories a client is shown to pick from; it reaches the others by their address. */
const LISTED = 100

/** Memories as resources, `memory://NAMESPACE/KEY`, so that a person can attach one to a conversation. */
export function registerMemories(mcp: McpServer, gateway: () => Promise<Gateway>): void {
  const template = new ResourceTemplate('memory://{namespace}/{+key}', {
    list: async () => {
      const { memory } = await gateway()
      const { items } = await memory.recent({ limit: LISTED })
      return {
        resources: items.map(({ namespace, key, tags, updated_at }) => ({
          uri: addressOf(namespace, key),
          name: key,
          description: `Memory in ${namespace}${tags.length > 0 ? `, tagged ${tags.join(', ')}` : ''}`,
          mimeType: 'text/plain',
          annotations: { lastModified: updated_at },
        })),
      }
    },
    complete: {
      namespace: async (start) => {
        const { memory } = await gateway()
        const { namespaces } = await memory.stats()
        return Object.keys(namespaces).filter((name) => name.startsWith(start))
      },
      key: async (start, context) => {
        const { memory } = await gateway()
        const namespace = context?.arguments?.namespace
        const { items } = await memory.recent({ limit: LISTED, ...(namespace ? { namespace } : {}) })
        return items.map(({ key }) => key).filter((key) => key.startsWith(start))
      },
    },
  })
  const about = { title: 'Memory', description: 'What was stored under a key, by any assistant on this machine' }
  mcp.registerResource('memory', template, about, async (uri, variables) => {
    const { memory } = await gateway()
    const [namespace, key] = [variables.namespace, variables.key].map((part) => decodeURIComponent(String(part)))
    const found = await memory.recall({ namespace: namespace ?? '', key: key ?? '' })
    if (!found.memory) throw new GazewayError('not_found', `There is no memory ${key} in ${namespace}.`)
    const { value } = found.memory
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    const mimeType = typeof value === 'string' ? 'text/plain' : 'application/json'
    return { contents: [{ uri: uri.href, mimeType, text }] }
  })
}

const addressOf = (namespace: string, key: string) =>
  `memory://${encodeURIComponent(namespace)}/${encodeURIComponent(key)}`
