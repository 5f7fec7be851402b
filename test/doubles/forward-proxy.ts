import { createServer, type IncomingHttpHeaders, request as sendRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { endWithTests } from './end-with-tests.ts'

/** A request that a proxy was asked to pass on. */
export interface Passed {
  /** `CONNECT`, or the method of a request in absolute form. */
  method: string
  /** `host:port`, or the URL of a request in absolute form. */
  target: string
  /** Status of its own refusal; null when it was passed on. */
  refused: number | null
}

/** A real forward proxy. Every name leads to this machine, so that tests reach their servers by names of others. */
export interface ForwardProxy {
  /** URL, with the credentials that it asks for. */
  url: string
  /** `http://127.0.0.1:PORT` */
  origin: string
  asked: Passed[]
  /** Number of open tunnels. */
  tunnels(): number
  close(): Promise<void>
}

/**
 * Starts a forward proxy. It refuses what a proxy like Squid refuses: requests without its credentials (407), requests
 * that are not addressed to a proxy (400), and tunnels to other ports than those of TLS (403).
 *
 * @param options.credentials `name:password`; none are asked for when absent
 * @param options.tlsPorts ports that tunnels may lead to; all when absent
 * @param options.tlsTo port that all tunnels lead to, whatever their names; that of the name when absent
 */
export async function startForwardProxy(
  options: { credentials?: string; tlsPorts?: readonly number[]; tlsTo?: number } = {},
): Promise<ForwardProxy> {
  const { credentials, tlsPorts, tlsTo } = options
  const asked: Passed[] = []
  const open = new Set<Socket>()
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
  const isStranger = (headers: IncomingHttpHeaders) =>
    expected !== undefined && headers['proxy-authorization'] !== expected

  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const isAbsolute = /^http:\/\//.test(url)
    const refused = refusalOf(isAbsolute, headers)
    asked.push({ method, target: url, refused })
    if (refused !== null) {
      incoming.resume()
      outgoing.writeHead(refused, { 'proxy-authenticate': 'Basic realm="double"' }).end('The proxy says no.')
      return
    }
    const { port, pathname, search } = new URL(url)
    const { 'proxy-authorization': _, ...passed } = headers
    const to = { host: '127.0.0.1', port: port || 80, method, path: pathname + search, headers: passed }
    const forwarded = sendRequest(to, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
      reply.on('error', () => outgoing.destroy())
    })
    forwarded.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  function refusalOf(isAddressed: boolean, headers: IncomingHttpHeaders): number | null {
    if (!isAddressed) return 400
    return isStranger(headers) ? 407 : null
  }
  server.on('connect', ({ url = '', headers }, client: Socket, head) => {
    const port = Number(url.split(':').at(-1))
    const isAllowed = tlsPorts?.includes(port) ?? true
    const refused = refusalOf(true, headers) ?? (isAllowed ? null : 403)
    asked.push({ method: 'CONNECT', target: url, refused })
    client.on('error', () => client.destroy())
    if (refused !== null) return void client.end(`HTTP/1.1 ${refused} No\r\ncontent-length: 0\r\n\r\n`)
    const upstream = connect(tlsTo ?? port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
    open.add(upstream)
    client.on('close', () => upstream.destroy())
    upstream
      .on('error', () => client.destroy())
      .on('close', () => {
        open.delete(upstream)
        client.destroy()
      })
  })
  await new Promise<void>((resolve) => endWithTests(server).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${credentials ? `${credentials}@` : ''}127.0.0.1:${port}`,
    origin: `http://127.0.0.1:${port}`,
    asked,
    tunnels: () => open.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        for (const socket of open) socket.destroy()
      }),
  }
}
