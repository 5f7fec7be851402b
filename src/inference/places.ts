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
  /**
   * Upstream by its name in records. Null when it no longer exists.
   *
   * @throws GazewayError `upstream_not_configured`
   */
  named(name: string): Relay | null
  /**
   * Upstream for requests that name nothing.
   *
   * @throws GazewayError as {@link Routing.targets}
   */
  first(): Relay
}

/**
 * Creates the lookup.
 *
 * @param relaysOf finds the relays of an upstream
 */
export function createPlaces(routing: Routing, relaysOf: (upstream: NamedUpstream) => Relays): Places {
  /** Relay with the first key that is not cooling down. */
  function relayOf(upstream: NamedUpstream): Relay {
    const relays = relaysOf(upstream)
    const [relay = relays.firstAwake()] = relays.awake()
    return relay
  }

  return {
    ofModel(asked) {
      const [{ upstream, model }] = routing.targets(asked, 'chat').all
      return { relay: relayOf(upstream), model: { ...upstream.provider.resolve(model, 'chat'), requested: asked } }
    },
    named(name) {
      // An upstream may share its name with the provider of `default`, which may have no key then.
      const all = routing.upstreams.filter(({ provider }) => provider.name === name)
      const upstream = all.find(({ provider }) => provider.hasKey) ?? all[0]
      upstream?.provider.requireKey()
      return upstream === undefined ? null : relayOf(upstream)
    },
    first: () => relayOf(routing.targets(undefined, 'chat').all[0].upstream),
  }
}
