import { GazewayError } from '../../errors.ts'
import { type SilenceWatch, watchSilence } from '../../wire/silence.ts'
import { VIA } from '../../wire/via.ts'
import { upstreamFailure } from '../failure.ts'
import type { UpstreamDeps } from '../invoke.ts'
import type { Provider } from '../provider.ts'
import { type Breaker, createBreaker, FAILURES } from './breaker.ts'
import { HEARTBEAT_MS } from './held-receiver.ts'
import { CLIENT_GONE, type Client, openReply, type Send, type StreamReply, type WholeReply } from './send.ts'

/** What the relays of all endpoints share. */
export interface Relay extends UpstreamDeps {
  /**
   * Sends a request to the upstream with its key. An endpoint that keeps failing is left alone for a while; requests to
   * it then fail at once.
   *
   * @param asked.body JSON
   * @param asked.stream whether it asks for a stream
   * @param asked.via that of the client's request, where it has come through others
   * @throws GazewayError `upstream_unreachable`, `upstream_timeout` or `upstream_bad_reply`; `too_many_requests` when no
   *   connection was free for it; `cancelled` when the client has gone
   */
  open(path: string, asked: Asked, client: Client): Promise<WholeReply | StreamReply>
  /** By whose limit clients hear of streams that are held back. */
  heartbeat: SilenceWatch
}

interface Asked {
  body: string | Buffer
  stream: boolean
  via?: string | undefined
}

/** The relay of one upstream over a transport. */
export function createRelay(deps: UpstreamDeps, send: Send, heartbeatMs = HEARTBEAT_MS): Relay {
  const { provider } = deps
  const endpoints = new Map<string, Breaker>()
  const headers = {
    'user-agent': 'gazeway',
    ...provider.headers,
    'content-type': 'application/json',
    // Replies are read on the way, and passed on as they are.
    'accept-encoding': 'identity',
    ...(provider.apiKey ? { authorization: `Bearer ${provider.apiKey}` } : {}),
  }

  function breakerOf(path: string): Breaker {
    const known = endpoints.get(path)
    if (known) return known
    const breaker = createBreaker()
    endpoints.set(path, breaker)
    return breaker
  }

  return {
    ...deps,
    heartbeat: watchSilence(heartbeatMs),
    open(path, asked, client) {
      const { body, via } = asked
      const sent = via === undefined ? headers : { ...headers, via: `${via}, ${VIA}` }
      const request = { path, headers: sent, body }
      const breaker = breakerOf(path)
      const onStatus = breaker.admit()
      if (onStatus === null) return Promise.reject(leftAlone(provider, breaker.pauseSeconds()))
      return openReply(send, request, asked, client, provider, onStatus).catch((error) => {
        if (isDown(error)) breaker.failed()
        throw upstreamFailure(error, provider, { cancelled: client.isGone() })
      })
    },
  }
}

const leftAlone = (provider: Provider, seconds: number): GazewayError =>
  new GazewayError(
    'upstream_unreachable',
    `The upstream ${provider.name} has failed ${FAILURES} times in a row and is left alone for a moment. Try again in ${seconds} s.`,
    { status: 503, retryAfterSeconds: seconds },
  )

/** Of an error that Gazeway made, a reply that had begun or a lack of connections is the reason: the upstream is not down. */
const isDown = (error: unknown): boolean => error !== CLIENT_GONE && !(error instanceof GazewayError)
