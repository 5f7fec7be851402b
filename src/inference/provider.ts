import { GazewayError } from '../errors.ts'
import { aliasesOf, type Catalogue, OWN_MODELS, type Preset } from '../providers/preset.ts'
import type { PricedModel } from '../providers/prices.ts'
import { presetOf } from '../providers/providers.ts'
import { lazily } from '../wire/lazily.ts'
import { VIA } from '../wire/via.ts'
import { type AnswerLimits, createAnswerLimits } from './answer-limit.ts'
import { missingKey } from './missing-key.ts'
import { createUsageRequests, type UsageRequests } from './usage-request.ts'

/** Shorter values are words of ordinary replies, such as the `test` in `latest`. */
const SHORTEST_SECRET = 8

/** One upstream of the configuration, as far as the provider needs it. */
export interface ProviderConfig {
  /** Its name among `upstreams`; absent for the upstream `default`. */
  id?: string
  /** Its name in records, where that is not {@link nameInRecords}. */
  name?: string
  provider: string
  /** Its address in place of the known provider's. */
  base_url?: string | null
  /** The API that it speaks; the preset's where that is null, and OpenAI's for a base URL. */
  protocol?: Preset['protocol'] | null
  api_key: string | null
  /** All of its keys, where it has several. */
  api_keys?: readonly string[]
  headers: Record<string, string>
  aliases: Record<string, string>
  models: Record<ModelRole, string>
  timeout_ms: number
  first_byte_timeout_ms?: number | null
  max_retries: number
}

/** The name of the upstream that the section `upstream` and its flags describe. */
export const DEFAULT_UPSTREAM = 'default'

/** What a model is used for: `primary` research with search, `fallback` reasoning without it, `chat` conversation. */
export type ModelRole = 'primary' | 'fallback' | 'chat'

/** The model that a request names, the upstream's id for it, and the catalogue that has its price. */
export type ModelChoice = PricedModel

/** One configured upstream: where it is, what opens it, and what it calls the models. */
export interface Provider {
  /** Its name in the configuration: `default`, or one of `upstreams`. */
  id: string
  /** The section of the configuration that it is in, for errors. */
  section: string
  /** Name in records: its name among `upstreams`; of `default` the preset's, or the host of a custom base URL. */
  name: string
  /** Without a trailing slash. */
  baseUrl: string
  /** The API that it speaks. */
  protocol: Preset['protocol']
  /** The path of the base URL: `/v1`, or empty. */
  pathname: string
  apiKey: string | null
  /** Sent with each request: those of the configuration, and which process it comes from. */
  headers: Record<string, string>
  /** What of the two above is masked in errors and headers, longest first. */
  secrets: readonly string[]
  /** How long it may be silent. */
  timeoutMs: number
  /** How long it may take until a reply begins. */
  firstByteMs: number
  maxRetries: number
  /** The provider's id for one of ours; without an id, the role's model. */
  resolve(model: string | undefined, role: ModelRole): ModelChoice
  /** Whether a model is one of our own names that this upstream has no id for; `modelFor` finds one for it. */
  isUnassigned(model: string): boolean
  /** What is known of the prices of its models; empty for a base URL. */
  catalogue: Catalogue
  /** Which of its models can be asked for the usage of their streams, as far as that has shown. */
  usageRequests: UsageRequests
  /** The names that have an id here: the models of the roles, in their order, then the other aliases. */
  aliases: string[]
  /** By which name its models take the limit of an answer. */
  limits: AnswerLimits
  /** Whether it runs in this process: the sandbox. */
  inProcess: boolean
  /** Sends a request beside all calls: the network's `fetch`, or the sandbox in this process. */
  fetch(request: Request): Promise<Response>
  /** Whether it has the key that it needs, or needs none. */
  hasKey: boolean
  /** @throws GazewayError `upstream_not_configured` naming both ways out, when there is no key and one is needed */
  requireKey(): void
}

/** The name of an upstream in records: that among `upstreams`; of `default` the preset's, or the host of a base URL. */
export const nameInRecords = ({ id, provider }: Pick<ProviderConfig, 'id' | 'provider'>): string =>
  id ?? (presetOf(provider) ? provider : new URL(provider).host)

/** The provider that the configuration names. */
export function createProvider(config: ProviderConfig): Provider {
  const { id = DEFAULT_UPSTREAM, base_url = null, timeout_ms, first_byte_timeout_ms = null } = config
  const preset = presetOf(config.provider)
  const baseUrl = (base_url ?? preset?.baseUrl ?? config.provider).replace(/\/+$/, '')
  const missing = missingKey(config)
  // A map: clients may ask for any model, `constructor` too, which every object has.
  const aliases = new Map(Object.entries({ ...(preset && aliasesOf(preset)), ...config.aliases }))
  const catalogue = preset?.models ?? {}
  const ownModels = new Set(Object.values(OWN_MODELS))
  const isUnassigned = (model: string) => ownModels.has(model) && !aliases.has(model)
  const named = [...new Set([...Object.values(config.models), ...aliases.keys()])]
  const inProcess = config.provider === 'sandbox' && base_url === null
  return {
    id,
    section: config.id === undefined ? 'upstream' : `upstreams.${id}`,
    name: config.name ?? nameInRecords(config),
    baseUrl,
    protocol: config.protocol ?? preset?.protocol ?? 'openai',
    pathname: new URL(baseUrl).pathname.replace(/\/$/, ''),
    apiKey: config.api_key,
    headers: { via: VIA, ...lowerCased(config.headers) },
    secrets: secretsOf(config),
    timeoutMs: timeout_ms,
    firstByteMs: first_byte_timeout_ms ?? timeout_ms,
    maxRetries: config.max_retries,
    catalogue,
    usageRequests: createUsageRequests(),
    aliases: named.filter((model) => !isUnassigned(model)),
    isUnassigned,
    resolve(model, role) {
      const requested = model ?? config.models[role]
      return { requested, upstream: aliases.get(requested) ?? requested, catalogue }
    },
    limits: createAnswerLimits(),
    inProcess,
    fetch: inProcess ? lazySandbox() : (request) => fetch(request),
    hasKey: missing === null,
    requireKey() {
      if (missing !== null) throw new GazewayError('upstream_not_configured', missing)
    },
  }
}

/** Names of headers mean the same in each spelling; two of them would go out twice. */
const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/**
 * The key, and the values of headers with the credentials in them. A shorter value is no secret but a word of any reply:
 * many local servers are given the key `test`, `none` or `ollama`.
 */
function secretsOf({ api_key, api_keys = [], headers }: ProviderConfig): string[] {
  const values = Object.values(headers).flatMap((value) => [value, value.replace(/^(?:bearer|basic) +/i, '')])
  const long = [api_key ?? '', ...api_keys, ...values].filter((value) => value.length >= SHORTEST_SECRET)
  return [...new Set(long)].sort((a, b) => b.length - a.length)
}

/** The same provider for each of its keys: what is learned of it they share. */
export function withEachKey(provider: Provider, keys: readonly string[]): [Provider, ...Provider[]] {
  const [first = provider.apiKey, ...others] = keys
  return [{ ...provider, apiKey: first }, ...others.map((apiKey) => ({ ...provider, apiKey }))]
}

const loadSandbox = lazily(() => import('./sandbox/sandbox.ts'))

/** The sandbox, loaded on its first request. */
function lazySandbox(): Provider['fetch'] {
  let sandbox: Promise<{ fetch(request: Request): Promise<Response> }> | undefined
  return async (request) => {
    sandbox ??= loadSandbox().then(({ createSandbox }) => createSandbox())
    return (await sandbox).fetch(request)
  }
}
