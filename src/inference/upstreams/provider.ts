import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'
import { type CloudSettings, NO_CLOUD_SETTINGS, type PresetCloud } from '../../providers/cloud.ts'
import { keyIdOf } from '../../providers/key-id.ts'
import { createListedPrices, type ListedPrices } from '../../providers/listed-prices.ts'
import { aliasesOf, type Catalogue, OWN_MODELS, type Preset } from '../../providers/preset.ts'
import type { ClientPaid, PricedModel, UnknownPriceAtUpstream } from '../../providers/prices.ts'
import { presetAt, presetOf } from '../../providers/providers.ts'
import { VIA } from '../../wire/forwarding-loop.ts'
import { networkFetch } from '../../wire/network-fetch.ts'
import type { OwnProxy } from '../../wire/proxy-choice.ts'
import { type AnswerLimits, createAnswerLimits, type ModelLimits, UNKNOWN_LIMITS } from '../api/answer-limit.ts'
import { missingKey } from './missing-key.ts'

/**
 * Length from which a value is treated as a secret. Shorter ones occur in ordinary text, such as `test` in `latest`.
 */
const SHORTEST_SECRET = 8

/** Configuration of one upstream. */
export interface ProviderConfig {
  /** Its name in `upstreams`. Absent for the upstream `default`. */
  id?: string
  /** Name in records, if not {@link nameInRecords}. */
  name?: string
  provider: string
  /** Address that replaces the preset's. */
  base_url?: string | null
  /** API protocol. Null: that of the preset, or OpenAI's for a base URL. */
  protocol?: Preset['protocol'] | null
  api_key: string | null
  /** API keys, when there are several. */
  api_keys?: readonly string[]
  /** The provider's id of the key, and of each of several. */
  key_id?: string | null
  key_ids?: readonly (string | null)[]
  headers: Record<string, string>
  /** URL of its proxy, or `none`; null for the proxies of the environment. */
  proxy?: string | null
  /** Calls to models without a price. Null: free at the sandbox and known local servers, else `pricing.unknown`. */
  unknown_price?: UnknownPriceAtUpstream | null
  /** Keys of clients. Null: allowed at a known provider's own address. */
  own_keys?: 'allow' | 'refuse' | null
  /** True where the plans of persons pass to the provider. */
  passthrough_credentials?: boolean
  /** Service tier and region of its project, where a request names none. Null for the standard ones. */
  project_tier?: string | null
  project_region?: string | null
  aliases: Record<string, string>
  /** Its address and credentials in a cloud. */
  cloud?: CloudSettings
  models: Record<ModelRole, string>
  timeout_ms: number
  first_byte_timeout_ms?: number | null
  max_retries: number
}

/** Name of the upstream that the section `upstream` and its flags describe. */
export const DEFAULT_UPSTREAM = 'default'

/** Role of a model: `primary` research with search, `fallback` reasoning without it, `chat` conversation. */
export type ModelRole = 'primary' | 'fallback' | 'chat'

/** Requested model, its id at the upstream, the catalogue with its price, and what is known of its limits. */
export interface ModelChoice extends PricedModel {
  limits?: AnswerLimits
  /** True at a server of one's own, where a model without a price costs nothing. */
  isLocal?: boolean
}

/** Most tokens of a model, as far as known. */
export const limitsOf = ({ limits, upstream }: ModelChoice): ModelLimits => limits?.of(upstream) ?? UNKNOWN_LIMITS

/** Google's own API of an upstream that is also compatible with OpenAI's. */
export interface GoogleApi {
  /** Its base. */
  baseUrl: string
  /** Path of the compatible API below it. */
  compatible: string
}

/** One configured upstream: its address, credentials and model names. */
export interface Provider {
  /** Name in the configuration: `default`, or one of `upstreams`. */
  id: string
  /** Its section of the configuration, for errors. */
  section: string
  /** Name in records: its name in `upstreams`; for `default` the preset's, or the host of a custom base URL. */
  name: string
  /**
   * Name for callers, in errors and health: as `name`, but for a base URL the known provider at its host, else `default`.
   * Other hosts are for admins.
   */
  label: string
  /** Name of the known provider. Null for any other server. */
  vendor: string | null
  /** Base URL without trailing slash. */
  baseUrl: string
  /** API protocol of the provider. */
  protocol: Preset['protocol']
  /** Google's own API beside it. Null where there is none. */
  googleApi: GoogleApi | null
  apiKey: string | null
  /** The provider's id of the key, which is no secret. Null where none is known. */
  keyId: string | null
  /** The client whose credential takes the place of our key pays the provider itself. Null for our own keys. */
  paidBy: ClientPaid | null
  /** True where it may be called with a key of the client. */
  takesOwnKeys: boolean
  /** True where it may be called with the plan of a person. */
  takesOwnPlans: boolean
  /** Headers of each request: those of the configuration, and the mark of this process. */
  headers: Record<string, string>
  /** Secrets in the key and the headers, masked in errors and headers. Longest first. */
  secrets: readonly string[]
  /** Its proxy in the configuration; null for those of the environment. */
  proxy: OwnProxy | null
  /** Longest silence, in milliseconds. */
  timeoutMs: number
  /** Time limit for the first byte of a reply, in milliseconds. */
  firstByteMs: number
  maxRetries: number
  /** Resolves a model name to the provider's id. Without a name, the role's model. */
  resolve(model: string | undefined, role: ModelRole): ModelChoice
  /** Tells whether a name is one of Gazeway's own without an id at this upstream; `modelFor` then chooses a model. */
  isUnassigned(model: string): boolean
  /** True when the cost that answers state is believed: the known provider itself answers, not another address. */
  statesCost: boolean
  /** Known prices of its models. Empty for a base URL. */
  catalogue: Catalogue
  /** Tells whether closing a stream stops what the provider charges. Null when unknown. */
  stopsOnClose: boolean | null
  /** Path that tells what an answer has cost, by its id. Null when there is none. */
  generations: string | null
  /** Forms that it takes beyond the common form, and mends that its models do not need, by name. */
  accepts: readonly string[]
  /** Names with an id here: at `default` the roles' models first, then the aliases. */
  aliases: string[]
  /** Known token limits, by model. */
  limits: AnswerLimits
  /** True when its model list states the token limits of its models. */
  listsLimits: boolean
  /** Prices that its model list states. Null where it states none. */
  listing: ListedPrices | null
  /** Cloud whose credentials sign its requests. Null outside of clouds. */
  cloud: PresetCloud | null
  cloudSettings: CloudSettings
  /** True for the sandbox, which runs in this process. */
  inProcess: boolean
  /** Sends a request outside of calls: over the network, or to the sandbox in this process. */
  fetch(url: string, init?: RequestInit): Promise<Response>
  /** True when it has a key or needs none. */
  hasKey: boolean
  /**
   * Requires a key.
   *
   * @throws GazewayError `upstream_not_configured` naming both remedies, when a key is needed and missing
   */
  requireKey(): void
}

/**
 * Name of an upstream in records: its name in `upstreams`; for `default` the preset's, or the host of a base URL.
 *
 * @example nameInRecords({ provider: 'https://llm.example.com/v1' }) // 'llm.example.com'
 */
export const nameInRecords = ({ id, provider }: Pick<ProviderConfig, 'id' | 'provider'>): string =>
  id ?? (presetOf(provider) ? provider : new URL(provider).host)

/** Creates the provider of a configuration. */
export function createProvider(config: ProviderConfig): Provider {
  const { id = DEFAULT_UPSTREAM, base_url = null, timeout_ms, first_byte_timeout_ms = null } = config
  const section = config.id === undefined ? 'upstream' : `upstreams.${id}`
  const proxy = config.proxy ? { value: config.proxy, setting: `${section}.proxy` } : null
  const preset = presetOf(config.provider)
  const { cloud: cloudSettings = NO_CLOUD_SETTINGS } = config
  const cloud = preset?.cloud ?? null
  const missing = missingKey(config)
  const ofCloud = missing === null ? cloud?.address(cloudSettings) : undefined
  const baseUrl = (base_url ?? ofCloud ?? preset?.baseUrl ?? config.provider).replace(/\/+$/, '')
  // A map, since clients may ask for a model named `constructor`.
  const aliases = new Map(Object.entries({ ...(preset && aliasesOf(preset)), ...config.aliases }))
  const catalogue = preset?.models ?? {}
  const vendor = preset?.name ?? null
  const unknownPrice = config.unknown_price ?? (preset?.isFree ? 'free' : null)
  const project = projectOf(config, cloud?.isRegional?.(cloudSettings) ?? false)
  const deployed = modelsOf(cloudSettings.deployments)
  const ownModels = new Set(Object.values(OWN_MODELS))
  const isUnassigned = (model: string) => ownModels.has(model) && !aliases.has(model)
  const named = namesOf(config, aliases)
  const inProcess = config.provider === 'sandbox' && base_url === null
  const limits = createAnswerLimits(maxOutputs(catalogue))
  const listing = preset?.listsPrices ? createListedPrices(`${preset.baseUrl}/models`) : null
  const isLocal = preset !== undefined && preset.key === null
  return {
    id,
    section,
    name: config.name ?? nameInRecords(config),
    label: config.name ?? config.id ?? (preset ?? presetAt(config.provider))?.name ?? DEFAULT_UPSTREAM,
    vendor,
    baseUrl,
    protocol: config.protocol ?? preset?.protocol ?? 'openai',
    googleApi: googleApiAt(baseUrl, preset?.besideGoogleApi),
    apiKey: config.api_key,
    keyId: keyIdOf(preset, config.api_key, config.key_id ?? config.key_ids?.[0]),
    paidBy: null,
    takesOwnKeys: takesOwnKeys(config, preset),
    takesOwnPlans: config.passthrough_credentials ?? false,
    headers: { via: VIA, ...lowerCased(config.headers) },
    proxy,
    secrets: secretsOf(config),
    timeoutMs: timeout_ms,
    firstByteMs: first_byte_timeout_ms ?? timeout_ms,
    maxRetries: config.max_retries,
    catalogue,
    stopsOnClose: preset?.stopsOnClose?.stops ?? null,
    generations: preset?.generations ?? null,
    statesCost: base_url === null && (preset?.statesCost ?? false),
    accepts: base_url === null ? (preset?.accepts ?? []) : [],
    aliases: named.filter((model) => !isUnassigned(model)),
    isUnassigned,
    resolve(model, role) {
      const requested = model ?? config.models[role]
      const named = aliases.get(requested) ?? requested
      const upstream = deployed.get(named) ?? named
      return { requested, upstream, catalogue, vendor, listing, limits, isLocal, unknownPrice, project }
    },
    limits,
    listsLimits: preset?.listsLimits ?? false,
    listing,
    cloud,
    cloudSettings,
    inProcess,
    fetch: inProcess ? lazySandbox() : (url, init) => networkFetch(url, init, proxy),
    hasKey: missing === null,
    requireKey() {
      if (missing !== null) throw new GazewayError('upstream_not_configured', missing)
    },
  }
}

/** Tier and region of the provider's project, which answer where a request names none. */
const projectOf = ({ project_tier = null, project_region = null }: ProviderConfig, isRegional: boolean) => ({
  service_tier: project_tier,
  inference_geo: project_region ?? (isRegional ? 'regional' : null),
})

/** Models by their deployments. A deployment costs what its model does, whatever else has its name. */
function modelsOf(deployments: Readonly<Record<string, string>>): Map<string, string> {
  const deployed = new Map(Object.entries(deployments).map(([model, deployment]) => [deployment, model]))
  for (const model of Object.keys(deployments)) deployed.delete(model)
  return deployed
}

/** Names that clients may use. Roles name models of any upstream: where one goes is for the routing to say. */
function namesOf({ id, models }: ProviderConfig, aliases: ReadonlyMap<string, string>): string[] {
  const ofRoles = id === undefined ? Object.values(models) : []
  return [...new Set([...ofRoles, ...aliases.keys()])]
}

/** Google's own API at an address of the other one. Null for an address that does not end as it does at Google. */
const googleApiAt = (baseUrl: string, compatible?: string): GoogleApi | null =>
  compatible === undefined || !baseUrl.endsWith(compatible)
    ? null
    : { baseUrl: baseUrl.slice(0, -compatible.length), compatible }

/** Longest answers of the models of a preset, as far as it states them. */
const maxOutputs = (catalogue: Catalogue): ReadonlyMap<string, number> =>
  new Map(Object.entries(catalogue).flatMap(([id, { maxOutput }]) => (maxOutput ? [[id, maxOutput.tokens]] : [])))

/** Lower-cases header names: two spellings of one name would be sent twice. */
const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/**
 * The key and the credentials in header values. A short value is no secret but an ordinary word: many local servers
 * have the key `test`, `none` or `ollama`.
 */
function secretsOf({ api_key, api_keys = [], headers }: ProviderConfig): string[] {
  const values = Object.values(headers).flatMap((value) => [value, value.replace(/^(?:bearer|basic) +/i, '')])
  const long = [api_key ?? '', ...api_keys, ...values].filter((value) => value.length >= SHORTEST_SECRET)
  return [...new Set(long)].sort((a, b) => b.length - a.length)
}

/**
 * Tells whether clients may call an upstream with keys of their own. By default where the provider itself asks for a key:
 * another address may answer without one, at the cost of the operator. Clouds are called with the signature of ours.
 */
function takesOwnKeys({ own_keys = null, base_url = null }: ProviderConfig, preset: Preset | undefined): boolean {
  if (preset?.cloud) return false
  return own_keys === null ? base_url === null && (preset?.key ?? null) !== null : own_keys === 'allow'
}

/** Copies of a provider with one key each. They share the facts learned about it. */
export function withEachKey(
  provider: Provider,
  { provider: name, api_keys: keys = [], key_ids: ids = [] }: ProviderConfig,
): [Provider, ...Provider[]] {
  const others = keys.slice(1).map((apiKey, at) => ({ apiKey, keyId: keyIdOf(presetOf(name), apiKey, ids[at + 1]) }))
  return [provider, ...others.map((key) => ({ ...provider, ...key }))]
}

const loadSandbox = lazily(() => import('../sandbox/sandbox.ts'))

/** Sends to the sandbox, loaded on its first request. */
function lazySandbox(): Provider['fetch'] {
  let sandbox: Promise<{ fetch(request: Request): Promise<Response> }> | undefined
  return async (url, init) => {
    sandbox ??= loadSandbox().then(({ createSandbox }) => createSandbox())
    return (await sandbox).fetch(new Request(url, init))
  }
}
