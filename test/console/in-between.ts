import { createServer, request } from 'node:http'

/** Fault of a reply: `cut` ends it after half, `half` stops there and stays open, `html` answers with a page instead. */
export type Fault = 'cut' | 'half' | 'html'

export interface Spoiling {
  /** Settled once a reply was spoilt. */
  begun: Promise<void>
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
  close(): Promise<void>
}

const EVERYTHING = '*'

/** @param target the platform's address */
export async function startInBetween(target: string): Promise<InBetween> {
  const faults = new Map<string, { fault: Fault; begin: () => void }>()
  const silent = new Set<string>()
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/'
    if (silent.has(EVERYTHING) || silent.has(path.split('?')[0] ?? '')) return
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
    incoming.pipe(asked)
  })
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
