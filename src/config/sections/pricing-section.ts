import * as z from 'zod'
import { eachMediumKind } from '../../providers/preset.ts'
import { UNKNOWN_PRICES } from '../../providers/prices.ts'
import { lazySchema, section } from './section.ts'
import { modelId, usd } from './setting-values.ts'

const rate = lazySchema(() => usd.describe('USD for 1,000,000 tokens'))

const rates = () => ({
  input: rate(),
  output: rate(),
  cached_input: rate().optional(),
  cache_write: rate().optional(),
  cache_write_1h: rate().optional(),
  ...eachMediumKind(() => rate().optional()),
})

/** Prices of a model, per 1,000,000 tokens of each kind. */
const modelPrices = lazySchema(() =>
  z
    .strictObject({
      ...rates(),
      long_prompt: z.strictObject({ above: z.int().min(1).max(100_000_000), ...rates() }).optional(),
      service_tiers: z.record(z.string().regex(/^[\w.-]{1,32}$/), z.strictObject(rates())).optional(),
      units: z
        .strictObject({ search: usd.optional(), image: usd.optional(), audio_second: usd.optional() })
        .optional()
        .describe('USD for one search, image or second of audio'),
    })
    .meta({ accepted: 'an object such as { "input": 1.25, "output": 10, "cached_input": 0.125, "cache_write": 1.5 }' }),
)

/** Settings of prices: margin, flat price, and prices by model. */
export const pricingSection = section(() => ({
  margin_usd: usd.default(0.08).describe('Added to the price of every metered call, in USD.'),
  price_per_1k_tokens_usd: usd
    .default(0.003)
    .describe('Price of 1,000 tokens in USD for models without a price in models or in the catalogue of the provider.'),
  unknown: z.enum(UNKNOWN_PRICES).nullable().default(null).meta({
    description:
      'Calls to models without a price: refuse (403 model_not_priced), dearest (the dearest known price of the provider) or flat (price_per_1k_tokens_usd). null: refuse for keys with a budget or a charge, flat for others. unknown_price of an upstream takes precedence.',
    accepted: 'refuse, dearest, flat or null',
  }),
  models: z
    .record(modelId, modelPrices())
    .default({})
    .describe(
      'Model id → its prices of 1,000,000 tokens, in USD: input, output, and where they differ from input cached_input, cache_write and cache_write_1h, and where those of speech differ from those of text audio_input, cached_audio_input and audio_output, of images image_input, cached_image_input and image_output, and of videos likewise; long_prompt has those of a call whose prompt has more than `above` tokens, service_tiers those by service_tier, and units what one search, image or second of audio (audio_second) costs. They take precedence over the catalogue of the provider.',
    ),
  token: z
    .string()
    .regex(/^[\w.-]{1,32}$/)
    .default('pathUSD')
    .meta({
      description: 'Token named with amounts when no token moves: without payments and settlements on a chain.',
      accepted: 'a token symbol such as pathUSD',
    }),
  network: z.enum(['test', 'main']).default('test').describe('Network named with that token.'),
}))
