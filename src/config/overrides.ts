import { getProperty } from 'dot-prop'
import { presetOf } from '../providers/providers.ts'
import type { LoadedConfig } from './config.ts'
import { CONFIG_KEYS, configKey } from './config-keys.ts'
import { addressOf, SECRETS_OF_ADDRESSES, valuesFor } from './layers.ts'
import { REDACTED, redactConfig } from './redact.ts'

/** A variable or flag in force. */
export interface Override {
  /** Configuration key that it sets. */
  path: string
  /** Value, redacted as by `redactConfig`. */
  value: unknown
}

/** Environment variables or flags in force, by name, with the key that each overrides. */
export function overridesInForce(loaded: LoadedConfig, source: 'environment' | 'flag'): Record<string, Override> {
  const shown = redactConfig(loaded.config)
  const over = CONFIG_KEYS.filter(({ key }) => loaded.sources[key] === source)
  return Object.fromEntries(
    over.map(({ key }) => [nameOver(key, loaded), { path: key, value: getProperty(shown, key) }]),
  )
}

/** Name of the flag or variable that overrides a key. The provider's own variable when the key comes from it. */
export function nameOver(key: string, { sources, config, request, leftOut }: LoadedConfig): string {
  const { flag = null, variable = null } = configKey(key) ?? {}
  if (sources[key] === 'flag') return String(flag)
  const isSet = variable !== null && request.env[variable]?.trim() && !leftOut.includes(key)
  const ownVariable = presetOf(config.upstream.provider)?.key?.variable
  return String(key === 'upstream.api_key' && !isSet ? ownVariable : variable)
}

/**
 * Keys in `changes` that a flag or variable overrides, directly or through the address they belong to. Their stored
 * values have no effect.
 */
export function overriddenKeys(
  changes: Readonly<Record<string, unknown>>,
  { sources, config }: LoadedConfig,
): string[] {
  const isOver = (key = '') => sources[key] === 'flag' || sources[key] === 'environment'
  const isGiven = (value: unknown) => value !== null && value !== REDACTED
  const isNone = (key: string) => Object.keys(Object(getProperty(config, key))).length === 0
  const over = Object.keys(sources).filter((key) => isOver(key) && valuesFor(changes, key).length > 0)
  const unheard = SECRETS_OF_ADDRESSES.filter(
    (key) => !isOver(key) && isOver(addressOf(key)) && valuesFor(changes, key).some(isGiven) && isNone(key),
  )
  return [...over, ...unheard]
}
