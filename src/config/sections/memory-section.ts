import * as z from 'zod'
import { section } from './section.ts'
import { modelId, upstreamName } from './setting-values.ts'

/** Settings of memory search by embeddings. */
export const memorySection = section(() => ({
  embeddings: z
    .strictObject({
      model: modelId
        .nullable()
        .default(null)
        .describe(
          'Embedding model of memories and questions, which are sent to its upstream. Unset: search by words only.',
        ),
      upstream: z
        .union([z.literal('default'), upstreamName])
        .default('default')
        .meta({
          description: 'Upstream of the model: default, or one of upstreams.',
          accepted: 'default, or a name in upstreams',
        }),
      timeout_ms: z
        .int()
        .min(1)
        .max(10_000)
        .default(300)
        .describe('Timeout of the embedding of a question; after it, a search uses words only.'),
      document_prefix: z
        .string()
        .max(200)
        .default('')
        .describe('Prefix of memories for the model, such as "search_document: ".'),
      query_prefix: z
        .string()
        .max(200)
        .default('')
        .describe('Prefix of questions for the model, such as "search_query: ".'),
      min_similarity: z
        .number()
        .min(0)
        .max(1)
        .default(0.4)
        .describe('Minimum cosine similarity to find a memory by its vector. The scale depends on the model.'),
    })
    .prefault({}),
  capture: z
    .enum(['off', 'offer', 'auto'])
    .default('offer')
    .describe(
      'End of a session of the Claude Code plugin that changed files: nothing, an offer to store what lasts, or the assistant stores it itself.',
    ),
  secrets: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe('Memories that look like a secret (a key, a token, a password): refuse to store them, or allow them.'),
  trusted_writers: z
    .array(
      z
        .string()
        .trim()
        .regex(/^\P{Cc}{1,100}$/u)
        .meta({ accepted: 'the id or name of a key' }),
    )
    .max(100)
    .default([])
    .describe(
      'Keys, by id or name, whose memories hooks, work contexts and questions to models may use, besides those of this machine and of admins.',
    ),
}))
