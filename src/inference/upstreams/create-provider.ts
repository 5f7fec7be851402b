import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'
import { NO_CLOUD_SETTINGS } from '../../providers/cloud.ts'
import { keyIdOf } from '../../providers/key-id.ts'
import { createListedPrices } from '../../providers/listed-prices.ts'
import { aliasesOf, type Catalogue, OWN_MODELS, type Preset } from '../../providers/preset.ts'
import { presetAt, presetOf } from '../../providers/providers.ts'
import { VIA } from '../../wire/forwarding-loop.ts'
import { networkFetch } from '../../wire/network-fetch.ts'
import { createAnswerLimits } from '../api/answer-limit.ts'
import { missingKey } from './missing-key.ts'
import { DEFAULT_UPSTREAM, type GoogleApi, type Provider } from './provider.ts'
import { nameInRecords, type ProviderConfig } from './provider-config.ts'

/**
 * Length from which a value is treated as a secret. Shorter ones occur in ordinary text, such as `test` in `latest`.
 */
const SHORTEST_SECRET = 8

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
