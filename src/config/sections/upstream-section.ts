import * as z from 'zod'
import { PRESET_NAMES, PRESETS } from '../../providers/providers.ts'
import { isBaseUrl, isPlainPath } from '../addresses.ts'
import { credential, headers, milliseconds, modelId } from './setting-values.ts'

/**
 * The upstream `default`, for model calls that no route and no other upstream takes, and the paths that may be called
 * there.
 */
export const Upstream = z.strictObject({
  provider: z
    .string()
    .refine((text) => PRESET_NAMES.includes(text) || isBaseUrl(text), 'not a known provider')
    .default(PRESETS[0].name)
    .meta({
      variable: 'GAZEWAY_UPSTREAM',
      flag: '--upstream',
      description: 'Where model calls go: a known provider, or the base URL of an OpenAI-compatible service.',
      accepted: `${PRESET_NAMES.join(', ')}, or a base URL such as http://localhost:8000/v1 (without credentials or query)`,
    }),
  protocol: z.enum(['openai', 'anthropic']).nullable().default(null).meta({
    description:
      "The API that it speaks: OpenAI's, or Anthropic's Messages. null: the known provider's own, and OpenAI's for a base URL.",
    accepted: 'openai, anthropic or null',
  }),
  api_key: credential.nullable().default(null).meta({
    variable: 'GAZEWAY_UPSTREAM_API_KEY',
    description: 'The key that the provider asks for.',
    accepted: 'a key without spaces, or null',
    secret: 'value',
  }),
  timeout_ms: milliseconds
    .default(120_000)
    .describe('How long the upstream may be silent, before its first byte and between bytes.'),
  first_byte_timeout_ms: milliseconds
    .nullable()
    .default(null)
    .describe(
      'How long a reply may take to begin, before the next candidate of a route is asked; null: as long as timeout_ms. A reply that is not streamed begins once it is complete.',
    ),
  connect_timeout_ms: milliseconds.default(10_000).describe('How long connecting to the upstream may take.'),
  max_retries: z.int().min(0).max(10).default(2).describe('How many times a call is retried after a transient error.'),
  headers: headers.default({}).meta({ description: 'Headers added to every upstream call.', secret: 'value' }),
  models: z
    .strictObject({
      primary: modelId
        .default('llm-4.20-multi-agent-beta-0309')
        .describe('The research model: web and social search, over the responses endpoint.'),
      fallback: modelId
        .default('llm-4.20-0309-reasoning')
        .describe('The reasoning model that answers when the responses endpoint fails.'),
      chat: modelId.default('llm-3-fast').describe('The model of chat completions that name none.'),
    })
    .prefault({}),
  aliases: z
    .record(modelId, modelId)
    .default({})
    .describe("Model id → the provider's id for it; added to the provider's own aliases."),
  allowed_paths: z
    .array(
      z
        .string()
        .max(200)
        .refine(isPlainPath, 'not a plain path')
        .meta({ accepted: 'a path such as /models: starts with "/", no "..", "%" or query' }),
    )
    .max(200)
    .default([
      '/models',
      '/language-models',
      '/embedding-models',
      '/image-generation-models',
      '/chat/completions',
      '/chat/deferred-completion',
      '/responses',
      '/messages',
      '/completions',
      '/embeddings',
      '/moderations',
      '/tokenize-text',
      '/api-key',
    ])
    .describe('What the gateway_gateway tool may reach: these paths below the base URL, and what is below them.'),
})
