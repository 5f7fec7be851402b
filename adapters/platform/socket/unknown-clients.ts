import { GazewayError } from '../../../src/errors.ts'
import { networkOf } from '../../web/client-address.ts'

/** Places of clients that have not authenticated yet. */
export interface UnknownClients {
  /** @throws GazewayError `rate_limited` when all places are taken, or all those of the client's network */
  requirePlace(address: string): void
  /**
   * Takes a place.
   *
   * @returns gives it back
   */
  take(address: string): () => void
}

/** Creates the places. `perNetwork` is the most that one network can take. */
export function createUnknownClients(max: { total: number; perNetwork: number }): UnknownClients {
  const byNetwork = new Map<string, number>()
  let total = 0

  function add(network: string, places: 1 | -1): void {
    const taken = (byNetwork.get(network) ?? 0) + places
    if (taken === 0) byNetwork.delete(network)
    else byNetwork.set(network, taken)
    total += places
  }

  return {
    requirePlace(address) {
      if (total >= max.total) throw tooMany('Too many connections')
      if ((byNetwork.get(networkOf(address)) ?? 0) >= max.perNetwork)
        throw tooMany('Too many connections from your address')
    },
    take(address) {
      const network = networkOf(address)
      add(network, 1)
      return () => add(network, -1)
    },
  }
}

const tooMany = (what: string): GazewayError =>
  new GazewayError(
    'rate_limited',
    `${what} are waiting for their auth frame. Retry in a few seconds, or send the ticket with the request.`,
    { retryAfterSeconds: 5 },
  )
