import * as z from 'zod'
import { lazySchema } from './section.ts'
import { milliseconds, modelGlob, modelId } from './setting-values.ts'

/** Target of a route: `NAME`, or `NAME/MODEL`. */
const place = lazySchema(() =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(?:\/[^\s\p{Cc}\p{Surrogate}]{1,200})?$/u)
    .meta({ accepted: 'an upstream, or NAME/MODEL' }),
)

const target = lazySchema(() =>
  z.strictObject({
    upstream: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
      .meta({ accepted: 'default, or a name in upstreams' }),
    model: modelId.nullable().default(null).describe('Model at the upstream; null: the requested model.'),
    weight: z
      .number()
      .min(0.001)
      .max(1000)
      .nullable()
      .default(null)
      .describe('Weight of the candidate; null: that of the upstream.'),
  }),
)

const route = lazySchema(() =>
  z.strictObject({
    model: modelGlob.describe('Glob of the models of the route.'),
    to: z
      .array(z.union([place(), target()]))
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
        'order: candidates are tried in order, the next when one cannot answer. weighted: the first is chosen at random by weight.',
      ),
    hedge_after_ms: milliseconds
      .nullable()
      .default(null)
      .describe('Time without a reply before the next candidate is also asked; null: never.'),
  }),
)

/** Routes from models to upstreams. The first that matches decides. */
export const routesSection = lazySchema(() =>
  z.array(route()).max(500).default([]).meta({
    description:
      'Candidates by model: a list of {model: GLOB, to: [candidates], strategy, hedge_after_ms}. The first matching route applies.',
  }),
)
