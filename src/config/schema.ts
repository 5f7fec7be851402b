import { z } from 'zod'
import { isBaseUrl, isOrigin, isPlainPath, isStoreUrl } from './addresses.ts'

/** The upstreams that are known by name; any other `upstream.provider` is a base URL. */
export const PRESETS = ['xai', 'openai', 'openrouter', 'ollama', 'sandbox'] as const

const DAY_MS = 86_400_000

const milliseconds = z.int().min(1).max(DAY_MS)
const retentionDays = z.int().min(1).max(36_500).nullable().default(null)
const port = z.int().min(0).max(65_535)
const usd = z.number().min(0).max(1_000_000).multipleOf(0.000001)
const modelId = z
  .string()
  .regex(/^\S{1,200}$/)
  .meta({ accepted: 'a model id without spaces' })
const host = z
  .string()
  .regex(/^[\w.:-]{1,253}$/)
  .meta({ accepted: 'a host name or address' })
const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ accepted: 'an address of 0x and 40 hexadecimal digits' })
const rpcUrl = z
  .string()
  .max(2048)
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), 'not a URL')
const tokenText = z
  .string()
  .regex(/^[\x20-\x7e]{1,64}$/)
  .meta({ accepted: 'text of 1 to 64 characters' })
const credential = z.string().regex(/^[\x21-\x7e]{1,4096}$/)

const Upstream = z.strictObject({
  provider: z
    .string()
    .refine((text) => PRESETS.some((preset) => preset === text) || isBaseUrl(text), 'not a known provider')
    .default('xai')
    .meta({
      description: 'Where model calls go: a known provider, or the base URL of an OpenAI-compatible service.',
      accepted: `${PRESETS.join(', ')}, or a base URL such as http://localhost:8000/v1 (without credentials or query)`,
    }),
  api_key: credential.nullable().default(null).meta({
    description: 'The key that the provider asks for.',
    accepted: 'a key without spaces, or null',
    secret: 'value',
  }),
  timeout_ms: milliseconds
    .default(120_000)
    .describe('How long the upstream may be silent, before its first byte and between bytes.'),
  connect_timeout_ms: milliseconds.default(10_000).describe('How long connecting to the upstream may take.'),
  max_retries: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe('How often a call that failed for a passing reason is sent again.'),
  headers: z
    .record(
      z
        .string()
        .regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/)
        .meta({ accepted: 'a header name' }),
      z
        .string()
        .regex(/^[\x20-\x7e]{0,4096}$/)
        .meta({ accepted: 'text on one line' }),
    )
    .default({})
    .meta({ description: 'Headers added to every upstream call.', secret: 'value' }),
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
      '/completions',
      '/embeddings',
      '/moderations',
      '/tokenize-text',
      '/api-key',
    ])
    .describe('What the gateway_gateway tool may reach: these paths below the base URL, and what is below them.'),
})

const Store = z.strictObject({
  url: z.string().max(4096).refine(isStoreUrl, 'not a store').nullable().default(null).meta({
    description: 'Where records live. Unset: gazeway.db in the data folder. A relative path starts there too.',
    accepted: 'sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, or null',
    secret: 'url',
  }),
})

const Http = z.strictObject({
  host: host.default('127.0.0.1').describe('The address to listen on.'),
  port: port.default(8811).describe('The port of the gateway; 0 takes a free one.'),
  platform_port: port.default(8812).describe('The port of the platform, socket and console; 0 takes a free one.'),
  max_body_bytes: z
    .int()
    .min(1024)
    .max(1024 ** 3)
    .default(4 * 1024 * 1024)
    .describe('The largest request body, in bytes.'),
  allowed_hosts: z
    .array(host)
    .max(200)
    .default([])
    .describe('Host names, beside the loopback ones, that requests may be addressed to.'),
  allowed_origins: z
    .array(
      z.string().refine(isOrigin, 'not an origin').meta({ accepted: 'an origin such as https://console.example.com' }),
    )
    .max(200)
    .default([])
    .describe("Web origins, beside the service's own, whose pages may call it."),
  header_timeout_ms: milliseconds.default(10_000).describe('How long a client may take to send its headers.'),
  request_timeout_ms: milliseconds.default(60_000).describe('How long a client may take to send a whole request.'),
  rate_limit: z
    .strictObject({
      requests_per_minute: z
        .int()
        .min(1)
        .max(1_000_000)
        .nullable()
        .default(null)
        .describe('Requests that one key may make in a minute; null is no limit.'),
    })
    .prefault({}),
})

const AgentGateway = z.strictObject({
  url: z.string().max(2048).refine(isBaseUrl, 'not a base URL').nullable().default(null).meta({
    description: 'The agent gateway that the platform passes /v1 on to. Unset: the gateway of this machine.',
    accepted: 'a base URL such as http://127.0.0.1:8642 (without credentials or query), or null',
  }),
  key: credential.nullable().default(null).meta({
    description: 'The key that the agent gateway asks for.',
    accepted: 'a key without spaces, or null',
    secret: 'value',
  }),
  timeout_ms: milliseconds
    .default(600_000)
    .describe('How long the agent gateway may be silent, before its first byte and between bytes.'),
})

const Identity = z.strictObject({
  api_key: z
    .string()
    .regex(/^[\x21-\x7e]{16,4096}$/)
    .nullable()
    .default(null)
    .meta({
      description: 'A fixed admin key, for containers; other keys work beside it.',
      accepted: 'a key of at least 16 characters without spaces, or null',
      secret: 'value',
    }),
})

const Gaze = z.strictObject({
  min_score: z.number().min(0).max(1).default(0.6).describe('The lowest attestation score that passes.'),
  max_age_seconds: z.int().min(1).max(86_400).default(900).describe('How old an attestation may be when it is used.'),
  records_needed: z.int().min(1).max(10_000).default(20).describe('Gaze records that an attestation needs.'),
  retention_days: retentionDays.describe('Days that gaze records are kept; null keeps them.'),
})

const Audit = z.strictObject({
  store_content: z.boolean().default(false).describe('Whether call records keep prompts and answers.'),
  retention_days: retentionDays.describe('Days that call records are kept; null keeps them.'),
})

const Pricing = z.strictObject({
  margin_usd: usd.default(0.08).describe('Added to the price of every metered call, in USD.'),
  price_per_1k_tokens_usd: usd
    .default(0.003)
    .describe('Price of 1,000 tokens of a model that is not in models, in USD.'),
  models: z.record(modelId, usd).default({}).describe('Model id → its price of 1,000 tokens, in USD.'),
  token: z
    .string()
    .regex(/^[\w.-]{1,32}$/)
    .default('pathUSD')
    .meta({ description: 'The token that settlements are paid in.', accepted: 'a token symbol such as pathUSD' }),
  network: z.enum(['test', 'main']).default('test').describe('The network that settlements are paid on.'),
})

const Wallet = z.strictObject({
  private_key: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .nullable()
    .default(null)
    .meta({
      description: 'The private key of the account that settles payments on the chain and pays their gas.',
      accepted: '0x and 64 hexadecimal digits, or null',
      secret: 'value',
    }),
  default_credit_limit_usd: usd
    .default(10)
    .describe('How far a key without a credit limit of its own may spend beyond its deposits, in USD.'),
  max_output_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(8192)
    .describe('The most tokens that a metered call may generate; also what one that names no max_tokens gets.'),
  max_prompt_bytes: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024)
    .describe('The largest prompt of a metered call, in bytes of UTF-8.'),
  search_tokens: z
    .int()
    .min(0)
    .max(10_000_000)
    .default(32_768)
    .describe('Tokens of search results that are reserved for a metered call with search tools.'),
  call_timeout_ms: milliseconds
    .default(600_000)
    .describe('How long a metered call may take in all, upstream retries and fallback included.'),
})

const Mpp = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe('Whether requests to the /v1 of the platform are paid for, each by itself, over HTTP 402 (MPP).'),
  secret_key: z
    .string()
    .regex(/^[\x21-\x7e]{32,4096}$/)
    .nullable()
    .default(null)
    .meta({
      description: 'What challenges are signed with; the same in all processes that serve one platform.',
      accepted: 'at least 32 characters without spaces, or null',
      secret: 'value',
    }),
  realm: z
    .string()
    .regex(/^[\w.:-]{1,128}$/)
    .default('gazeway')
    .meta({ description: 'What challenges call this platform.', accepted: 'a name without spaces' }),
  methods: z
    .array(z.enum(['evm', 'tempo']))
    .min(1)
    .max(2)
    .default(['evm'])
    .describe('How payments are made: evm is a token with EIP-3009 on any EVM chain, tempo is the Tempo network.'),
  amount_usd: usd.min(0.000001).default(0.09).describe('What one request costs, in USD; a token counts as one USD.'),
  recipient: evmAddress.nullable().default(null).describe('The address that is paid.'),
  evm: z
    .strictObject({
      chain_id: z
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe('The chain, such as 84532 (Base Sepolia, a test network).'),
      rpc_url: rpcUrl.nullable().default(null).meta({
        description: 'A node of that chain, such as https://sepolia.base.org.',
        accepted: 'an http or https URL, or null',
        secret: 'value',
      }),
      token: evmAddress
        .nullable()
        .default(null)
        .describe('The token, such as 0x036CbD53842c5426634e7929541eC2318f3dCF7e (USDC on Base Sepolia).'),
      token_name: tokenText.nullable().default(null).describe("The name in the token's EIP-712 domain, such as USDC."),
      token_version: tokenText
        .nullable()
        .default(null)
        .describe("The version in the token's EIP-712 domain, such as 2."),
      decimals: z.int().min(6).max(36).default(6).describe('Decimal places of the token.'),
    })
    .prefault({}),
  tempo: z
    .strictObject({
      chain_id: z.int().min(1).default(42_431).describe('The chain; 42431 is the test network.'),
      rpc_url: rpcUrl.nullable().default(null).meta({
        description: "A node of that chain. Unset: the test network's own, https://rpc.moderato.tempo.xyz.",
        accepted: 'an http or https URL, or null',
        secret: 'value',
      }),
      token: evmAddress
        .default('0x20c0000000000000000000000000000000000000')
        .describe('The token; pathUSD unless set.'),
    })
    .prefault({}),
})

const Log = z.strictObject({
  level: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('The least important kind of line that is logged to stderr.'),
})

/**
 * Everything that can be configured: defaults, ranges, descriptions and which leaves are secret. config.json, the
 * environment, flags, dot-notation changes and the reference all follow it. Unknown keys are errors.
 *
 * Metadata: `secret` is `value` where the whole leaf (or each entry's value) is one, `url` where a URL may hold a
 * password; `accepted` says in words what the schema alone does not show.
 */
export const Config = z.strictObject({
  upstream: Upstream.prefault({}),
  store: Store.prefault({}),
  http: Http.prefault({}),
  agent_gateway: AgentGateway.prefault({}),
  identity: Identity.prefault({}),
  gaze: Gaze.prefault({}),
  audit: Audit.prefault({}),
  pricing: Pricing.prefault({}),
  wallet: Wallet.prefault({}),
  mpp: Mpp.prefault({}),
  log: Log.prefault({}),
})

/** The whole configuration, every default filled in. */
export type Config = z.infer<typeof Config>

/** What config.json holds: any part of the configuration. */
export type ConfigDocument = z.input<typeof Config>

/**
 * Checks a document and fills in the defaults. Compiled checks would take longer to make than these few runs take: at a
 * cold start they cost 4 ms against 1.3.
 */
export function checkConfig(document: unknown): z.ZodSafeParseResult<Config> {
  return Config.safeParse(document, { jitless: true })
}
