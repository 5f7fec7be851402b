import { once } from 'node:events'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Interval of looks at each target, in milliseconds. */
const INTERVAL_MS = 200

/** A balancer that sends requests to targets that are ready. */
export interface Balancer {
  url: string
  /** Takes another set of targets, none of which counts as ready until it says so. */
  serve(targets: readonly string[]): Promise<void>
  close(): void
}

/**
 * Starts a balancer that does what deploy/Caddyfile has Caddy do: it asks `/readyz`, and keeps its connections. It sends
 * no request twice, so that each that a gateway drops is a failure of the client's.
 */
export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let known = targets
  let ready: string[] = []
  let turn = 0

  async function look(): Promise<void> {
    const asked = known
    const answers = await Promise.all(asked.map((url) => fetch(`${url}/readyz`).then(isOk, () => false)))
    if (asked === known) ready = asked.filter((_, index) => answers[index])
  }

  const server = createServer((incoming, reply) => {
    const target = ready[turn++ % Math.max(1, ready.length)]
    if (target === undefined) return void refuse(reply, 'No gateway is ready.')
    const { method = 'GET', headers } = incoming
    const outgoing = request(`${target}${incoming.url}`, { method, headers, agent }, (answer) => {
      const { connection: _, 'keep-alive': __, ...kept } = answer.headers
      reply.writeHead(answer.statusCode ?? 502, kept)
      answer.pipe(reply)
      answer.once('error', () => reply.destroy())
    })
    outgoing.on('error', (error) => refuse(reply, String(error)))
    incoming.pipe(outgoing)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await look()
  const looks = setInterval(look, INTERVAL_MS)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve(next) {
      known = next
      return look()
    },
    close() {
      clearInterval(looks)
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

const isOk = async (reply: Response): Promise<boolean> => {
  await reply.arrayBuffer()
  return reply.ok
}

function refuse(reply: ServerResponse, why: string): void {
  if (reply.headersSent) reply.destroy()
  else reply.writeHead(502).end(why)
}
