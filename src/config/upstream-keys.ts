import { GazewayError } from '../errors.ts'
import { keyVariableOf } from '../providers/key-variable.ts'
import { presetOf } from '../providers/providers.ts'
import { isObject } from '../text/json.ts'
import type { Config, ConfigDocument } from './config-schema.ts'
import { valuesFor } from './dotted-values.ts'
import type { Environment } from './environment.ts'
import { REDACTED } from './redact.ts'
import { credential } from './sections/setting-values.ts'

/** An upstream among `upstreams`, as a document has it: what is at its default is left out. */
export type UpstreamEntry = NonNullable<ConfigDocument['upstreams']>[string]

/** What of an upstream is given for its address alone. */
const GIVEN = ['api_keys', 'headers'] as const

/** The known provider, or the base URL, of an upstream; null where it names neither. */
export function providerOf(name: string, { provider, base_url }: UpstreamEntry): string | null {
  return provider ?? (presetOf(name) ? name : (base_url ?? null))
}

/** Where an upstream is; null where that is not said. */
export function addressOfUpstream(name: string, entry: UpstreamEntry): string | null {
  const provider = providerOf(name, entry)
  const address = entry.base_url ?? (provider === null ? null : (presetOf(provider)?.baseUrl ?? provider))
  return address === null ? null : address.replace(/\/+$/, '')
}

/**
 * The configuration with the keys of the environment for upstreams that have none: those of `GAZEWAY_UPSTREAM_NAME_API_KEYS`,
 * else of the known provider's own variable. A variable of an upstream is for the address that it had at the start.
 *
 * @param started what the configuration was at the start; absent at the start itself
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
    `${variable}: not in the accepted form; accepted: keys without spaces, with commas between them.`,
    { param: variable },
  )
}

/**
 * Puts what is kept in the place of each `***` of `upstreams` in `next`. An upstream that has moved loses the keys and headers
 * that were given for its last address, unless they come with the new one.
 *
 * @param before what was stored
 * @param changes what was sent, dotted
 * @throws GazewayError `validation_failed` for a `***` in whose place nothing is kept
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
    if (isMoved)
      for (const field of GIVEN) if (valuesFor(changes, `upstreams.${name}.${field}`).length === 0) delete entry[field]
    const missing = () => nothingKept(name)
    if (Array.isArray(entry.api_keys))
      entry.api_keys = withKeptKeys(entry.api_keys, kept.api_keys ?? [], { shown, missing })
    if (entry.api_keys?.length === 0) delete entry.api_keys
    for (const [header, value] of Object.entries(entry.headers ?? {})) {
      if (value !== REDACTED) continue
      const old = kept.headers?.[header]
      if (old === undefined) throw missing()
      ;(entry.headers as Record<string, string>)[header] = old
    }
  }
}

/** Each `***` stands for the key that is kept at its place; one that is shown from the environment is left there. */
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
    `upstreams.${name}: *** stands for a secret that is kept for its address, and there is none; send the secret itself.`,
    { param: `upstreams.${name}` },
  )
