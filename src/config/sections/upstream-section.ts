import * as z from 'zod'
import { PRESET_NAMES, PRESETS } from '../../providers/providers.ts'
import { isBaseUrl, isPlainPath } from '../addresses.ts'
import { cloud } from './cloud-settings.ts'
import { section } from './section.ts'
import {
  credential,
  headers,
  keyId,
  milliseconds,
  modelId,
  ownKeys,
  projectDefault,
  proxy,
  unknownPrice,
} from './setting-values.ts'

/** Prices and keys under which the upstream is asked. */
const terms = () => ({
  unknown_price: unknownPrice.describe(
    'Calls to models without a price here: refuse, dearest or flat as pricing.unknown, or free. null: free for the sandbox and known local servers, else pricing.unknown.',
  ),
  own_keys: ownKeys.describe(
    "Calls with a client's own key for the provider, sent as x-provider-key: allow, or refuse. null: allow at a known provider's own address that asks for a key, refuse elsewhere.",
  ),
  passthrough_credentials: z
    .boolean()
    .default(false)
    .describe(
      "Pass a person's own Authorization, sent beside x-gazeway-key, to the provider unchanged, for its native API alone (anthropic, openai). Read the provider's terms first.",
    ),
  project_tier: projectDefault.meta({
    description:
      "Service tier of the provider's project, which answers where a request names none, such as priority or flex; null: the standard tier. Budgets reserve its price, and the tier that the reply names is charged.",
    accepted: 'a service tier such as priority, or null',
  }),
  project_region: projectDefault.meta({
    description:
      "Region of the provider's project where it has a price of its own, such as us for an Anthropic workspace with that default_inference_geo; null: no such region.",
    accepted: 'a region such as us, or null',
  }),
})

/** Paths that the tool may ask. */
const allowedPaths = () =>
  z
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
    .describe('Allowed paths of the gateway_gateway tool: these paths of the base URL, and those below them.')

/**
 * The upstream `default`, for model calls that no route and no other upstream takes, and the paths that may be called
 * there.
 */
export const upstreamSection = section(() => ({
  provider: z
    .string()
    .refine((text) => PRESET_NAMES.includes(text) || isBaseUrl(text), 'not a known provider')
    .default(PRESETS[0].name)
    .meta({
      variable: 'GAZEWAY_UPSTREAM',
      flag: '--upstream',
      description: 'Model provider: a known provider, or the base URL of an OpenAI-compatible service.',
      accepted: `${PRESET_NAMES.join(', ')}, or a base URL such as http://localhost:8000/v1 (without credentials or query)`,
    }),
  protocol: z.enum(['openai', 'anthropic']).nullable().default(null).meta({
    description:
      "API of the provider: OpenAI's, or Anthropic's Messages. null: that of the known provider; OpenAI's for a base URL.",
    accepted: 'openai, anthropic or null',
  }),
  api_key: credential.nullable().default(null).meta({
    variable: 'GAZEWAY_UPSTREAM_API_KEY',
    description: 'API key of the provider.',
    accepted: 'a key without spaces, or null',
    secret: 'value',
  }),
  key_id: keyId.nullable().default(null).meta({
    description:
      "The provider's id of the key, such as OpenAI's api_key_id (key_…) or Anthropic's (apikey_…), by which gazeway reconcile compares its bill; null: none, or the hash of an OpenRouter key.",
    accepted: 'an id such as key_AbC123, never the key itself, or null',
  }),
  timeout_ms: milliseconds
    .default(120_000)
    .describe('Idle timeout of the upstream, before its first byte and between bytes.'),
  first_byte_timeout_ms: milliseconds
    .nullable()
    .default(null)
    .describe(
      'Timeout for the first byte of a reply, after which the next candidate of a route is tried; null: timeout_ms. An unstreamed reply begins when it is complete.',
    ),
  connect_timeout_ms: milliseconds.default(10_000).describe('Timeout for connecting to the upstream.'),
  max_retries: z.int().min(0).max(10).default(2).describe('Maximum retries of a call after transient errors.'),
  headers: headers.default({}).meta({ description: 'Headers added to all upstream calls.', secret: 'value' }),
  proxy,
  ...terms(),
  models: z
    .strictObject({
      primary: modelId
        .default('llm-4.20-multi-agent-beta-0309')
        .describe('The research model: web and social search, over the responses endpoint.'),
      fallback: modelId
        .default('llm-4.20-0309-reasoning')
        .describe('The reasoning model used when the responses endpoint fails.'),
      chat: modelId.default('llm-3-fast').describe('The model of chat completions without one.'),
    })
    .prefault({}),
  aliases: z
    .record(modelId, modelId)
    .default({})
    .describe("Model id → the provider's id for it; added to the provider's own aliases."),
  cloud: cloud(),
  allowed_paths: allowedPaths(),
}))
