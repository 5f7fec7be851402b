import { GazewayError } from '../../../src/errors.ts'
import { networkOf } from '../../web/client-address.ts'

/**
 * Maximum number of unauthenticated clients. Beyond it, only clients that authenticate with their request are admitted.
 */
const MAX_UNKNOWN = 500
/** Maximum number of them in one network, so that it cannot keep the others out. */
const MAX_PER_NETWORK = 100

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

/** Limits of the places. */
export interface UnknownLimits {
  /** Maximum number of unauthenticated clients; 500 by default. */
  maxUnknown?: number
  /** Maximum number of unauthenticated clients of one network; 100 by default. */
  maxUnknownPerNetwork?: number
}

/** Creates the places. */
export function createUnknownClients({
  maxUnknown = MAX_UNKNOWN,
  maxUnknownPerNetwork = MAX_PER_NETWORK,
}: UnknownLimits): UnknownClients {
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
      if (total >= maxUnknown) throw tooMany('Too many connections')
      if ((byNetwork.get(networkOf(address)) ?? 0) >= maxUnknownPerNetwork)
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
