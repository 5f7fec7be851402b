import { isIPv6 } from 'node:net'
import * as z from 'zod'
import { UNKNOWN_PRICES_AT_UPSTREAM } from '../../providers/prices.ts'
import { isProxyUrl, NO_PROXY } from '../../wire/proxy-choice.ts'

const DAY_MS = 86_400_000

/** A duration from one millisecond to a day. */
export const milliseconds = z.int().min(1).max(DAY_MS)

/** Retention in days, up to 100 years. Null, the default, keeps records. */
export const retentionDays = z.int().min(1).max(36_500).nullable().default(null)

/** A TCP port. 0 takes a free one. */
export const port = z.int().min(0).max(65_535)

/** An amount in USD, in whole micro-dollars. */
export const usd = z.number().min(0).max(1_000_000).multipleOf(0.000001)

/** A glob of model ids: `*` matches any characters. */
export const modelGlob = z
  .string()
  .regex(/^[^\s\p{Cc}\p{Surrogate}]{1,200}$/u)
  .meta({ accepted: 'a model id, or a glob such as gpt-*' })

/** Headers of one request or connection, set where it is sent (RFC 9110, sections 7.2, 7.6.1, 8.6 and 10.1.1). */
const OF_A_REQUEST: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
])

/** Headers by name. */
export const headers = z.record(
  z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/)
    .refine((name) => !OF_A_REQUEST.has(name.toLowerCase()))
    .meta({ accepted: `a header name; not ${[...OF_A_REQUEST].join(', ')}, which each request sets itself` }),
  z
    .string()
    .regex(/^[\x20-\x7e]{0,4096}$/)
    .meta({ accepted: 'text on one line' }),
)

/** Name of an upstream in `upstreams`. */
export const upstreamName = z
  .string()
  .regex(/^(?!default$|constructor$|prototype$)[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
  .meta({
    accepted:
      'a name of letters, digits, "-" and "_", without "/"; the name "default" is reserved for the section upstream',
  })

/** A provider's id of an API key. Secrets that begin as those of OpenAI, Anthropic and OpenRouter are refused. */
export const keyId = z
  .string()
  .regex(/^(?!sk-)[\w.:-]{1,128}$/)
  .meta({ accepted: 'an id such as key_AbC123, never the key itself' })

/** Id of a model. */
export const modelId = z
  .string()
  .regex(/^[^\s\p{Cc}\p{Surrogate}]{1,200}$/u)
  .meta({ accepted: 'a model id without spaces' })

/** A host name or address, without a port. */
export const host = z
  .string()
  .regex(/^[\w.:-]{1,253}$/)
  .refine((text) => !text.includes(':') || isIPv6(text), 'not a host')
  .meta({ accepted: 'a host name or address, without a port' })

/** An address on an EVM chain, in any case. */
export const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ accepted: 'an address of 0x and 40 hexadecimal digits' })

/** Address of an EVM node, which may contain a key. */
export const rpcUrl = z
  .string()
  .max(2048)
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), 'not a URL')

/** A text in a token's EIP-712 domain. */
export const tokenText = z
  .string()
  .regex(/^[\x20-\x7e]{1,64}$/)
  .meta({ accepted: 'text of 1 to 64 characters' })

/** Proxy of an upstream: a URL, which may contain a password, `none`, or null for those of the environment. */
export const proxy = z
  .string()
  .max(2048)
  .refine((text) => text === NO_PROXY || isProxyUrl(text), 'not a proxy')
  .nullable()
  .default(null)
  .meta({
    description:
      'URL of the HTTP proxy to the provider, with its name and password if it asks for them; none: connect without a proxy. null: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY of the environment.',
    accepted: 'a URL such as http://proxy.example.com:3128, none or null',
    secret: 'value',
  })

/** A key that is sent in a header. */
export const credential = z.string().regex(/^[\x21-\x7e]{1,4096}$/)

/** Calls to models without a price, at one upstream. */
export const unknownPrice = z.enum(UNKNOWN_PRICES_AT_UPSTREAM).nullable().default(null).meta({
  accepted: 'refuse, dearest, flat, free or null',
})

/** Keys of clients for the provider of an upstream. */
export const ownKeys = z.enum(['allow', 'refuse']).nullable().default(null).meta({
  accepted: 'allow, refuse or null',
})

/** Tier or region of a provider's project. */
export const projectDefault = z
  .string()
  .regex(/^[\w.-]{1,32}$/)
  .nullable()
  .default(null)
