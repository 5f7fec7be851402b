import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  ExponentialBackoff,
  handleWhen,
  type IBackoff,
} from 'cockatiel'
import { GazewayError } from '../../errors.ts'
import { VIA } from '../../via.ts'
import { upstreamFailure } from '../failure.ts'
import type { UpstreamDeps } from '../invoke.ts'
import { CLIENT_GONE, type Client, openReply, type Send, type StreamReply, type WholeReply } from './send.ts'

/** This many failures in a row, and an endpoint of the upstream counts as down. */
const FAILURES = 10
/** So long it is then left alone before one request tries it again; longer each time that it fails. */
const PAUSE = new ExponentialBackoff({ initialDelay: 1000, maxDelay: 15_000 })
/** What a proxy or an overloaded server answers in place of the one behind it. */
const DOWN = new Set([502, 503, 504])

/** What the relays of all endpoints share. */
export interface Relay extends UpstreamDeps {
  /**
   * Sends a request to the upstream with its key. An endpoint that keeps failing is left alone for a while; requests to
   * it then fail at once.
   *
   * @param body JSON
   * @param via that of the client's request, where it has come through others
   * @throws GazewayError `upstream_unreachable`, `upstream_timeout` or `upstream_bad_reply`; `too_many_requests` when no
   *   connection was free for it; `cancelled` when the client has gone
   */
  open(path: string, body: string, client: Client, via?: string): Promise<WholeReply | StreamReply>
}

/** The relay of one upstream over a transport. */
export function createRelay(deps: UpstreamDeps, send: Send): Relay {
  const { provider } = deps
  const endpoints = new Map<string, Endpoint>()
  const headers = {
    ...provider.headers,
    'content-type': 'application/json',
    // Replies are read on the way, and passed on as they are.
    'accept-encoding': 'identity',
    'user-agent': 'gazeway',
    ...(provider.apiKey ? { authorization: `Bearer ${provider.apiKey}` } : {}),
  }

  function endpointOf(path: string): Endpoint {
    const known = endpoints.get(path)
    if (known) return known
    // Whoever leaves while their request tries whether the endpoint is back has not seen that it is.
    const leftUntold = (error: unknown) => error === CLIENT_GONE && breaker.state === CircuitState.HalfOpen
    const failures = handleWhen((error) => isDown(error) || leftUntold(error)).orWhenResult((reply) =>
      isDownReply(reply as WholeReply),
    )
    const breaker: CircuitBreakerPolicy = circuitBreaker(failures, {
      halfOpenAfter: new DelegateBackoff<unknown, IBackoff<unknown>>((context, before) => {
        const pause = before ? before.next(context) : PAUSE.next()
        endpoint.aloneUntil = Date.now() + pause.duration
        return { delay: pause.duration, state: pause }
      }),
      breaker: new ConsecutiveBreaker(FAILURES),
    })
    const endpoint: Endpoint = { breaker, well: true, aloneUntil: 0 }
    endpoints.set(path, endpoint)
    return endpoint
  }

  return {
    ...deps,
    open(path, body, client, via) {
      const sent = via === undefined ? headers : { ...headers, via: `${via}, ${VIA}` }
      const request = { path, headers: sent, body }
      const endpoint = endpointOf(path)
      return throughBreaker(endpoint, () => openReply(send, request, client, provider)).catch((error) => {
        if (error instanceof BrokenCircuitError) {
          const seconds = Math.max(1, Math.ceil((endpoint.aloneUntil - Date.now()) / 1000))
          throw new GazewayError(
            'upstream_unreachable',
            `The upstream ${provider.name} has failed ${FAILURES} times in a row and is left alone for a moment. Try again in ${seconds} s.`,
            { status: 503, retryAfterSeconds: seconds, cause: error },
          )
        }
        throw upstreamFailure(error, provider, { cancelled: client.isGone() })
      })
    },
  }
}

/** An endpoint of the upstream, and whether its last reply was a good one and it is not left alone. */
interface Endpoint {
  breaker: CircuitBreakerPolicy
  well: boolean
  /** When the pause is over that it was left alone for last, in milliseconds. */
  aloneUntil: number
}

/**
 * Asks an endpoint through its breaker. While all is well the breaker, which costs as much as sending the request, hears
 * of nothing; it counts failures in a row, and there are none.
 *
 * @throws BrokenCircuitError while the endpoint is left alone, and while one request tries whether it is back
 */
function throughBreaker<Reply extends { status: number }>(
  endpoint: Endpoint,
  ask: () => Promise<Reply>,
): Promise<Reply> {
  if (!endpoint.well)
    // The breaker itself would let the others wait for the one.
    return endpoint.breaker.state === CircuitState.HalfOpen
      ? Promise.reject(new BrokenCircuitError())
      : tellBreaker(endpoint, ask)
  return ask().then(
    (reply) => {
      // Where others have failed in the meantime, the breaker must hear that it was not all of them in a row.
      if (!endpoint.well || isDownReply(reply)) tellAfterwards(endpoint, () => Promise.resolve(reply))
      return reply
    },
    (error) => {
      tellAfterwards(endpoint, () => Promise.reject(error))
      throw error
    },
  )
}

/** Tells the breaker of an answer that has come. Nobody waits for what it says: the answer had been asked for before. */
function tellAfterwards<Reply extends { status: number }>(endpoint: Endpoint, answer: () => Promise<Reply>): void {
  tellBreaker(endpoint, answer).catch(() => {})
}

async function tellBreaker<Reply extends { status: number }>(
  endpoint: Endpoint,
  ask: () => Promise<Reply>,
): Promise<Reply> {
  let well = false
  try {
    const reply = await endpoint.breaker.execute(ask)
    // What had been asked before the endpoint was left alone may be answered after.
    well = !isDownReply(reply) && endpoint.breaker.state === CircuitState.Closed
    return reply
  } finally {
    endpoint.well = well
  }
}

/** An error that Gazeway made is about what the upstream answered, so that it is not down. */
const isDown = (error: unknown): boolean => error !== CLIENT_GONE && !(error instanceof GazewayError)

const isDownReply = ({ status }: { status: number }): boolean => DOWN.has(status)
