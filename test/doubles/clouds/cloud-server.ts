import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithTests } from '../end-with-tests.ts'

/** A request as a cloud's double received it. */
export interface CloudAsked {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A reply of a double. Bytes are sent as they are, other values as JSON. */
export interface CloudReply {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** A real HTTP server that answers as a cloud does. */
export async function startCloudServer(answer: (asked: CloudAsked) => CloudReply | Promise<CloudReply>) {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { method = '', url = '', headers } = request
    const asked = { method, url: new URL(url, 'http://double'), headers, body: Buffer.concat(pieces) }
    const { status, body, headers: own } = await answer(asked)
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    response.writeHead(status, { 'content-type': 'application/json', ...own }).end(bytes)
  })
  await new Promise<void>((resolve) => endWithTests(server).listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const eventsOf = (events: readonly unknown[]): Buffer =>
  Buffer.from([...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'].join(''))
