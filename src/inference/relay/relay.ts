import { GazewayError } from '../../errors.ts'
import { type SilenceWatch, watchSilence } from '../../wire/silence.ts'
import { VIA } from '../../wire/via.ts'
import { upstreamFailure } from '../failure.ts'
import { keyHeaders } from '../key-headers.ts'
import type { Provider } from '../provider.ts'
import { type Breaker, createBreakers, FAILURES } from './breaker.ts'
import { HEARTBEAT_MS } from './held-receiver.ts'
import { CLIENT_GONE, type Client, endingOf, openReply, type Send, type StreamReply, type WholeReply } from './send.ts'

/** Connection to one upstream. */
export interface Relay {
  provider: Provider
  /**
   * Sends a request to the upstream with its key. While the circuit breaker of a model endpoint is open, requests to it
   * fail at once.
   *
   * @param path path below the base URL
   * @param asked.method POST by default
   * @param asked.body JSON; null for none
   * @param asked.stream true when a stream is requested
   * @param asked.cutAtBytes length at which a whole reply is cut; without it, a reply above the limit fails
   * @param asked.headers client headers to forward, which replace our own
   * @param asked.via `Via` of the client's request, when it has passed through others
   * @throws GazewayError `upstream_unreachable`, `upstream_timeout` or `upstream_bad_reply`; `too_many_requests` when
   *   no connection was free; `cancelled` when the client has disconnected
   */
  open(path: string, asked: Asked, client: Client): Promise<WholeReply | StreamReply>
  /** Schedules the heartbeats of streams that are held back. */
  heartbeat: SilenceWatch
}

interface Asked {
  method?: 'GET' | 'POST' | 'DELETE'
  body: string | Buffer | null
  stream: boolean
  cutAtBytes?: number
  via?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Creates the relay of one upstream and key over a transport.
 *
 * @param breakers circuit breakers of the upstream
 */
export function createRelay(
  provider: Provider,
  send: Send,
  breakers: ReadonlyMap<string, Breaker> = createBreakers(),
  heartbeatMs = HEARTBEAT_MS,
): Relay {
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
    heartbeat: watchSilence(heartbeatMs),
    open(path, asked, client) {
      const { method = 'POST', body, via, headers: given } = asked
      const own = body === null ? bodiless : withBody
      const headers = given === undefined ? own : { ...own, ...given }
      const request = {
        method,
        path,
        headers: via === undefined ? headers : { ...headers, via: `${via}, ${VIA}` },
        body,
      }
      const breaker = breakers.get(path)
      const onStatus = breaker ? breaker.admit() : () => {}
      if (onStatus === null) return Promise.reject(circuitOpen(provider, breaker?.pauseSeconds() ?? 1))
      return openReply(send, request, asked, client, provider, onStatus).catch((error) => {
        if (isDown(error)) breaker?.failed()
        throw upstreamFailure(error, provider, endingOf(client))
      })
    },
  }
}

const circuitOpen = (provider: Provider, seconds: number): GazewayError =>
  new GazewayError(
    'upstream_unreachable',
    `The upstream ${provider.label} has failed ${FAILURES} times in a row; its circuit breaker is open. Retry in ${seconds} s.`,
    { status: 503, retryAfterSeconds: seconds },
  )

/**
 * Tells whether an error means that the upstream cannot be reached. Gazeway's own errors do not, except those of a
 * proxy: a reply had begun, or no connection was free.
 */
const isDown = (error: unknown): boolean =>
  error !== CLIENT_GONE && (!(error instanceof GazewayError) || error.code === 'upstream_unreachable')
