import {
  type AppliedPrice,
  appliedPrice,
  costOfCall,
  isByLength,
  type UsedByCall,
  upstreamCost,
} from '../../providers/cost.ts'
import { type CostOrigin, isAnotherModel, type PricedModel, type Prices, pricedBy } from '../../providers/prices.ts'
import { type CallTier, tierIn } from '../../providers/tiers.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Micros } from '../../text/money.ts'
import type { Observed } from '../observe/observe.ts'
import { usesIn } from '../observe/reported-terms.ts'
import type { Invocation } from './invocation.ts'
import { mediaOfCall } from './media-of-call.ts'

/** A request without a model has the flat price. */
const NO_MODEL: PricedModel = { requested: '', upstream: '', catalogue: {}, unknownPrice: 'fixed' }

/** A call, as far as its price depends on it. */
type PricedInvocation = Pick<Invocation, 'provider' | 'path' | 'model' | 'request'>

/** Price of a call that has ended. */
export interface CallPrice {
  costMicros: Micros
  /** Origin of the cost. Null when nothing is known to have been used. */
  priceFrom: CostOrigin | null
  /** Rates that the cost was computed from. */
  price: () => AppliedPrice
  used: UsedByCall
  /** Model whose prices apply. */
  priced: PricedModel
  /** Another model than the asked one that the answer names, and the asked one. Null when it names none. */
  answeredBy: { id: string; asked: PricedModel } | null
  /** True when the cost is known without tokens. */
  isByPiece: boolean
  /** True when the price is for a length that nobody told. */
  isOfUnknownLength: boolean
}

/** Prices a call. What the provider states takes precedence, where it is believed. A client's own key pays for itself. */
export function priceCall(
  prices: Prices,
  invocation: PricedInvocation,
  { usage, terms }: { usage: Usage | null; terms: Observed['terms'] },
  statedLaterMicros: Micros | null,
): CallPrice {
  const { provider, model: asked } = invocation
  const model = asked ?? NO_MODEL
  const stated = statedLaterMicros ?? statedCost(invocation, terms)
  const id = terms?.model ?? null
  const answeredBy = id !== null && isAnotherModel(id, model) ? { id, asked: model } : null
  const priced = pricedBy(answeredBy?.id ?? null, model, prices)
  const uses = usesIn(invocation.request, terms?.uses ?? {})
  const media = mediaOfCall(invocation, terms, priced, prices)
  const parts = terms?.parts ?? null
  const used = { usage, parts, media, uses, tier: tierOf(invocation, terms), stated }
  const { paidBy } = provider
  const { micros: costMicros, from } = paidBy === null ? costOfCall(used, priced, prices) : { micros: 0, from: paidBy }
  const isByPiece = usage === null && costMicros > 0
  return {
    costMicros,
    priceFrom: usage === null && from !== 'stated' && !isByPiece ? paidBy : from,
    price: () => ({
      ...(parts !== null && { mixed: true }),
      ...appliedPrice(usage, priced, prices, used.tier, media),
    }),
    used,
    priced,
    answeredBy,
    isByPiece,
    isOfUnknownLength: !uses.audio_second && isByLength(priced, prices),
  }
}

/** Computes what the provider asks for usage that it did not price itself. */
export const costOfUsage = (
  prices: Prices,
  invocation: PricedInvocation,
  usage: Usage | null,
  terms: Observed['terms'],
): Micros => {
  const model = invocation.model ?? NO_MODEL
  return upstreamCost(usage, model, prices, tierOf(invocation, terms), mediaOfCall(invocation, terms, model, prices))
}

/** Prices a reply that was discarded. */
export function costOfDiscarded(
  prices: Prices,
  invocation: PricedInvocation,
  { usage, terms = null }: Pick<Observed, 'usage' | 'terms'>,
): Micros {
  if (invocation.provider.paidBy !== null) return 0
  const model = invocation.model ?? NO_MODEL
  const { parts = null, uses = {} } = terms ?? {}
  const media = mediaOfCall(invocation, terms, model, prices)
  const stated = statedCost(invocation, terms)
  return costOfCall({ usage, parts, media, uses, tier: tierOf(invocation, terms), stated }, model, prices).micros
}

const statedCost = ({ provider }: PricedInvocation, terms: Observed['terms']): Micros | null =>
  provider.statesCost ? (terms?.stated ?? null) : null

/** The reply tells which tier answered; without it, the requested one counts, and then that of the project. */
function tierOf({ request, model }: PricedInvocation, terms: Observed['terms']): CallTier {
  const asked = fieldsOrNone(request)
  const { service_tier, speed, inference_geo } = terms?.tier ?? {}
  const fields = {
    service_tier: service_tier ?? asked.service_tier ?? asked.serviceTier,
    speed: speed ?? asked.speed,
    inference_geo: inference_geo ?? asked.inference_geo,
  }
  return tierIn(fields, (model ?? NO_MODEL).project)
}
