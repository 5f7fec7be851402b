import * as z from 'zod'
import { milliseconds, modelGlob, modelId } from './setting-values.ts'

/** Target of a route: `NAME`, or `NAME/MODEL`. */
const place = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(?:\/[^\s\p{Cc}\p{Surrogate}]{1,200})?$/u)
  .meta({ accepted: 'an upstream, or NAME/MODEL' })

const Target = z.strictObject({
  upstream: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
    .meta({ accepted: 'default, or a name in upstreams' }),
  model: modelId.nullable().default(null).describe('The model there; null: the one that is asked for.'),
  weight: z
    .number()
    .min(0.001)
    .max(1000)
    .nullable()
    .default(null)
    .describe('Its share of the calls; null: that of the upstream.'),
})

const Route = z.strictObject({
  model: modelGlob.describe('A glob of the models that it is for.'),
  to: z
    .array(z.union([place, Target]))
    .min(1)
    .max(50)
    .meta({
      description: 'The candidates: an upstream, NAME/MODEL, or an object with upstream, model and weight.',
      accepted: 'a list of upstreams, NAME/MODEL, or objects with upstream, model and weight',
    }),
  strategy: z
    .enum(['order', 'weighted'])
    .default('order')
    .describe(
      'order: each candidate is asked once the one before it cannot answer. weighted: the first is drawn by weight.',
    ),
  hedge_after_ms: milliseconds
    .nullable()
    .default(null)
    .describe('How long a reply may take to begin before the next candidate is asked beside it; null: none is.'),
})

/** Routes from models to upstreams. The first that matches decides. */
export const Routes = z.array(Route).max(500).default([]).meta({
  description:
    'Which upstreams answer for which models: a list of {model: GLOB, to: [candidates], strategy, hedge_after_ms}. The first route that fits decides.',
})
