import { GazewayError } from '../errors.ts'
import { type CloudSettings, cloudSettings, lackingSettings, NO_CLOUD_SETTINGS } from '../providers/cloud.ts'
import { keyVariableOf } from '../providers/key-variable.ts'
import { presetOf } from '../providers/providers.ts'
import { isObject } from '../text/json.ts'
import type { Config, ConfigDocument } from './config-schema.ts'
import type { Environment } from './environment.ts'
import { valuesAt } from './layers.ts'
import { REDACTED } from './redact.ts'
import { credential } from './sections/setting-values.ts'

/** An entry of `upstreams` in a document, without its defaults. */
export type UpstreamEntry = NonNullable<ConfigDocument['upstreams']>[string]

/** Fields that belong to an upstream's address, as its headers do. */
const GIVEN = ['api_keys', 'key_ids'] as const

/** Known provider or base URL of an upstream. Null when it names neither. */
export function providerOf(name: string, { provider, base_url }: UpstreamEntry): string | null {
  return provider ?? (presetOf(name) ? name : (base_url ?? null))
}

/** Address of an upstream. Null when unknown. */
export function addressOfUpstream(name: string, entry: UpstreamEntry): string | null {
  const provider = providerOf(name, entry)
  const preset = provider === null ? undefined : presetOf(provider)
  const cloud = { ...NO_CLOUD_SETTINGS, ...entry.cloud } as CloudSettings
  const ofCloud =
    preset?.cloud && lackingSettings(preset.cloud, cloud).length === 0 ? preset.cloud.address(cloud) : null
  const address = entry.base_url ?? ofCloud ?? preset?.baseUrl ?? provider
  return address === null ? null : address.replace(/\/+$/, '')
}

/** Adds settings of clouds from their own variables, such as `AZURE_OPENAI_ENDPOINT`, where the configuration has none. */
export function withCloudSettings(config: Config, env: Environment): Config {
  const filled = <Entry extends { cloud: CloudSettings }>(entry: Entry, provider: string | null): Entry => {
    const preset = provider === null ? undefined : presetOf(provider)
    return preset?.cloud ? { ...entry, cloud: cloudSettings(preset.cloud, entry.cloud, env) } : entry
  }
  const { upstream, upstreams } = config
  const named = Object.entries(upstreams).map(
    ([name, entry]) => [name, filled(entry, providerOf(name, entry))] as const,
  )
  return { ...config, upstream: filled(upstream, upstream.provider), upstreams: Object.fromEntries(named) }
}

/**
 * Adds keys from the environment to upstreams without any: `GAZEWAY_UPSTREAM_NAME_API_KEYS` takes precedence over the
 * known provider's own variable. A variable of an upstream belongs to the address it had at the start.
 *
 * @param started configuration of the start; absent at the start itself
 * @returns `leftOut`: the keys of the configuration whose variables are not in force
 * @throws GazewayError `config_invalid` with the variable in `param`
 */
export function withUpstreamKeys(
  config: Config,
  env: Environment,
  started: Config | undefined,
): { config: Config; leftOut: string[] } {
  const leftOut: string[] = []
  const entries = Object.entries(config.upstreams).map(([name, entry]) => {
    if (entry.api_keys.length > 0) return [name, entry] as const
    const variable = keyVariableOf(name)
    const before = started?.upstreams[name]
    const isMoved =
      started !== undefined && (!before || addressOfUpstream(name, before) !== addressOfUpstream(name, entry))
    const own = keysIn(env, variable)
    if (own.length > 0 && isMoved) leftOut.push(`upstreams.${name}.api_keys`)
    if (own.length > 0 && !isMoved) return [name, { ...entry, api_keys: own }] as const
    const ofProvider = entry.base_url === null ? presetOf(providerOf(name, entry) ?? '')?.key?.variable : undefined
    return [name, ofProvider === undefined ? entry : { ...entry, api_keys: keysIn(env, ofProvider) }] as const
  })
  return { config: { ...config, upstreams: Object.fromEntries(entries) }, leftOut }
}

function keysIn(env: Environment, variable: string): string[] {
  const keys = (env[variable] ?? '').split(',').map((key) => key.trim())
  const given = keys.filter((key) => key !== '')
  if (given.every((key) => credential.safeParse(key).success)) return given
  throw new GazewayError(
    'config_invalid',
    `${variable}: invalid format; must be keys without spaces, separated by commas.`,
    { param: variable },
  )
}

/**
 * Replaces each `***` of `upstreams` in `next` by the stored secret. An upstream whose address changed loses the keys
 * and headers of its last address, unless they are sent with the new one.
 *
 * @param before the stored document
 * @param changes the changes sent, dotted
 * @throws GazewayError `validation_failed` for a `***` without a stored secret
 */
export function keepUpstreamSecrets(
  before: ConfigDocument,
  next: ConfigDocument,
  changes: Readonly<Record<string, unknown>>,
  inForce: Config,
): void {
  for (const [name, entry] of Object.entries(next.upstreams ?? {})) {
    if (!isObject(entry)) continue
    const was: UpstreamEntry = before.upstreams?.[name] ?? {}
    const isMoved =
      before.upstreams?.[name] !== undefined && addressOfUpstream(name, was) !== addressOfUpstream(name, entry)
    const shown = isMoved ? [] : (inForce.upstreams[name]?.api_keys ?? [])
    const kept = isMoved ? {} : was
    const isSent = (field: string) => valuesAt(changes, `upstreams.${name}.${field}`).length > 0
    if (isMoved) {
      for (const field of GIVEN) if (!isSent(field)) delete entry[field]
      const sent = Object.entries(entry.headers ?? {}).filter(([header]) => isSent(`headers.${header}`))
      if (sent.length === 0) delete entry.headers
      else entry.headers = Object.fromEntries(sent)
    }
    const missing = () => nothingKept(name)
    if (Array.isArray(entry.api_keys))
      entry.api_keys = withKeptKeys(entry.api_keys, kept.api_keys ?? [], { shown, missing })
    if (entry.api_keys?.length === 0) delete entry.api_keys
    if (entry.proxy === REDACTED) {
      if (was.proxy === undefined) throw missing()
      entry.proxy = was.proxy
    }
    for (const [header, value] of Object.entries(entry.headers ?? {})) {
      if (value !== REDACTED) continue
      const old = kept.headers?.[header]
      if (old === undefined) throw missing()
      ;(entry.headers as Record<string, string>)[header] = old
    }
  }
}

/** Replaces each `***` by the stored key at its position. One displayed from the environment stays there. */
function withKeptKeys(
  keys: readonly string[],
  kept: readonly string[],
  { shown, missing }: { shown: readonly string[]; missing: () => GazewayError },
): string[] {
  return keys.flatMap((key, at) => {
    if (key !== REDACTED) return [key]
    const old = kept[at]
    if (old !== undefined) return [old]
    if (kept.length === 0 && shown[at] !== undefined) return []
    throw missing()
  })
}

const nothingKept = (name: string): GazewayError =>
  new GazewayError(
    'validation_failed',
    `upstreams.${name}: *** stands for the stored secret of its address, and there is none; send the secret itself.`,
    { param: `upstreams.${name}` },
  )
