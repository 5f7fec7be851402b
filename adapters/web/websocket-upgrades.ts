import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Handler of WebSocket upgrades. It answers every request or destroys its connection. */
export type OnUpgrade = (incoming: IncomingMessage, raw: Duplex, head: Buffer) => void

/**
 * Tells Node whether to emit `upgrade` for an upgrade request; Node 24.9 and late versions of 22 ask. Node serves any
 * other request correctly, but loses the pipelined requests behind it. Therefore only requests with a body are left to
 * Node; Node 26 reads such a body itself.
 */
export const shouldUpgradeCallback = (incoming: IncomingMessage): boolean => isWebSocket(incoming) || !hasBody(incoming)

/**
 * Passes WebSocket upgrades to `onUpgrade`. Other upgrade requests are served as plain requests (RFC 9110 section 7.8).
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

/**
 * Serves a connection after the reply before it. Node forgets the order of replies on a connection that is returned to
 * it.
 */
function afterReply(before: ServerResponse | undefined, raw: Duplex, serve: () => void): void {
  if (!before || before.closed) {
    serve()
    return
  }
  // No other listener exists meanwhile. The reply emits `close` when the connection ends.
  const failed = () => raw.destroy()
  raw.once('error', failed)
  before.once('close', () => {
    raw.off('error', failed)
    if (!raw.destroyed) serve()
  })
}

/** Builds the head of a request as sent, without the headers that ask for an upgrade. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2)
    if (!/^(?:upgrade|http2-settings|connection)$/i.test(name)) lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
