import * as z from 'zod'
import { modelId, upstreamName } from './setting-values.ts'

/** Search by embeddings. */
export const Memory = z.strictObject({
  embeddings: z
    .strictObject({
      model: modelId
        .nullable()
        .default(null)
        .describe(
          'The model that embeds memories and questions, which go to its upstream for that. Unset: words alone.',
        ),
      upstream: z
        .union([z.literal('default'), upstreamName])
        .default('default')
        .meta({
          description: 'The upstream that has it: default, or one of upstreams.',
          accepted: 'default, or a name in upstreams',
        }),
      timeout_ms: z
        .int()
        .min(1)
        .max(10_000)
        .default(300)
        .describe("How long a search waits for its question's vector; then it goes by words alone."),
      document_prefix: z
        .string()
        .max(200)
        .default('')
        .describe('What the model wants before a memory, such as "search_document: ".'),
      query_prefix: z
        .string()
        .max(200)
        .default('')
        .describe('What the model wants before a question, such as "search_query: ".'),
      min_similarity: z
        .number()
        .min(0)
        .max(1)
        .default(0.4)
        .describe('The cosine from which a memory is found by its vector. Each model has its own scale.'),
    })
    .prefault({}),
})
