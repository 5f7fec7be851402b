import { closest } from 'fastest-levenshtein'
import { GazewayError } from '../../errors.ts'
import { matchesGlob } from '../../text/glob.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { ModelRole } from '../upstreams/provider.ts'

/** Longest name that is compared with the known names. */
const COMPARED = 100

/** Target of a route: an upstream, the model there (default: the requested one), and its weight. */
export interface RouteTarget {
  upstream: string
  model: string | null
  weight: number | null
}

/** A routing rule of the configuration. */
export interface Route {
  /** Glob of model names. */
  model: string
  to: readonly (string | { upstream: string; model?: string | null; weight?: number | null })[]
  strategy: 'order' | 'weighted'
  /** Milliseconds after which a silent candidate is hedged by the next. No hedging when absent. */
  hedge_after_ms?: number | null
}

/** An upstream that can answer a request, and the model's name there. */
export interface Target {
  upstream: NamedUpstream
  model: string
  weight: number
}

/** Upstreams that can answer, and how they are tried. */
export interface Targets {
  all: readonly [Target, ...Target[]]
  /** True when the first one is drawn by weight. */
  isWeighted: boolean
  /** Milliseconds after which a silent candidate is hedged by the next. Null for no hedging. */
  hedgeAfterMs: number | null
}

/** Rule that decided: a route by its position, the name of an upstream, its globs, or the default. */
export type Rule = { by: 'route'; place: number } | { by: 'name' | 'models' | 'default' }

/** Finds the upstreams that can answer for a model. */
export interface Routing {
  /** Upstreams, `default` first. */
  upstreams: readonly [NamedUpstream, ...NamedUpstream[]]
  /** Model names of routes without a wildcard. */
  names: readonly string[]
  /**
   * Upstreams that can answer for a model, without those that lack their key.
   *
   * @param asked model in the request; the role's model when there is none
   * @throws GazewayError `upstream_not_configured` when the only upstream lacks its key, `model_not_found` when no
   *   upstream with a key serves the model
   */
  targets(asked: string | undefined, role: ModelRole): Targets
  /**
   * Upstream that comes first for a model, even without a key of ours: for a client that brings its own.
   *
   * @throws GazewayError `model_not_found` where only `default` is left, and others are configured in place of its key
   */
  first(asked: string | undefined, role: ModelRole): Target
  /** The same upstreams; none when {@link Routing.targets} throws. */
  find(asked: string | undefined, role: ModelRole): readonly Target[]
  /** Targets of a model and the rule that applies, including upstreams that lack their key. */
  explain(model: string): { rule: Rule; targets: readonly Target[] }
  /** Resolves a model name to its id, at the upstream that is tried first. */
  idOf(name: string): string
}

/**
 * Parses a target of a route: `NAME`, `NAME/MODEL` or an object.
 *
 * @example routeTarget('azure/gpt-5') // { upstream: 'azure', model: 'gpt-5', weight: null }
 */
export function routeTarget(to: Route['to'][number]): RouteTarget {
  if (typeof to !== 'string') return { upstream: to.upstream, model: to.model ?? null, weight: to.weight ?? null }
  const slash = to.indexOf('/')
  if (slash === -1) return { upstream: to, model: null, weight: null }
  return { upstream: to.slice(0, slash), model: to.slice(slash + 1), weight: null }
}

/** A route with its targets read. */
const routeRule = ({ model, to, strategy, hedge_after_ms = null }: Route) => ({
  glob: model,
  isWeighted: strategy === 'weighted',
  hedgeAfterMs: hedge_after_ms,
  to: to.map(routeTarget),
})

/** Targets of a model, including upstreams that lack their key, and the rule that applies. */
interface Found extends Omit<Targets, 'all'> {
  all: Target[]
  rule: Rule
}

/** Options of upstreams without a route. */
const IN_ORDER = { isWeighted: false, hedgeAfterMs: null }

/**
 * Creates the routing of models to upstreams. The first that matches decides:
 *
 * 1. the first route whose glob matches the model,
 * 2. `NAME/MODEL`, when an upstream has that name,
 * 3. the first upstream whose globs match the model,
 * 4. the upstream `default`.
 */
export function createRouting(
  upstreams: readonly [NamedUpstream, ...NamedUpstream[]],
  routes: readonly Route[],
): Routing {
  const [first, ...named] = upstreams
  const byName = new Map(upstreams.map((upstream) => [upstream.provider.id, upstream]))
  const rules = routes.map(routeRule)

  function found(model: string): Found {
    const to = (upstream: NamedUpstream, name = model): Target => ({ upstream, model: name, weight: upstream.weight })
    const place = rules.findIndex(({ glob }) => matchesGlob(glob, model))
    const rule = rules[place]
    if (rule) {
      const all = rule.to.flatMap(({ upstream: name, model: other, weight }): Target[] => {
        const upstream = byName.get(name)
        return upstream ? [{ upstream, model: other ?? model, weight: weight ?? upstream.weight }] : []
      })
      const { isWeighted, hedgeAfterMs } = rule
      return { all, isWeighted, hedgeAfterMs, rule: { by: 'route', place } }
    }
    const slash = model.indexOf('/')
    const prefixed = slash > 0 && slash < model.length - 1 ? byName.get(model.slice(0, slash)) : undefined
    if (prefixed) return { ...IN_ORDER, all: [to(prefixed, model.slice(slash + 1))], rule: { by: 'name' } }
    const serving = named.find(({ serves }) => serves(model))
    return { ...IN_ORDER, all: [to(serving ?? first)], rule: { by: serving ? 'models' : 'default' } }
  }

  /** Selects the targets of a model. @returns `answering`: those with their key among `all` */
  function choose(asked: string | undefined, role: ModelRole) {
    const model = asked ?? first.provider.resolve(undefined, role).requested
    const { all, isWeighted, hedgeAfterMs } = found(model)
    return { model, all, isWeighted, hedgeAfterMs, answering: all.filter(({ upstream }) => upstream.provider.hasKey) }
  }

  const names = rules.map(({ glob }) => glob).filter((glob) => !glob.includes('*'))

  return {
    upstreams,
    names,
    explain(model) {
      const { all: targets, rule } = found(model)
      return { rule, targets }
    },
    first(asked, role) {
      const model = asked ?? first.provider.resolve(undefined, role).requested
      const { all, rule } = found(model)
      const [target] = all
      // A key for one of the others must not go to a provider that nobody has named.
      const isLeftOver = rule.by === 'default' && !first.provider.hasKey && named.length > 0
      if (target === undefined || isLeftOver) throw modelNotFound(model, knownNames(upstreams, names))
      return target
    },
    find: (asked, role) => choose(asked, role).answering,
    idOf(name) {
      const [{ upstream, model } = { upstream: first, model: name }] = found(name).all
      return upstream.provider.resolve(model, 'chat').upstream
    },
    targets(asked, role) {
      const { model, all, isWeighted, hedgeAfterMs, answering } = choose(asked, role)
      const [target, ...others] = answering
      if (target) return { all: [target, ...others], isWeighted, hedgeAfterMs }
      const lacking = all[0]?.upstream ?? first
      // With other upstreams configured, the missing key of this one is intended.
      const isLeftOver = lacking === first && named.some(({ provider }) => provider.hasKey)
      if (asked === undefined || !isLeftOver) lacking.provider.requireKey()
      throw modelNotFound(model, knownNames(upstreams, names))
    },
  }
}

/** Cached names that clients can request. */
function knownNames(upstreams: Routing['upstreams'], names: readonly string[]): string[] {
  const answering = upstreams.filter(({ provider }) => provider.hasKey)
  return [...names, ...answering.flatMap(({ models }) => models.known())]
}

function modelNotFound(model: string, known: readonly string[]): GazewayError {
  const nearest = known.length === 0 ? null : closest(model.slice(0, COMPARED), known)
  return new GazewayError(
    'model_not_found',
    `No upstream serves the model ${JSON.stringify(model.slice(0, COMPARED))}${nearest === null ? '' : `; the nearest is ${nearest}`}. GET /v1/models lists all.`,
    { param: 'model' },
  )
}
