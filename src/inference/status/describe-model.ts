import { dearerPrices, type ModelPrices } from '../../providers/preset.ts'
import { isUnpriced, type Prices, priceOf } from '../../providers/prices.ts'
import { present } from '../../text/present.ts'
import type { Routing, Target } from '../route/routing.ts'
import type { ListedFacts } from '../upstreams/listed-facts.ts'
import { limitsOf } from '../upstreams/provider.ts'

/** Facts of a model that clients can request. Absent where they are not known. */
export interface ModelDescription extends ListedFacts {
  /** Most tokens of prompt and answer together. */
  context?: number
  /** Most tokens of an answer. */
  maxOutput?: number
  /** US dollars per 1,000,000 tokens. */
  prices?: ModelPrices
}

/**
 * Describes a model, as any upstream may answer that is tried for it: the smallest limits, the dearest prices, and the
 * kinds of input and parameters that all of them take. One that does not tell leaves the whole unknown.
 */
export function describeModel(id: string, { find }: Routing, prices: Prices): ModelDescription {
  const all = find(id, 'chat').map((target) => describedAt(target, id, prices))
  const [first] = all
  return first === undefined ? {} : all.reduce(inCommon, first)
}

function describedAt({ upstream, model }: Target, id: string, prices: Prices): ModelDescription {
  const { provider, models } = upstream
  const choice = provider.resolve(model, 'chat')
  // It is open which model answers.
  if (provider.isUnassigned(choice.requested)) return {}
  const { context, maxOutput } = limitsOf(choice)
  const found = priceOf({ ...choice, requested: id }, prices)
  return {
    ...models.factsOf(choice.upstream),
    ...present({ context, maxOutput, prices: isUnpriced(found.from) ? undefined : found.prices }),
  } as ModelDescription
}

function inCommon(one: ModelDescription, other: ModelDescription): ModelDescription {
  return present({
    name: one.name === other.name ? one.name : undefined,
    inputs: shared(one.inputs, other.inputs),
    outputs: shared(one.outputs, other.outputs),
    parameters: shared(one.parameters, other.parameters),
    context: smaller(one.context, other.context),
    maxOutput: smaller(one.maxOutput, other.maxOutput),
    prices: one.prices && other.prices ? dearerPrices(one.prices, other.prices) : undefined,
  }) as ModelDescription
}

const shared = (one: readonly string[] | undefined, other: readonly string[] | undefined) =>
  one && other && one.filter((kind) => other.includes(kind))

const smaller = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? undefined : Math.min(one, other)
