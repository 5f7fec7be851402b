import { closest } from 'fastest-levenshtein'
import { GazewayError } from '../errors.ts'
import { matchesGlob } from '../text/glob.ts'
import type { NamedUpstream } from './named-upstream.ts'
import type { ModelRole } from './provider.ts'

/** A name of this length is compared with the names that are known. */
const COMPARED = 100

/** Where a route leads: an upstream, the model there (the one asked for where it names none), and its share of the calls. */
export interface RouteTarget {
  upstream: string
  model: string | null
  weight: number | null
}

/** A rule of the configuration: which models it is for, and where they are asked. */
export interface Route {
  /** A glob. */
  model: string
  to: readonly (string | { upstream: string; model?: string | null; weight?: number | null })[]
  strategy: 'order' | 'weighted'
  /** How long a candidate may take to begin before the next is asked beside it; none is where it is absent. */
  hedge_after_ms?: number | null
}

/** An upstream that can answer a request, and the name of the model there. */
export interface Target {
  upstream: NamedUpstream
  model: string
  weight: number
}

/** The upstreams that can answer, and how they are asked. */
export interface Targets {
  all: readonly [Target, ...Target[]]
  /** Whether the first is drawn by weight. */
  isWeighted: boolean
  /** How long one may take to begin before the next is asked beside it, in milliseconds; null where none is. */
  hedgeAfterMs: number | null
}

/** What decided where a model leads: a route by its place, the name of an upstream, its globs, or none of these. */
export type Rule = { by: 'route'; place: number } | { by: 'name' | 'models' | 'default' }

/** Finds the upstreams that can answer for a model. */
export interface Routing {
  /** The upstream `default` first. */
  upstreams: readonly [NamedUpstream, ...NamedUpstream[]]
  /** The models that routes name without a wildcard. */
  names: readonly string[]
  /**
   * The upstreams that can answer for a model, those without their key left out.
   *
   * @param asked what the client named; the model of the role where it named none
   * @throws GazewayError `upstream_not_configured` where the key of the only upstream is missing, `model_not_found` where
   *   no upstream that has its key serves the model
   */
  targets(asked: string | undefined, role: ModelRole): Targets
  /** The same upstreams; none where {@link Routing.targets} throws. */
  find(asked: string | undefined, role: ModelRole): readonly Target[]
  /** Where a model leads, and by which rule; upstreams without their key are in it, too. */
  explain(model: string): { rule: Rule; targets: readonly Target[] }
  /** The id of a model by one of its names, at the upstream that would be asked first. */
  idOf(name: string): string
}

/** A target of a route, however it is written: `NAME`, `NAME/MODEL` or an object. */
export function routeTarget(to: Route['to'][number]): RouteTarget {
  if (typeof to !== 'string') return { upstream: to.upstream, model: to.model ?? null, weight: to.weight ?? null }
  const slash = to.indexOf('/')
  if (slash === -1) return { upstream: to, model: null, weight: null }
  return { upstream: to.slice(0, slash), model: to.slice(slash + 1), weight: null }
}

/** The upstreams for a model, those without their key too, and by which rule. */
interface Found extends Omit<Targets, 'all'> {
  all: Target[]
  rule: Rule
}

/** How upstreams are asked that no route names. */
const IN_ORDER = { isWeighted: false, hedgeAfterMs: null }

/**
 * Routes models to upstreams. The first of these that fits decides:
 *
 * 1. the first route whose glob matches the model,
 * 2. `NAME/MODEL`, where an upstream has that name,
 * 3. the first upstream whose globs match the model,
 * 4. the upstream `default`.
 */
export function createRouting(
  upstreams: readonly [NamedUpstream, ...NamedUpstream[]],
  routes: readonly Route[],
): Routing {
  const [first, ...named] = upstreams
  const byName = new Map(upstreams.map((upstream) => [upstream.provider.id, upstream]))
  const rules = routes.map(({ model, to, strategy, hedge_after_ms = null }) => ({
    glob: model,
    isWeighted: strategy === 'weighted',
    hedgeAfterMs: hedge_after_ms,
    to: to.map(routeTarget),
  }))

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

  /** @returns those with their key among `all` */
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
      // Whoever set up other upstreams did without this one's key on purpose.
      const isLeftOver = lacking === first && named.some(({ provider }) => provider.hasKey)
      if (asked === undefined || !isLeftOver) lacking.provider.requireKey()
      throw modelNotFound(model, knownNames(upstreams, names))
    },
  }
}

/** The names that can be asked for, as far as they are known without asking anybody. */
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
