import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** What takes requests to upgrade to WebSocket; it answers every one, or destroys its connection. */
export type OnUpgrade = (incoming: IncomingMessage, raw: Duplex, head: Buffer) => void

/**
 * Whether a request that offers an upgrade is one of the server's event `upgrade`; Node asks from 24.9 on, and late ones
 * of Node 22 do. It serves the others as it should, but loses what was pipelined behind them: only those with a body,
 * which Node 26 reads for itself, are left to it.
 */
export const shouldUpgradeCallback = (incoming: IncomingMessage): boolean => isWebSocket(incoming) || !hasBody(incoming)

/**
 * Has `onUpgrade` take a server's upgrades to WebSocket. Requests to upgrade to anything else are served as what they are
 * without it (RFC 9110 section 7.8): Node would keep them from the routes, though clients of HTTP/2, such as Java's, ask
 * for h2c with each first request.
 *
 * @param connections the replies that each connection waits for; it is taken out when it is no longer HTTP
 */
export function passUpgrades(server: Server, onUpgrade: OnUpgrade, connections: Map<Duplex, ServerResponse[]>): void {
  server.on('upgrade', (incoming: IncomingMessage, raw: Duplex, head: Buffer) => {
    if (isWebSocket(incoming)) {
      connections.delete(raw)
      onUpgrade(incoming, raw, head)
    } else {
      raw.unshift(Buffer.concat([Buffer.from(withoutUpgrade(incoming), 'latin1'), head]))
      afterReply(connections.get(raw)?.at(-1), raw, () => server.emit('connection', raw as Socket))
    }
  })
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** Node forgets the order of replies on a connection that it is given back: those before go out first. */
function afterReply(before: ServerResponse | undefined, raw: Duplex, serve: () => void): void {
  if (!before || before.closed) {
    serve()
    return
  }
  // Nobody else listens meanwhile; the connection's end is told to the reply.
  const failed = () => raw.destroy()
  raw.once('error', failed)
  before.once('close', () => {
    raw.off('error', failed)
    if (!raw.destroyed) serve()
  })
}

/** The head of a request as it was sent, without what asks for an upgrade. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2)
    if (!/^(?:upgrade|http2-settings|connection)$/i.test(name)) lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
