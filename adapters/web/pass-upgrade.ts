import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Handler of WebSocket upgrades. It answers every request or destroys its connection. */
export type OnUpgrade = (incoming: IncomingMessage, raw: Duplex, head: Buffer) => void

/**
 * Tells whether an upgrade request goes to the server's event `upgrade`; Node 24.9 and late versions of 22 ask. Node
 * serves the others correctly, but loses pipelined requests behind them. Only those with a body, which Node 26 reads
 * itself, are left to it.
 */
export const shouldUpgradeCallback = (incoming: IncomingMessage): boolean => isWebSocket(incoming) || !hasBody(incoming)

/**
 * Hands WebSocket upgrades to `onUpgrade`. Other upgrade requests are served as plain requests (RFC 9110 section 7.8):
 * Node would keep them from the routes, although HTTP/2 clients such as Java's ask for h2c with each first request.
 *
 * @param connections pending replies by connection; an upgraded connection is removed
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
