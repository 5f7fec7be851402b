import { getProperty } from 'dot-prop'
import { presetOf } from '../providers/providers.ts'
import type { LoadedConfig } from './config.ts'
import { valuesFor } from './dotted.ts'
import { FLAGS, VARIABLES, variableOf } from './environment.ts'
import { addressOf, SECRETS_OF_ADDRESSES } from './layers.ts'
import { REDACTED, redactConfig } from './redact.ts'

/** A variable or flag that is in force. */
export interface Override {
  /** The configuration key that it sets. */
  path: string
  /** As `redactConfig` shows it. */
  value: unknown
}

/** The environment variables in force, by name, with the key that each is over; one that a flag is over is not. */
export function environmentInForce(loaded: LoadedConfig): Record<string, Override> {
  const { env } = loaded.request
  const named = Object.entries(VARIABLES).filter(
    ([variable, key]) => env[variable]?.trim() && !loaded.leftOut.includes(key),
  )
  const ownKey = presetOf(loaded.config.upstream.provider)?.key?.variable
  const hasKey = named.some(([, key]) => key === 'upstream.api_key')
  if (ownKey !== undefined && !hasKey) named.push([ownKey, 'upstream.api_key'])
  return inForce(loaded, 'environment', named)
}

/** The flags in force, as they are written, with the key that each is over. */
export function flagsInForce(loaded: LoadedConfig): Record<string, Override> {
  return inForce(loaded, 'flag', Object.values(FLAGS))
}

function inForce(
  loaded: LoadedConfig,
  source: 'environment' | 'flag',
  named: readonly (readonly [name: string, key: string])[],
): Record<string, Override> {
  const shown = redactConfig(loaded.config)
  return Object.fromEntries(
    named
      .filter(([, key]) => loaded.sources[key] === source)
      .map(([name, key]) => [name, { path: key, value: getProperty(shown, key) }]),
  )
}

/** The flag or the variable that is over a key, as it is written. */
export const nameOver = (key: string, { sources }: LoadedConfig): string | undefined =>
  sources[key] === 'flag' ? Object.values(FLAGS).find(([, of]) => of === key)?.[0] : variableOf(key)

/**
 * The keys that `changes` names and that a flag or a variable is over, or over the address that they are for: what is stored
 * there does not show.
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
