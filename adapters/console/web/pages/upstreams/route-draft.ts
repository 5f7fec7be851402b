import type { Config } from '../../../../../src/config/config-schema.ts'

type Route = Config['routes'][number]
type Target = Route['to'][number]

/** Candidate while it is edited. */
export interface TargetDraft {
  upstream: string
  /** Empty for the requested model. */
  model: string
  /** Empty for that of the upstream. */
  weight: string
}

/** Route while it is edited. */
export interface RouteDraft {
  model: string
  to: TargetDraft[]
  strategy: Route['strategy']
  /** In milliseconds; empty for none. */
  hedgeAfter: string
}

export const NEW_TARGET: TargetDraft = { upstream: 'default', model: '', weight: '' }
export const NEW_ROUTE: RouteDraft = { model: '', to: [NEW_TARGET], strategy: 'order', hedgeAfter: '' }

/** Makes a route editable. */
export const draftOf = ({ model, to, strategy, hedge_after_ms }: Route): RouteDraft => ({
  model,
  to: to.map(draftOfTarget),
  strategy,
  hedgeAfter: String(hedge_after_ms ?? ''),
})

function draftOfTarget(target: Target): TargetDraft {
  if (typeof target !== 'string') {
    const { upstream, model, weight } = target
    return { upstream, model: model ?? '', weight: String(weight ?? '') }
  }
  const [upstream = '', ...model] = target.split('/')
  return { upstream, model: model.join('/'), weight: '' }
}

/** Parses an edited route; the API validates it. A candidate without a weight is short: `NAME`, `NAME/MODEL`. */
export function routeOf({ model, to, strategy, hedgeAfter }: RouteDraft) {
  const after = hedgeAfter.trim()
  return { model: model.trim(), to: to.map(targetOf), strategy, hedge_after_ms: after === '' ? null : Number(after) }
}

function targetOf({ upstream, model, weight }: TargetDraft) {
  const name = model.trim()
  if (weight.trim() === '') return name === '' ? upstream : `${upstream}/${name}`
  return { upstream, ...(name !== '' && { model: name }), weight: Number(weight) }
}
