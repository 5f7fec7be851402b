import type { Passage } from '../passages/passage.ts'
import type { Relays } from '../relay/relays.ts'
import { type Affinity, drawn } from '../session/affinity.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { answeringOf, type Candidate, type Plan, termsOf } from './route.ts'
import type { Routing } from './routing.ts'

/** Endpoint of a request that is passed on verbatim, and its passage. */
export interface VerbatimWay {
  path: string
  passage: Passage
}

/** Finds the candidates of requests that are passed on verbatim. */
export interface VerbatimRoutes {
  /**
   * Upstreams that can answer for a model. Weighted ones are drawn for each session, or again each time.
   *
   * @throws GazewayError as {@link Routing.targets}
   */
  ofModel(asked: string, way: VerbatimWay, affinity: Affinity | null): Candidate[]
  /**
   * The upstream with this name in records, and no other: others lack the object. Null when it is no longer configured.
   *
   * @throws GazewayError `upstream_not_configured`
   */
  named(name: string, way: VerbatimWay): Candidate[] | null
  /**
   * The upstream of requests that name nothing.
   *
   * @param asks what they ask: its default model, or none
   * @throws GazewayError as {@link Routing.targets}
   */
  first(way: VerbatimWay, asks?: 'default model' | 'no model'): Candidate[]
}

/**
 * Creates a candidate.
 *
 * @param choice the model there; null when none is asked
 */
export const verbatimCandidate = (relays: Relays, way: VerbatimWay, choice: ModelChoice | null): Candidate => ({
  ...way,
  relays,
  isStandIn: false,
  hedgeAfterMs: null,
  choice,
  modelId: choice?.upstream ?? null,
  isAssigned: true,
  model: () => choice,
})

/** Creates the plan of a call with the given candidates. */
export const planOf = (candidates: readonly Candidate[]): Plan => ({
  ...answeringOf(candidates),
  candidates: () => candidates,
})

/**
 * First step of a call that is passed on verbatim.
 *
 * @param relaysOf finds the relays of an upstream
 * @param needsKey false where clients bring keys of their own
 */
export function createVerbatimRoutes(
  routing: Routing,
  relaysOf: (upstream: NamedUpstream) => Relays,
  needsKey = true,
): VerbatimRoutes {
  const at = (upstream: NamedUpstream, way: VerbatimWay, choice: ModelChoice | null): Candidate => ({
    ...verbatimCandidate(relaysOf(upstream), way, choice),
    ...(choice !== null && { limits: upstream.models.limits }),
  })

  return {
    ofModel(asked, way, affinity) {
      const { all, isWeighted } = routing.targets(asked, 'chat')
      return (isWeighted ? drawn(all, termsOf, affinity) : all).map(({ upstream, model }) =>
        at(upstream, way, { ...upstream.provider.resolve(model, 'chat'), requested: asked }),
      )
    },
    named(name, way) {
      // Another upstream may have the name of the provider of `default`, and only one of the two may have a key.
      const all = routing.upstreams.filter(({ provider }) => provider.name === name)
      const upstream = all.find(({ provider }) => provider.hasKey) ?? all[0]
      if (needsKey) upstream?.provider.requireKey()
      return upstream === undefined ? null : [at(upstream, way, null)]
    },
    first(way, asks = 'no model') {
      const { upstream } = routing.targets(undefined, 'chat').all[0]
      return [at(upstream, way, asks === 'no model' ? null : upstream.provider.resolve('', 'chat'))]
    },
  }
}
