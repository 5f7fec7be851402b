import { GazewayError } from '../../errors.ts'
import { VIA } from '../../wire/forwarding-loop.ts'
import { readTraceparent } from '../../wire/trace-context.ts'
import { FAILURES } from '../upstreams/breaker.ts'
import { type Circuit, type Circuits, createCircuits, type Report } from '../upstreams/circuits.ts'
import { upstreamFailure } from '../upstreams/failure.ts'
import { keyHeaders } from '../upstreams/key-headers.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Send, StreamReply, WholeReply } from './exchange.ts'
import { CLIENT_GONE, type Client, endingOf, openReply } from './send.ts'

/** Connection to one upstream. */
export interface Relay {
  provider: Provider
  /**
   * Sends a request to the upstream with its key. While its circuit breaker is open, it fails at once.
   *
   * @param path path below the base URL
   * @param asked.method POST by default
   * @param asked.body JSON; null for none
   * @param asked.stream true when a stream is requested
   * @param asked.cutAtBytes length at which a whole reply is cut; without it, a reply above the limit fails
   * @param asked.circuit circuit of a request that asks a model; other requests have none
   * @param asked.isLastResort true when nothing else is left to try: an open circuit then admits a probe each second
   * @param asked.headers client headers to forward, which replace our own
   * @param asked.callerId id of the caller's key, which has its share of the connections
   * @param asked.via `Via` of the client's request, when it has passed through others
   * @param asked.traceparent trace context of the request; passed on when it is valid
   * @throws GazewayError `upstream_unreachable`, `upstream_timeout` or `upstream_bad_reply`; `too_many_requests` when
   *   no connection was free; `cancelled` when the client has disconnected
   */
  open(path: string, asked: Asked, client: Client): Promise<WholeReply | StreamReply>
}

interface Asked {
  method?: 'GET' | 'POST' | 'DELETE'
  body: string | Buffer | null
  stream: boolean
  cutAtBytes?: number | undefined
  circuit?: Circuit | null
  isLastResort?: boolean
  callerId?: string | null
  via?: string | undefined
  traceparent?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Creates the relay of one upstream and key over a transport.
 *
 * @param circuits circuit breakers of the upstream
 */
export function createRelay(provider: Provider, send: Send, circuits: Circuits = createCircuits()): Relay {
  const bodiless = {
    'user-agent': 'gazeway',
    ...provider.headers,
    // Replies are inspected on the way and passed on unchanged.
    'accept-encoding': 'identity',
    ...keyHeaders(provider),
  }
  const withBody = { ...bodiless, 'content-type': 'application/json' }

  return {
    provider,
    open(path, asked, client) {
      const { method = 'POST', body, via, traceparent, headers: given, callerId = null } = asked
      const own = body === null ? bodiless : withBody
      const trace = traceparent !== undefined && readTraceparent(traceparent) !== null ? traceparent : undefined
      const headers = headersOf(own, given, trace, via)
      const request = { method, path, headers, body, callerId }
      const { circuit = null, isLastResort = true } = asked
      const report = circuit === null ? UNREPORTED : circuits.admit(circuit, isLastResort)
      if (typeof report === 'number') return Promise.reject(circuitOpen(provider, report))
      return openReply(send, request, asked, client, provider, report).catch((error) => {
        if (isDown(error)) report.failed()
        throw upstreamFailure(error, provider, endingOf(client))
      })
    },
  }
}

/** The headers of a request: our own themselves for most, as undici reads the same object faster than a new one. */
function headersOf(
  own: Readonly<Record<string, string>>,
  given: Asked['headers'],
  traceparent: string | undefined,
  via: string | undefined,
): Readonly<Record<string, string>> {
  if (given === undefined && traceparent === undefined && via === undefined) return own
  // Not by spreads: Node 20 takes microseconds for each header that is added to one.
  const headers: Record<string, string> = Object.assign({}, own, given)
  if (traceparent !== undefined) headers.traceparent = traceparent
  if (via !== undefined) headers.via = `${via}, ${VIA}`
  return headers
}

/** Report of a request without a circuit. */
const UNREPORTED: Report = { connected() {}, answered() {}, failed() {} }

function circuitOpen({ label }: Provider, waitMs: number): GazewayError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new GazewayError(
    'upstream_unreachable',
    `The upstream ${label} has failed ${FAILURES} times in a row; its circuit breaker is open. Retry in ${seconds} s.`,
    { status: 503, retryAfterSeconds: seconds },
  )
}

/**
 * Tells whether an error means that the upstream cannot be reached. Gazeway's own errors do not, except those of a
 * proxy: a reply had begun, or no connection was free.
 */
const isDown = (error: unknown): boolean =>
  error !== CLIENT_GONE && (!(error instanceof GazewayError) || error.code === 'upstream_unreachable')
