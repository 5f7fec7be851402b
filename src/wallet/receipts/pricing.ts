import * as z from 'zod'
import type { Config } from '../../config/config-schema.ts'
import { movingToken } from '../../config/moving-token.ts'
import { dearestPer1k, flatPrices, type Prices } from '../../providers/prices.ts'
import { type Micros, toMicros } from '../../text/money.ts'
import { METERED_MODELS } from './metered-models.ts'

/** Price settings of the configuration. */
export interface PricingConfig extends Prices {
  margin_usd: number
  token: string
  network: string
}

/** Prices in force, with the payment token of chain and payments. */
export const pricingOf = (config: Config): PricingConfig => ({ ...config.pricing, ...movingToken(config) })

/** Current price list of metered calls. */
export const Pricing = z.object({
  currency: z.literal('USD'),
  token: z.string().describe('Payment token'),
  network: z.string().describe('Network of the payment token'),
  margin_usd: z.number().describe('Added to the upstream cost of every call'),
  models: z.array(
    z.object({
      id: z.string(),
      use: z.string(),
      price_per_1k_tokens_usd: z.number().describe("The model's highest price for 1,000 tokens"),
      prices_per_1m_tokens_usd: z.object({
        input: z.number(),
        output: z.number(),
        cached_input: z.number().optional(),
        cache_write: z.number().optional(),
        cache_write_1h: z.number().optional(),
      }),
    }),
  ),
})
export type Pricing = z.infer<typeof Pricing>

/** Builds the price list. */
export function priceList(pricing: PricingConfig): Pricing {
  const { token, network, margin_usd, models } = pricing
  return {
    currency: 'USD',
    token,
    network,
    margin_usd,
    models: METERED_MODELS.map(({ id, use }) => {
      const prices = models[id] ?? flatPrices(pricing)
      return { id, use, price_per_1k_tokens_usd: dearestPer1k(prices), prices_per_1m_tokens_usd: prices }
    }),
  }
}

/** Flat margin of a call. */
export function marginOf({ margin_usd }: PricingConfig): Micros {
  const margin = toMicros(margin_usd)
  if (margin === null) throw new RangeError(`pricing.margin_usd has more than 6 decimals: ${margin_usd}.`)
  return margin
}
