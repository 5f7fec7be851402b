import { z } from 'zod'
import { modelId, usd } from './setting-values.ts'

/** What metered calls cost. */
export const Pricing = z.strictObject({
  margin_usd: usd.default(0.08).describe('Added to the price of every metered call, in USD.'),
  price_per_1k_tokens_usd: usd
    .default(0.003)
    .describe('Price of 1,000 tokens of a model that is not in models, in USD.'),
  models: z.record(modelId, usd).default({}).describe('Model id → its price of 1,000 tokens, in USD.'),
  token: z
    .string()
    .regex(/^[\w.-]{1,32}$/)
    .default('pathUSD')
    .meta({
      description:
        'The token that amounts are said to be in where none moves: without payments, and settlements on a chain.',
      accepted: 'a token symbol such as pathUSD',
    }),
  network: z.enum(['test', 'main']).default('test').describe('The network that is named with that token.'),
})
