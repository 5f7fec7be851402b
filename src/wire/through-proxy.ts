import { type Agent as HttpAgent, Agent as PlainAgent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import type { Socket } from 'node:net'
import { Agent, buildConnector, type Dispatcher, Pool } from 'undici'
import { GazewayError } from '../errors.ts'
import { type ForwardProxy, nameOf } from './proxy-choice.ts'

/** Timeout of a connection for {@link fetchThrough} and {@link agentThrough}, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000

/** Connections through a forward proxy. */
export interface Proxied {
  /** Sends a request to the `origin` in its options: `https` through a tunnel, `http` in absolute form. */
  dispatcher: Dispatcher
  /** Opens a tunnel, and TLS to the target within it for `https`. */
  tunnel: buildConnector.connector
  /** Ends requests in flight and closes the connections. */
  destroy(): Promise<void>
}

/**
 * Opens connections through a forward proxy: `CONNECT` for https, the absolute form of the target for http (RFC 9110
 * section 9.3.6, RFC 9112 section 3.2.2). Failures of the proxy are a GazewayError `upstream_unreachable`.
 *
 * @param options.connections per target; without a limit when absent
 * @param options.timeoutMs timeout of a connection to the proxy, of its answer to `CONNECT` and of TLS within the tunnel
 */
export function openProxied(proxy: ForwardProxy, options: { connections?: number; timeoutMs: number }): Proxied {
  const { connections = null, timeoutMs } = options
  const dial = buildConnector({ timeout: timeoutMs })
  const secure = buildConnector({ timeout: timeoutMs })
  const credentials = proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }
  const toProxy = new Pool(proxy.origin, {
    connections,
    connect: (to, done) =>
      dial(to, (...[error, socket]) => (error ? done(unreachable(proxy, error), null) : done(null, socket))),
  })

  async function openTunnel({ host = '', port, protocol }: buildConnector.Options) {
    const target = port ? host : `${host}:${protocol === 'https:' ? 443 : 80}`
    const signal = AbortSignal.timeout(timeoutMs)
    const asked = { path: target, headers: { ...credentials, host: target }, signal }
    const { statusCode, socket } = await toProxy.connect(asked).catch((error: unknown) => {
      throw error instanceof GazewayError ? error : unreachable(proxy, error as Error)
    })
    if (statusCode >= 200 && statusCode < 300) return socket as Socket
    socket.on('error', () => {}).destroy()
    throw refusedBy(proxy, statusCode)
  }
  const tunnel: buildConnector.connector = (to, done) => {
    openTunnel(to).then(
      (socket) => (to.protocol === 'https:' ? secure({ ...to, httpSocket: socket }, done) : done(null, socket)),
      (error) => done(error, null),
    )
  }

  const tunnels = new Agent({ connections, connect: tunnel })
  const dispatcher = tunnels.compose((throughTunnel) => (asked, handler) => {
    const { protocol, origin, host } = new URL(String(asked.origin))
    if (protocol === 'https:') return throughTunnel(asked, handler)
    const headers = { ...asFields(asked.headers), ...credentials, host }
    return toProxy.dispatch({ ...asked, path: origin + asked.path, headers }, unlessRefused(handler, proxy))
  })
  return {
    dispatcher,
    tunnel,
    async destroy() {
      await Promise.all([tunnels.destroy(), toProxy.destroy()])
    },
  }
}

/** Fails a request whose credentials the proxy refuses. Only proxies ask for them (RFC 9110 section 15.5.8). */
const unlessRefused = (handler: Dispatcher.DispatchHandler, proxy: ForwardProxy): Dispatcher.DispatchHandler => ({
  onRequestStart: (...args) => handler.onRequestStart?.(...args),
  onResponseStart(controller, status, ...rest) {
    if (status === 407) controller.abort(refusedBy(proxy, status))
    else handler.onResponseStart?.(controller, status, ...rest)
  },
  onResponseData: (...args) => handler.onResponseData?.(...args),
  onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
  onResponseError: (...args) => handler.onResponseError?.(...args),
})

/** Error for a proxy that refuses to pass a request on. */
function refusedBy(proxy: ForwardProxy, status: number): GazewayError {
  const advice = status === 407 ? `Check the name and password in ${proxy.source}.` : 'Check what it allows.'
  return new GazewayError('upstream_unreachable', `${sentence(proxy)} refused the connection (${status}). ${advice}`)
}

/** Error for a proxy that does not answer. Its message never contains credentials, which are not part of the origin. */
const unreachable = (proxy: ForwardProxy, { message, code = message }: NodeJS.ErrnoException): GazewayError =>
  new GazewayError(
    'upstream_unreachable',
    `${sentence(proxy)} could not be reached (${message || code}). Check ${proxy.source} and the network.`,
  )

const sentence = (proxy: ForwardProxy): string => nameOf(proxy).replace(/^t/, 'T')

/** Headers as an object; `fetch` gives them as a list. */
function asFields(headers: Dispatcher.DispatchOptions['headers']): Record<string, string | string[] | undefined> {
  if (!Array.isArray(headers)) return { ...(headers as Record<string, string>) }
  const flat = headers as string[]
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : [])))
}

/** Connections by proxy. A process meets as many as its environment and configuration name. */
const opened = new Map<string, Proxied>()

function openedFor(proxy: ForwardProxy): Proxied {
  const name = `${proxy.origin} ${proxy.source} ${proxy.authorization}`
  const open = opened.get(name) ?? openProxied(proxy, { timeoutMs: CONNECT_TIMEOUT_MS })
  opened.set(name, open)
  return open
}

/** Sends a request through a proxy, like the global `fetch`. */
export function fetchThrough(proxy: ForwardProxy, address: string | URL, init: RequestInit): Promise<Response> {
  const { dispatcher } = openedFor(proxy)
  // An option of Node's own `fetch` beside those of the standard.
  return fetch(address, { ...init, dispatcher } as object)
}

/**
 * Creates an agent of `node:http` or `node:https` whose connections are tunnels. A request over http is tunneled, too.
 *
 * @param protocol `http:` or `https:`
 */
export function agentThrough(proxy: ForwardProxy, protocol: string): HttpAgent {
  const { tunnel } = openedFor(proxy)
  const agent = protocol === 'https:' ? new SecureAgent({ keepAlive: true }) : new PlainAgent({ keepAlive: true })
  agent.createConnection = ({ host, port, servername }: Record<string, string>, done) => {
    const hostname = String(host)
    const to = { hostname, host: `${hostname}:${port}`, port: String(port), protocol }
    tunnel({ ...to, ...(servername && { servername }) }, (...[error, socket]) =>
      error ? done?.(error, null as never) : done?.(null, socket),
    )
    return undefined
  }
  return agent
}
