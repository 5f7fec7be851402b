import { MICROS_PER_USD, type Micros } from '../wallet/money.ts'
import type { Usage } from './usage.ts'

/** US dollars per 1,000 tokens where no price is configured for a model. */
export const DEFAULT_PRICE_PER_1K_USD = 0.003

/**
 * What a call cost upstream, in micro-dollars: tokens × price, rounded up to a whole micro-dollar so that a fraction is
 * never given away. At the default price that is exactly 3 micro-dollars a token.
 *
 * @param prices US dollars per 1,000 tokens, by model id
 */
export function upstreamCost(usage: Usage | null, model: string, prices: Record<string, number>): Micros {
  if (!usage) return 0
  const pricePer1k = Math.round((prices[model] ?? DEFAULT_PRICE_PER_1K_USD) * MICROS_PER_USD)
  return Math.ceil((usage.total_tokens * pricePer1k) / 1000)
}
