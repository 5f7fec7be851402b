import { GazewayError } from '../../errors.ts'
import { type SilenceWatch, watchSilence } from '../../wire/silence.ts'
import { VIA } from '../../wire/via.ts'
import { upstreamFailure } from '../failure.ts'
import { keyHeaders } from '../key-headers.ts'
import type { Provider } from '../provider.ts'
import { type Breaker, createBreakers, FAILURES } from './breaker.ts'
import { HEARTBEAT_MS } from './held-receiver.ts'
import { CLIENT_GONE, type Client, endingOf, openReply, type Send, type StreamReply, type WholeReply } from './send.ts'

/** What carries requests to one upstream. */
export interface Relay {
  provider: Provider
  /**
   * Sends a request to the upstream with its key. A model endpoint that keeps failing is left alone for a while; requests
   * to it then fail at once.
   *
   * @param path below the base URL
   * @param asked.method POST unless it says otherwise
   * @param asked.body JSON; null for none
   * @param asked.stream whether it asks for a stream
   * @param asked.cutAtBytes where a whole reply is cut off; without it, one that is larger than what is kept fails
   * @param asked.headers those of the client's that go on, in place of our own
   * @param asked.via that of the client's request, where it has come through others
   * @throws GazewayError `upstream_unreachable`, `upstream_timeout` or `upstream_bad_reply`; `too_many_requests` when no
   *   connection was free for it; `cancelled` when the client has gone
   */
  open(path: string, asked: Asked, client: Client): Promise<WholeReply | StreamReply>
  /** By whose limit clients hear of streams that are held back. */
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

/** The relay of one upstream and key over a transport. @param breakers those of the upstream */
export function createRelay(
  provider: Provider,
  send: Send,
  breakers: ReadonlyMap<string, Breaker> = createBreakers(),
  heartbeatMs = HEARTBEAT_MS,
): Relay {
  const bodiless = {
    'user-agent': 'gazeway',
    ...provider.headers,
    // Replies are read on the way, and passed on as they are.
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
      if (onStatus === null) return Promise.reject(leftAlone(provider, breaker?.pauseSeconds() ?? 1))
      return openReply(send, request, asked, client, provider, onStatus).catch((error) => {
        if (isDown(error)) breaker?.failed()
        throw upstreamFailure(error, provider, endingOf(client))
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
