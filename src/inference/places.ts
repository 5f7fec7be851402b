import type { NamedUpstream } from './named-upstream.ts'
import type { ModelChoice } from './provider.ts'
import type { Relay } from './relay/relay.ts'
import type { Relays } from './relay/relays.ts'
import type { Routing } from './routing.ts'

/** Where a request to a passed path goes. */
export interface Place {
  relay: Relay
  /** Null where it asks no model. */
  model: ModelChoice | null
}

/** Finds where requests to passed paths go: each to one upstream, as others may lack what it names. */
export interface Places {
  /** The first upstream that can answer for a model. @throws GazewayError as {@link Routing.targets} */
  ofModel(asked: string): Place
  /** The upstream of that name in records; null where it is no longer there. @throws GazewayError `upstream_not_configured` */
  named(name: string): Relay | null
  /** The upstream of requests that name nothing. @throws GazewayError as {@link Routing.targets} */
  first(): Relay
}

/** @param relaysOf what carries requests to an upstream */
export function createPlaces(routing: Routing, relaysOf: (upstream: NamedUpstream) => Relays): Places {
  /** The relay with the first key that does not rest. */
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
      // An upstream may have the name of the provider of default, which may have no key then.
      const all = routing.upstreams.filter(({ provider }) => provider.name === name)
      const upstream = all.find(({ provider }) => provider.hasKey) ?? all[0]
      upstream?.provider.requireKey()
      return upstream === undefined ? null : relayOf(upstream)
    },
    first: () => relayOf(routing.targets(undefined, 'chat').all[0].upstream),
  }
}
