import type { Socket } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import { type ForwardProxy, type OwnProxy, proxyFor } from '../../wire/proxy-choice.ts'
import { openProxied } from '../../wire/through-proxy.ts'

/** Connections to one upstream. A caller may use as many as stay free beside it: alone half of them. */
export const CONNECTIONS = 1024

/** Read buffer shared by all connections. */
const READ_INTO = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * Socket options that read into one shared buffer and copy the bytes received. Node would allocate 64 KB per read and
 * trim it, which is measurably slower. Not on Windows, where the system fills a buffer before reporting it.
 */
const READING =
  process.platform === 'win32'
    ? {}
    : {
        onread: {
          buffer: READ_INTO,
          /**
           * Copies the bytes read.
           *
           * @returns true to continue reading
           */
          callback(this: Socket, length: number): boolean {
            const piece = Buffer.allocUnsafe(length)
            READ_INTO.copy(piece, 0, 0, length)
            return this.push(piece)
          },
        },
      }

/** Connections to one server. Each request names it as its `origin`. */
export type Connections = Pick<Dispatcher, 'dispatch' | 'destroy'>

/**
 * Creates a pool of connections to a server, direct or through a proxy. With an unusable proxy, requests fail.
 *
 * @param configured proxy of the configuration; null for those of the environment
 * @param timeoutMs timeout of a connection
 */
export function connectionsTo({ origin }: URL, configured: OwnProxy | null, timeoutMs: number): Connections {
  let proxy: ForwardProxy | null
  try {
    proxy = proxyFor(origin, configured)
  } catch (error) {
    return failing(error as Error)
  }
  if (proxy === null) return new Pool(origin, { connections: CONNECTIONS, connect: { timeout: timeoutMs, ...READING } })
  const { dispatcher, destroy } = openProxied(proxy, { connections: CONNECTIONS, timeoutMs })
  return { dispatch: dispatcher.dispatch, destroy }
}

/** A pool whose requests fail. */
function failing(error: Error): Connections {
  return {
    dispatch(_, handler) {
      // In a later turn, as over the network.
      setImmediate(() => handler.onResponseError?.(null as never, error))
      return true
    },
    destroy: async () => {},
  }
}
