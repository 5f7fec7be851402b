import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { type JSONRPCMessage, LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'

/** Command line and environment of a server. */
export interface ServerCommand {
  args: string[]
  env?: Record<string, string>
  /** The working directory; this process's own when absent. */
  cwd?: string
}

/** A running MCP server and what a client says to it. */
export interface Session {
  pid: number
  /** The handshake; the server may be spoken to afterwards. */
  initialize(): Promise<void>
  listTools(): Promise<void>
  /** @throws Error when the tool answers with an error */
  call(tool: string, args: Record<string, unknown>): Promise<void>
  /** Calls a tool and returns its result. @throws Error when the tool answers with an error */
  ask(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Resolves once the process has ended. */
  close(): Promise<void>
}

interface Waiting {
  resolve(reply: JSONRPCMessage): void
  reject(error: Error): void
}

/**
 * Starts a server with this Node and speaks to it over its stdin and stdout: without the SDK's client, whose own work on a
 * reply (it compiles a validator for each tool it is told of) would be measured as the server's.
 */
export async function openSession({ args, env = {}, cwd }: ServerCommand): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env,
    stderr: 'ignore',
    ...(cwd !== undefined && { cwd }),
  })
  const waiting = new Map<number, Waiting>()
  let lastId = 0

  transport.onmessage = (message) => {
    if ('method' in message || typeof message.id !== 'number') return
    waiting.get(message.id)?.resolve(message)
    waiting.delete(message.id)
  }
  let fault: Error | undefined
  transport.onerror = (error) => {
    fault = error
  }
  transport.onclose = () => {
    const ended = new Error(`${args.join(' ')} ended before it answered.`, { cause: fault })
    for (const { reject } of waiting.values()) reject(ended)
  }

  async function request(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    const id = ++lastId
    const reply = new Promise<JSONRPCMessage>((resolve, reject) => waiting.set(id, { resolve, reject }))
    await transport.send({ jsonrpc: '2.0', id, method, params })
    const answer = await reply
    if (!('result' in answer) || answer.result.isError) throw new Error(`${method}: ${JSON.stringify(answer)}`)
    return answer.result
  }

  await transport.start()
  return {
    pid: transport.pid ?? 0,
    async initialize() {
      const clientInfo = { name: 'gazeway-bench', version: '1.0.0' }
      await request('initialize', { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo })
      await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    },
    listTools: async () => void (await request('tools/list', {})),
    call: async (name, args) => void (await request('tools/call', { name, arguments: args })),
    ask: (name, args) => request('tools/call', { name, arguments: args }),
    close: () => transport.close(),
  }
}

/** A session that is ready for calls. */
export async function openInitialized(server: ServerCommand): Promise<Session> {
  const session = await openSession(server)
  await session.initialize()
  return session
}
