import { z } from 'zod'
import type { Prices } from '../providers/prices.ts'
import { type Micros, toMicros } from '../text/money.ts'
import { METERED_MODELS } from './metered-models.ts'

/** The prices of the configuration. */
export interface PricingConfig extends Prices {
  margin_usd: number
  token: string
  network: string
}

/** What metered calls cost now. */
export const Pricing = z.object({
  currency: z.literal('USD'),
  token: z.string().describe('The token that is paid with'),
  network: z.string().describe('The network that it moves on'),
  margin_usd: z.number().describe('Added to the upstream cost of every call'),
  models: z.array(z.object({ id: z.string(), use: z.string(), price_per_1k_tokens_usd: z.number() })),
})
export type Pricing = z.infer<typeof Pricing>

/** The price list. */
export function priceList({ token, network, margin_usd, models, price_per_1k_tokens_usd }: PricingConfig): Pricing {
  return {
    currency: 'USD',
    token,
    network,
    margin_usd,
    models: METERED_MODELS.map(({ id, use }) => ({
      id,
      use,
      price_per_1k_tokens_usd: models[id] ?? price_per_1k_tokens_usd,
    })),
  }
}

/** The flat margin of a call. */
export function marginOf({ margin_usd }: PricingConfig): Micros {
  const margin = toMicros(margin_usd)
  if (margin === null) throw new RangeError(`pricing.margin_usd has more than 6 decimals: ${margin_usd}.`)
  return margin
}
