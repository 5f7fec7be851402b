import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A JSON-RPC request to a node. */
export interface Asked {
  method: string
  params: readonly unknown[]
}

/** A false reply of a node: a result, an error or invalid JSON-RPC. `undefined` passes the true reply on. */
export type Lie = (
  asked: Asked,
) =>
  | { result: unknown }
  | { error: { code: number; message: string; data?: string } }
  | { status: number; body: string }
  | 'hang up'
  | undefined

/** A node between a gateway and another node, which says what it is told to. */
export interface FaultyNode {
  url: string
  /** False replies from now on; without it, the replies of the real node. */
  lie: Lie | undefined
  /** Delay of each reply, in milliseconds. */
  delayMs: number
  /** Awaited before each reply. */
  before?: (asked: Asked) => Promise<void>
  asked: Asked[]
  stop(): void
}

/** @param upstream the URL of the node that it passes questions on to */
export async function startFaultyNode(upstream: string): Promise<FaultyNode> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { id, method, params = [] } = JSON.parse(body) as Asked & { id: number }
    node.asked.push({ method, params })
    await new Promise((resolve) => setTimeout(resolve, node.delayMs))
    await node.before?.({ method, params })
    const said = node.lie?.({ method, params })
    if (said === 'hang up') return void response.destroy()
    if (said && 'status' in said) return void response.writeHead(said.status).end(said.body)
    const answer = said ? JSON.stringify({ jsonrpc: '2.0', id, ...said }) : await passOn(upstream, body)
    // Where the node behind it is gone, so is this one.
    if (answer === null) response.destroy()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const node: FaultyNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie: undefined,
    delayMs: 0,
    asked: [],
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
  return node
}

async function passOn(upstream: string, body: string): Promise<string | null> {
  try {
    const reply = await fetch(upstream, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return await reply.text()
  } catch {
    return null
  }
}
