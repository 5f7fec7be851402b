import type { Destination } from '../attempt/attempt-order.ts'
import type { Relays } from '../relay/relays.ts'
import type { Routing } from '../route/routing.ts'
import { drawn } from '../route/weighted-order.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { ModelChoice } from '../upstreams/provider.ts'

/** Destination of a request to a passed-through path. */
export interface Place extends Destination {
  /** Null when it calls no model. */
  model: ModelChoice | null
}

/** Destinations in the order to try them. */
export type PlacesFor = readonly [Place, ...Place[]]

/** Finds the destinations of a request to a passed-through path. */
export interface Places {
  /**
   * Upstreams that can answer for a model. Weighted ones are drawn again each time.
   *
   * @throws GazewayError as {@link Routing.targets}
   */
  ofModel(asked: string, path: string): PlacesFor
  /**
   * The upstream with this name in records, and no other: others lack the object. Null when it is no longer configured.
   *
   * @throws GazewayError `upstream_not_configured`
   */
  named(name: string, path: string): PlacesFor | null
  /** The upstream of requests that name nothing. @throws GazewayError as {@link Routing.targets} */
  first(path: string): PlacesFor
}

/**
 * Creates the lookup.
 *
 * @param relaysOf finds the relays of an upstream
 */
export function createPlaces(routing: Routing, relaysOf: (upstream: NamedUpstream) => Relays): Places {
  const placeAt = (upstream: NamedUpstream, path: string, model: ModelChoice | null = null): Place => ({
    relays: relaysOf(upstream),
    path,
    isStandIn: false,
    modelId: model?.upstream ?? null,
    model,
  })

  return {
    ofModel(asked, path) {
      const { all, isWeighted } = routing.targets(asked, 'chat')
      const targets = isWeighted ? drawn(all) : all
      return targets.map(({ upstream, model }) =>
        placeAt(upstream, path, { ...upstream.provider.resolve(model, 'chat'), requested: asked }),
      ) as [Place, ...Place[]]
    },
    named(name, path) {
      // Another upstream may have the name of the provider of `default`, and only one of the two may have a key.
      const all = routing.upstreams.filter(({ provider }) => provider.name === name)
      const upstream = all.find(({ provider }) => provider.hasKey) ?? all[0]
      upstream?.provider.requireKey()
      return upstream === undefined ? null : [placeAt(upstream, path)]
    },
    first: (path) => [placeAt(routing.targets(undefined, 'chat').all[0].upstream, path)],
  }
}
