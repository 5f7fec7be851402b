import type { Micros } from '../text/money.ts'
import { exactCost, type UsedByCall } from './cost.ts'
import { type PricedModel, type Prices, pricedBy } from './prices.ts'
import { NO_MEDIA_COUNTED, type Usage } from './token-usage.ts'

/** Millionths of a micro-dollar in one. */
const MILLIONTHS = 1_000_000

/** Terms of the prices of a call, besides its model. */
type Terms = Pick<UsedByCall, 'tier' | 'media'>

/**
 * Money that the provider's prompt cache saved on a call, in whole micro-dollars, rounded down:
 *
 * ```formula
 * saved = cached input tokens × (price of input − price of cached input)
 * ```
 *
 * Prices are those of the call: of its model, tier and length of prompt; and of media for what was no text.
 */
export function savedByCache(
  { usage, parts = null, ...terms }: UsedByCall,
  model: PricedModel,
  prices: Prices,
): Micros {
  const saved = (of: Usage, by: PricedModel, on: Terms): Micros =>
    (of.cached_tokens ?? 0) === 0 ? 0 : difference({ ...of, cached_tokens: 0 }, of, by, prices, on)
  if (parts === null) return usage === null ? 0 : saved(usage, model, terms)
  const { tier } = terms
  return parts.reduce((sum, part) => sum + saved(part.usage, pricedBy(part.model, model, prices), { tier }), 0)
}

/**
 * Cost of prompt tokens that were no longer in the provider's cache, in whole micro-dollars, rounded down:
 *
 * ```formula
 * missed = missed tokens × (the price paid for them − price of cached input)
 * ```
 *
 * The price paid is that of cache writes for as many tokens as were written again, first those kept for an hour, and of
 * input for the others.
 *
 * @param tokens missed tokens of `usage.prompt_tokens`
 */
export function costOfMiss(tokens: number, usage: Usage, terms: Terms, model: PricedModel, prices: Prices): Micros {
  if (tokens === 0) return 0
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0, cache_write_1h_tokens: forAnHour = 0 } = usage
  const hit: Usage = {
    ...usage,
    cached_tokens: cached + tokens,
    cache_write_tokens: Math.max(0, written - tokens),
    cache_write_1h_tokens: Math.max(0, forAnHour - tokens),
  }
  return difference(usage, hit, model, prices, terms)
}

/** Cost of one usage less that of another. 0 where that costs more. */
function difference(dear: Usage, cheap: Usage, model: PricedModel, prices: Prices, terms: Terms): Micros {
  const { tier, media = NO_MEDIA_COUNTED } = terms
  const cost = (usage: Usage) => exactCost(usage, model, prices, tier, media)
  return Math.max(0, Math.floor((cost(dear) - cost(cheap)) / MILLIONTHS))
}
