import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** Fault of a reply: `cut` ends it after half, `half` stops there and stays open, `html` answers with a page instead. */
export type Fault = 'cut' | 'half' | 'html'

export interface Spoiling {
  /** Settled once a reply was spoilt. */
  begun: Promise<void>
  end(): void
}

/** Replies that come late. */
export interface Slowness {
  /** Lets them go, each as late as it was said. None goes before. */
  letGo(): void
  end(): void
}

/** A proxy between a browser and a platform, which spoils replies when it is told to. */
export interface InBetween {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** Spoils the replies to a path until it is told to end. */
  spoil(path: string, fault: Fault): Spoiling
  /** Takes requests and never answers them, until what it returns is called: to one path, or to all. */
  fallSilent(path?: string): () => void
  /** Has the API answer each request so many milliseconds late, and none before it is let go. The files come at once. */
  slowDown(ms: number): Slowness
  close(): Promise<void>
}

const EVERYTHING = '*'
const OF_API = /^\/(?:api\/|health)/

/** @param target the platform's address */
export async function startInBetween(target: string): Promise<InBetween> {
  const faults = new Map<string, { fault: Fault; begin: () => void }>()
  const silent = new Set<string>()
  let late: { isLetGo: Promise<void>; ms: number } | null = null
  const server = createServer(async (incoming, outgoing) => {
    const path = incoming.url ?? '/'
    if (silent.has(EVERYTHING) || silent.has(path.split('?')[0] ?? '')) return
    if (late !== null && OF_API.test(path)) {
      const { isLetGo, ms } = late
      await Promise.all([isLetGo, pause(ms)])
    }
    pass(incoming, outgoing, path)
  })

  function pass(incoming: IncomingMessage, outgoing: ServerResponse, path: string): void {
    const { method, headers } = incoming
    const asked = request(new URL(path, target), { method, headers }, async (reply) => {
      const chunks: Buffer[] = []
      for await (const chunk of reply) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const [name = ''] = path.split('?')
      const spoilt = faults.get(name)
      if (spoilt?.fault === 'html') {
        outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Restarting</html>')
      } else if (spoilt?.fault === 'half') {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        outgoing.write(body.subarray(0, body.length / 2))
      } else if (spoilt?.fault === 'cut') {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy())
      } else {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers).end(body)
      }
      if (spoilt) outgoing.once('close', spoilt.begin)
    })
    // A browser that leaves a page takes its request back.
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    spoil(path, fault) {
      const begun = new Promise<void>((begin) => void faults.set(path, { fault, begin }))
      return { begun, end: () => void faults.delete(path) }
    },
    fallSilent(path = EVERYTHING) {
      silent.add(path)
      return () => void silent.delete(path)
    },
    slowDown(ms) {
      let letGo = () => {}
      const isLetGo = new Promise<void>((resolve) => {
        letGo = resolve
      })
      late = { isLetGo, ms }
      return {
        letGo,
        end() {
          late = null
        },
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
