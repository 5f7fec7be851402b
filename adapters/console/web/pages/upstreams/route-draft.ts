import type { Config } from '../../../../../src/config/config-schema.ts'

type Route = Config['routes'][number]
type Target = Route['to'][number]

/** Route while it is edited. Its targets are lines of text. */
export interface RouteDraft {
  model: string
  targets: string
  strategy: Route['strategy']
  /** In milliseconds; empty for none. */
  hedgeAfter: string
}

export const NEW_ROUTE: RouteDraft = { model: '', targets: '', strategy: 'order', hedgeAfter: '' }

const WEIGHTED = /^(\S+) +weight +(\d+(?:\.\d+)?)$/

/** Converts a route to lines: `NAME`, `NAME/MODEL`, each with ` weight N` if it has its own weight. */
export const draftOf = ({ model, to, strategy, hedge_after_ms }: Route): RouteDraft => ({
  model,
  targets: to.map(lineOf).join('\n'),
  strategy,
  hedgeAfter: String(hedge_after_ms ?? ''),
})

function lineOf(target: Target): string {
  if (typeof target === 'string') return target
  const { upstream, model, weight } = target
  const place = model === null ? upstream : `${upstream}/${model}`
  return weight === null ? place : `${place} weight ${weight}`
}

/** Parses a route from lines; the API validates it. */
export function routeOf({ model, targets, strategy, hedgeAfter }: RouteDraft) {
  const lines = targets.split('\n').map((line) => line.trim())
  const to = lines.filter((line) => line !== '').map(targetOf)
  const after = hedgeAfter.trim()
  return { model: model.trim(), to, strategy, hedge_after_ms: after === '' ? null : Number(after) }
}

function targetOf(line: string) {
  const [, place, weight] = WEIGHTED.exec(line) ?? []
  if (place === undefined) return line
  const slash = place.indexOf('/')
  if (slash === -1) return { upstream: place, weight: Number(weight) }
  return { upstream: place.slice(0, slash), model: place.slice(slash + 1), weight: Number(weight) }
}
