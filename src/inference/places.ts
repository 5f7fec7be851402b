import type { NamedUpstream } from './named-upstream.ts'
import type { ModelChoice } from './provider.ts'
import type { Relay } from './relay/relay.ts'
import type { Relays } from './relay/relays.ts'
import type { Routing } from './routing.ts'

/** Destination of a request to a passed-through path. */
export interface Place {
  relay: Relay
  /** Null when it calls no model. */
  model: ModelChoice | null
  /** Starts a cooldown of the key, in milliseconds, if the upstream has another key. */
  rest(forMs: number): void
}

/**
 * Finds the destination of a request to a passed-through path: a single upstream, since others may lack the object it
 * names.
 */
export interface Places {
  /**
   * First upstream that can answer for a model.
   *
   * @throws GazewayError as {@link Routing.targets}
   */
  ofModel(asked: string): Place
  /** The upstream of that name in records; null where it is no longer there. @throws GazewayError `upstream_not_configured` */
  named(name: string): Place | null
  /** The upstream of requests that name nothing. @throws GazewayError as {@link Routing.targets} */
  first(): Place
}

/**
 * Creates the lookup.
 *
 * @param relaysOf finds the relays of an upstream
 */
export function createPlaces(routing: Routing, relaysOf: (upstream: NamedUpstream) => Relays): Places {
  /** Selects the first key that is not in cooldown. */
  function placeAt(upstream: NamedUpstream, model: ModelChoice | null = null): Place {
    const relays = relaysOf(upstream)
    const [relay = relays.firstAwake()] = relays.awake()
    return {
      relay,
      model,
      rest(forMs) {
        if (forMs > 0 && relays.all.length > 1) relays.rest(relay, forMs)
      },
    }
  }

  return {
    ofModel(asked) {
      const [{ upstream, model }] = routing.targets(asked, 'chat').all
      return placeAt(upstream, { ...upstream.provider.resolve(model, 'chat'), requested: asked })
    },
    named(name) {
      // An upstream may share its name with the provider of `default`, which may have no key then.
      const all = routing.upstreams.filter(({ provider }) => provider.name === name)
      const upstream = all.find(({ provider }) => provider.hasKey) ?? all[0]
      upstream?.provider.requireKey()
      return upstream === undefined ? null : placeAt(upstream)
    },
    first: () => placeAt(routing.targets(undefined, 'chat').all[0].upstream),
  }
}
