import { createServer, request } from 'node:http'

/** How a reply is spoilt: its second half never comes, or something else answers. */
export type Fault = 'cut' | 'html'

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
  close(): Promise<void>
}

/** @param target the platform's address */
export async function startInBetween(target: string): Promise<InBetween> {
  const faults = new Map<string, { fault: Fault; begin: () => void }>()
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/'
    const { method, headers } = incoming
    const asked = request(new URL(path, target), { method, headers }, async (reply) => {
      const chunks: Buffer[] = []
      for await (const chunk of reply) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const [name = ''] = path.split('?')
      const spoilt = faults.get(name)
      if (spoilt?.fault === 'html') {
        outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Restarting</html>')
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
