import type { PresetCloud } from './cloud.ts'
import type { PricedFields } from './priced-fields.ts'

/** Roles of a provider's models, named as in {@link OWN_MODELS}. */
export type Role = 'research' | 'reasoning' | 'fast_reasoning' | 'chat'

/** Page that lists which providers stop to charge for a stream whose connection is closed, read on 2026-11-26. */
export const STREAM_CANCELLATION = 'https://openrouter.ai/docs/api-reference/streaming'

/**
 * Gazeway's own model names, for the configured roles and for metered calls. A preset maps each to one of its models.
 * An upstream without a mapping answers with the first model that it lists.
 */
export const OWN_MODELS: Readonly<Record<Role, string>> = {
  research: 'llm-4.20-multi-agent-beta-0309',
  reasoning: 'llm-4.20-0309-reasoning',
  fast_reasoning: 'llm-4-1-fast-reasoning',
  chat: 'llm-3-fast',
}

/** Own names that metered calls may use. They keep the flat price unless the configuration sets one. */
export const FLAT_MODELS: ReadonlySet<string> = new Set([
  OWN_MODELS.research,
  OWN_MODELS.reasoning,
  OWN_MODELS.fast_reasoning,
])

/** Kinds of content beside text whose tokens may have rates of their own. */
export const MEDIA = ['audio', 'image', 'video'] as const
export type Medium = (typeof MEDIA)[number]

export type MediumKind = `${Medium}_input` | `cached_${Medium}_input` | `${Medium}_output`

/** Kinds of tokens of a medium: in the prompt, of that read from the cache, and in the answer. */
export const kindsOf = (medium: Medium) =>
  [`${medium}_input`, `cached_${medium}_input`, `${medium}_output`] as const satisfies readonly MediumKind[]

/** A record with a value for each kind of tokens of media. */
export const eachMediumKind = <Value>(of: (kind: MediumKind) => Value): Record<MediumKind, Value> =>
  Object.fromEntries(MEDIA.flatMap(kindsOf).map((kind) => [kind, of(kind)])) as Record<MediumKind, Value>

/**
 * US dollars per 1,000,000 tokens. An unknown rate falls back to the input rate. Those of speech, images and videos
 * default to those of text.
 */
export interface TokenPrices extends Readonly<Partial<Record<MediumKind, number | undefined>>> {
  input: number
  output: number
  /** Rate of prompt tokens read from the provider's cache. */
  cached_input?: number | undefined
  /** Rate of prompt tokens written to the provider's cache, when it charges more for them. */
  cache_write?: number | undefined
  /** The same for entries kept for an hour. Defaults to `cache_write`. */
  cache_write_1h?: number | undefined
}

/** Kinds of tokens that may have a rate of their own. */
export const PRICE_KINDS = [
  ...(['input', 'output', 'cached_input', 'cache_write', 'cache_write_1h'] as const),
  ...MEDIA.flatMap(kindsOf),
] as const

const ofMedium: ReadonlySet<string> = new Set(MEDIA.flatMap(kindsOf))

/** Rate of a kind of tokens. An unknown one falls back to the rate of the next wider kind. */
export function rateIn(prices: TokenPrices, kind: (typeof PRICE_KINDS)[number]): number {
  const own = prices[kind]
  if (own !== undefined) return own
  if (kind === 'cache_write_1h') return rateIn(prices, 'cache_write')
  if (!ofMedium.has(kind)) return prices.input
  if (kind.endsWith('_output')) return prices.output
  if (!kind.startsWith('cached_')) return prices.input
  return prices[kind.slice('cached_'.length) as `${Medium}_input`] ?? rateIn(prices, 'cached_input')
}

/** The dearer rate of each kind that one of two prices has. */
export function dearerPrices(one: TokenPrices, other: TokenPrices): TokenPrices {
  const kinds = PRICE_KINDS.filter((kind) => one[kind] !== undefined || other[kind] !== undefined)
  const rates = kinds.map((kind) => [kind, Math.max(rateIn(one, kind), rateIn(other, kind))])
  return { ...one, ...Object.fromEntries(rates) }
}

/** Prices of a model. */
export interface ModelPrices extends TokenPrices {
  /** Prices of all tokens of a call whose prompt has more than `above` tokens. */
  long_prompt?: (TokenPrices & { above: number }) | undefined
  /** Prices by `service_tier`, such as `flex` and `priority`. */
  service_tiers?: Readonly<Record<string, TokenPrices>> | undefined
  /** Prices of what is charged by the piece, in US dollars each. */
  units?: UnitPrices | undefined
}

/** Things charged by the piece whose price may be set. */
const PRICED_UNITS = ['search', 'image', 'audio_second'] as const
export type UnitPrices = Readonly<Partial<Record<(typeof PRICED_UNITS)[number], number | undefined>>>

/** Known models of a provider, by id. */
export type Catalogue = Readonly<Record<string, PresetModel>>

/** Known data of one model. */
export interface PresetModel {
  prices: ModelPrices | 'unknown'
  /** Page that states the price. */
  source: string
  /** Day or month the page was read. */
  date: string
  /** Most tokens of an answer, where the provider's list does not state them, with the page that does. */
  maxOutput?: { tokens: number; source: string }
}

/** A kind of key that reads an account's bill and asks no model. */
export interface AdminKey {
  variable: string
  /** Page that issues such keys. */
  page: string
  /** Beginning of such keys. Null where other keys begin alike. */
  prefix: string | null
}

/**
 * A provider known by name. To add one, write a file with such a record and a line in `providers.ts`. The
 * configuration, its variables, `--help`, the manifests, the documentation tables and the console are derived from it.
 */
export interface Preset {
  /** Value of `GAZEWAY_UPSTREAM`. */
  name: string
  /** Display name. */
  label: string
  baseUrl: string
  /** API protocol of the provider. */
  protocol: 'openai' | 'anthropic'
  /**
   * Path of its OpenAI-compatible API below the base of Google's own API, where it has both: requests of the latter are
   * then passed on as they are. Absent elsewhere.
   */
  besideGoogleApi?: string
  /** The provider's own environment variable for its key, and the page that issues keys. Null when no key is needed. */
  key: { variable: string; page: string } | null
  /** Addresses of its upstreams, and credentials beside a key. Absent outside of clouds. */
  cloud?: PresetCloud
  /** Models of the roles. Gazeway's own names resolve to them. */
  roles: Partial<Record<Role, string>>
  /** Additional names: name used by clients → the provider's id. */
  aliases?: Record<string, string>
  /** True when its model list states how many tokens an answer may have. */
  listsLimits?: true
  /** True when its model list states prices. */
  listsPrices?: true
  /** Providers that ask the same for models which the catalogue lists for them alone. */
  pricedLike?: readonly string[]
  /** True where answers state their cost, see `statedCost`. */
  statesCost?: true
  /**
   * Forms that it takes beyond the common one: several system messages, wherever they stand; files by their address;
   * marks for Anthropic's prompt cache; a key of its cache, or the id of a conversation, see `cacheKeyFor`.
   */
  accepts?: readonly ('system_first' | 'file_urls' | 'cache_marks' | 'cache_key' | 'conversation_id')[]
  /** True where calls cost nothing: the sandbox and servers of one's own. */
  isFree?: true
  /** Fields of requests that change the model or the price. */
  pricedFields: PricedFields
  /** Models by id. Empty when the server's owner installs the models. */
  models: Catalogue
  /**
   * Tells whether the provider stops to generate, and to charge, once the connection of a stream is closed, with the
   * page that says so. Absent when unknown. Requests without a stream are charged whole at every provider.
   */
  stopsOnClose?: { stops: boolean; source: string }
  /** Path, below the base URL, that tells what an answer with a given id has cost. Absent when there is none. */
  generations?: string
  /** True where the provider's id of a key is the key's SHA-256. */
  hashesKeys?: true
  /** Kind of key that reads what the provider billed. Absent where Gazeway reads no such API. */
  adminKey?: AdminKey
}

/** Maps names to a provider's model ids. Names not in the map are sent to the upstream unchanged. */
export function aliasesOf({ roles, aliases }: Preset): Record<string, string> {
  const own = Object.entries(roles).map(([role, id]) => [OWN_MODELS[role as Role], id] as const)
  return { ...Object.fromEntries(own), ...aliases }
}
