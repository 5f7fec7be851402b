import { createServer, request } from 'node:http'

/** How a reply is spoilt: its second half never comes, or something else answers. */
export type Fault = 'cut' | 'html'

/** A proxy between a browser and a platform, which spoils replies when it is told to. */
export interface InBetween {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** Spoils the next reply to a path. @returns settled once it was sent */
  spoilNext(path: string, fault: Fault): Promise<void>
  close(): Promise<void>
}

/** @param target the platform's address */
export async function startInBetween(target: string): Promise<InBetween> {
  const next = new Map<string, { fault: Fault; done: () => void }>()
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/'
    const { method, headers } = incoming
    const asked = request(new URL(path, target), { method, headers }, async (reply) => {
      const chunks: Buffer[] = []
      for await (const chunk of reply) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const [name = ''] = path.split('?')
      const spoilt = next.get(name)
      next.delete(name)
      if (spoilt?.fault === 'html') {
        outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Restarting</html>')
      } else if (spoilt?.fault === 'cut') {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy())
      } else {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers).end(body)
      }
      if (spoilt) outgoing.once('close', spoilt.done)
    })
    incoming.pipe(asked)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    spoilNext: (path, fault) => new Promise((done) => void next.set(path, { fault, done })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
