import { Client, type ClientOptions, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { CLI, type Place, type ServerOptions, spawnServer, type ToolReply } from './server.ts'

/** The revision of the protocol whose requests each name it. */
export const STATELESS = '2026-07-28'

/** Envelope of each request of this revision. */
export const envelope = (more: object = {}, capabilities: object = {}, version: unknown = STATELESS) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  ...more,
})

/** A server's bare ends, and requests of the revision without `initialize` to it. */
export function spawnStateless(place: Place, options: ServerOptions = {}) {
  const server = spawnServer(place, options)
  return {
    ...server,
    /** Sends a request and waits for its answer. */
    ask(id: number | string, method: string, params: object = {}, meta: object = envelope()) {
      server.send({ id, method, params: { ...params, _meta: meta } })
      return server.answer(id)
    },
  }
}

/** Starts the server and connects the client of the SDK's second major to it; `mode` chooses the era. */
export async function connectStateless(
  place: Place,
  mode: VersionNegotiationMode,
  {
    args = [],
    env = {},
    capabilities = {},
    prepare,
  }: ServerOptions & {
    capabilities?: ClientOptions['capabilities']
    prepare?: (client: Client) => void
  } = {},
) {
  const client = new Client({ name: 'test', version: '2' }, { capabilities, versionNegotiation: { mode } })
  prepare?.(client)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, ...args],
    cwd: place.project,
    env: { ...place.env, ...env },
    stderr: 'pipe',
  })
  await client.connect(transport)
  return {
    client,
    async call(
      name: string,
      input: Record<string, unknown> = {},
      options: { onprogress?: () => void; signal?: AbortSignal } = {},
    ) {
      return (await client.callTool({ name, arguments: input }, options)) as unknown as ToolReply
    },
  }
}
