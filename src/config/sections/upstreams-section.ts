import * as z from 'zod'
import { PRESET_NAMES } from '../../providers/providers.ts'
import { isBaseUrl } from '../addresses.ts'
import { cloud } from './cloud-settings.ts'
import { lazySchema } from './section.ts'
import {
  credential,
  headers,
  keyId,
  milliseconds,
  modelGlob,
  modelId,
  ownKeys,
  projectDefault,
  proxy,
  unknownPrice,
  upstreamName,
} from './setting-values.ts'

/** An upstream beside `default`. */
const namedUpstream = lazySchema(() =>
  z.strictObject({
    provider: z
      .string()
      .refine((text) => PRESET_NAMES.includes(text) || isBaseUrl(text), 'not a known provider')
      .nullable()
      .default(null)
      .meta({
        description: 'A known provider, or the base URL of a service; null: the known provider of the same name.',
        accepted: `${PRESET_NAMES.join(', ')}, or a base URL such as http://localhost:8000/v1 (without credentials or query)`,
      }),
    base_url: z.string().refine(isBaseUrl, 'not a base URL').nullable().default(null).meta({
      description: "Base URL that replaces the known provider's, such as that of a proxy.",
      accepted: 'a base URL such as http://localhost:8000/v1 (without credentials or query), or null',
    }),
    protocol: z.enum(['openai', 'anthropic']).nullable().default(null).meta({
      description: 'Same as upstream.protocol.',
      accepted: 'openai, anthropic or null',
    }),
    api_keys: z
      .array(credential.meta({ accepted: 'a key without spaces' }))
      .max(50)
      .default([])
      .meta({
        description: 'API keys, in the order in which they are tried.',
        secret: 'value',
      }),
    key_ids: z.array(keyId.nullable()).max(50).default([]).meta({
      description: 'Id of each key, in the order of api_keys, as upstream.key_id.',
      accepted: 'ids such as key_AbC123, never the keys themselves, or null for a key without one',
    }),
    models: z
      .array(modelGlob)
      .max(200)
      .default([])
      .describe('Globs of the models that the upstream serves; routes take precedence.'),
    aliases: z.record(modelId, modelId).default({}).describe("Model id → the provider's id for it."),
    cloud: cloud().describe('As upstream.cloud, for Azure and other clouds.'),
    headers: headers.default({}).meta({ description: 'Headers added to all calls to this upstream.', secret: 'value' }),
    proxy: proxy.meta({ ...proxy.meta(), description: 'As upstream.proxy.' }),
    unknown_price: unknownPrice.describe('As upstream.unknown_price.'),
    own_keys: ownKeys.describe('As upstream.own_keys.'),
    passthrough_credentials: z.boolean().default(false).describe('As upstream.passthrough_credentials.'),
    project_tier: projectDefault.meta({
      description: 'As upstream.project_tier.',
      accepted: 'a service tier such as priority, or null',
    }),
    project_region: projectDefault.meta({
      description: 'As upstream.project_region.',
      accepted: 'a region such as us, or null',
    }),
    weight: z.number().min(0.001).max(1000).default(1).describe('Weight in weighted routes that give none.'),
    timeout_ms: milliseconds.default(120_000).describe('As upstream.timeout_ms.'),
    first_byte_timeout_ms: milliseconds.nullable().default(null).describe('As upstream.first_byte_timeout_ms.'),
    connect_timeout_ms: milliseconds.default(10_000).describe('As upstream.connect_timeout_ms.'),
  }),
)

/** The upstreams beside `default`, by name. */
export const upstreamsSection = lazySchema(() =>
  z
    .record(upstreamName, namedUpstream())
    .default({})
    .meta({
      description:
        'Additional model providers by name, each with provider, base_url, protocol, api_keys, key_ids, models, aliases, cloud, headers, proxy, unknown_price, own_keys, passthrough_credentials, project_tier, project_region, weight, ' +
        'timeout_ms, first_byte_timeout_ms and connect_timeout_ms. A call to NAME/MODEL goes to the upstream of that name.',
    }),
)
