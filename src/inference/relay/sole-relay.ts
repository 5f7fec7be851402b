import type { GazewayError } from '../../errors.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Send } from './exchange.ts'
import type { Relay } from './relay.ts'
import type { Relays } from './relays.ts'
import { openReply } from './send.ts'

/** Relays of a service that is no upstream: one, which never cools down and has no circuit breaker. */
export const soleRelay = (relay: Relay): Relays => ({
  upstream: relay,
  all: [relay],
  awake: () => [relay],
  firstAwake: () => relay,
  relayWith: () => relay,
  rest() {},
  resting: () => [],
  openCircuits: () => [],
  isOpen: () => false,
})

/**
 * Creates the relay to a service that gets the client's headers alone.
 *
 * @param failure maps a missing reply to an error, unless the client has disconnected
 */
export const createRelayTo = (service: Provider, send: Send, failure: (error: unknown) => GazewayError): Relay => ({
  provider: service,
  open(path, { method = 'POST', body, stream, headers = {}, callerId = null }, client) {
    let status: number | undefined
    const report = {
      connected() {},
      answered(code: number) {
        status = code
      },
    }
    return openReply(send, { method, path, headers, body, callerId }, { stream }, client, service, report).catch(
      (error) => {
        if (client.isGone()) throw error
        const failed = failure(error)
        if (status !== undefined) failed.upstreamStatus ??= status
        throw failed
      },
    )
  },
})
