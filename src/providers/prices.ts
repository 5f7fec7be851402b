import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import type { Usage } from './token-usage.ts'

/** US dollars per 1,000 tokens. */
export interface Prices {
  /** By model id, where it differs. */
  models: Record<string, number>
  /** Of every other model. */
  price_per_1k_tokens_usd: number
}

/**
 * What a call cost upstream, in micro-dollars: tokens × price, rounded up to a whole micro-dollar so that a fraction is
 * never given away. At 0.003 per 1,000 that is exactly 3 micro-dollars a token.
 */
export function upstreamCost(usage: Usage | null, model: string, prices: Prices): Micros {
  if (!usage) return 0
  // Clients may ask for any model: `constructor` is a property of every object.
  const own = Object.hasOwn(prices.models, model) ? prices.models[model] : undefined
  const pricePer1k = Math.round((own ?? prices.price_per_1k_tokens_usd) * MICROS_PER_USD)
  return Math.ceil((usage.total_tokens * pricePer1k) / 1000)
}
