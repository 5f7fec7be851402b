import { join, resolve } from 'node:path'
import { hasProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import { checkConfig } from './check-config.ts'
import { CONFIG_KEYS } from './config-keys.ts'
import type { Config, ConfigDocument } from './config-schema.ts'
import { parseDocument, readText } from './document.ts'
import {
  type ConfigFlags,
  type Environment,
  findDataDir,
  fromHome,
  readEnvironment,
  readFlags,
  readProviderKey,
} from './environment.ts'
import { foreignSecrets, type Layer, layOver } from './layers.ts'
import { secretsOf } from './redact.ts'
import { withCloudSettings, withUpstreamKeys } from './upstream-keys.ts'

/** Source of a value. `settings` are those shared by machines on one store. */
export type ConfigSource = 'flag' | 'environment' | 'settings' | 'file' | 'default'

/** Sources of the configuration beside config.json. */
export interface ConfigRequest {
  env: Environment
  flags: ConfigFlags
  /** Base folder of relative paths in flags and of `GAZEWAY_HOME`. Defaults to the working directory. */
  cwd?: string
}

/** The configuration in force, frozen. */
export interface LoadedConfig {
  /** Absolute path. May not exist yet: reading creates nothing. */
  dataDir: string
  config: Config
  /** Source of each value, by dotted key. */
  sources: Readonly<Record<string, ConfigSource>>
  /**
   * Keys of secrets in the environment that are not in force, because they belong to the address in force at the start.
   */
  leftOut: readonly string[]
  /** Secret values in `config`, for redaction, longest first. */
  secrets: readonly string[]
  /** Resolved `config.store.url`: the store to open. */
  storeUrl: string
  /** Request that it was read from, to read it again. */
  request: Required<ConfigRequest>
}

/** Layers below the environment and the flags. */
export interface StoredLayers {
  /** Content of config.json. */
  document: ConfigDocument
  /** Layer over it. */
  settings: Layer
}

/**
 * Reads the configuration. Precedence, highest first: flags, environment, config.json, defaults. Writes nothing.
 *
 * @throws GazewayError `config_invalid` naming the flag, the variable, or the file and field at fault, or when the
 *   working directory was deleted
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const { env, flags, cwd = workingFolder() } = request
  // Before looking for the data folder, so that faulty variables are reported first.
  readFlags(flags)
  readEnvironment(env)
  const dataDir = findDataDir(flags, env, cwd)
  const complete = { env: { ...env }, flags: { ...flags }, cwd }
  return mergeConfig(complete, dataDir, { document: readDocument(configFile(dataDir)), settings: new Map() })
}

function workingFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const message = 'The working directory no longer exists. Start Gazeway in another folder.'
    throw new GazewayError('config_invalid', message, { cause })
  }
}

/**
 * Reads a configuration file. An empty document when it does not exist.
 *
 * @throws GazewayError `config_invalid`
 */
export function readDocument(file: string): ConfigDocument {
  const text = readText(file)
  return text === null ? {} : parseDocument(text, file)
}

/**
 * Reads a configuration file again.
 *
 * @throws GazewayError `config_invalid` as {@link readDocument}, and when a file with content has disappeared. Treating
 *   it as empty would change prices and the provider, for example while its disk is unmounted
 */
export function rereadDocument(file: string, before: ConfigDocument): ConfigDocument {
  const text = readText(file)
  if (text !== null) return parseDocument(text, file)
  if (Object.keys(before).length > 0)
    throw new GazewayError(
      'config_invalid',
      `${file}: the file has disappeared; its last content stays in force. Restore it, or write {} to it for the defaults.`,
    )
  return {}
}

/** Path of a data folder's configuration file. */
export const configFile = (dataDir: string): string => join(dataDir, 'config.json')

/**
 * Merges flags and environment with the stored layers.
 *
 * @param started configuration of the start, with the addresses that keys in the environment belong to; absent at the
 *   start itself
 */
export function mergeConfig(
  request: Required<ConfigRequest>,
  dataDir: string,
  { document, settings }: StoredLayers,
  started?: Config,
): LoadedConfig {
  const { env, flags, cwd } = request
  const flagged = readFlags(flags)
  const over = new Map([...readEnvironment(env), ...flagged])
  const stored = layOver(document, settings)

  const foreign = started ? foreignSecrets(started, layOver(stored, over)) : []
  // The sandbox has no address that a key could belong to.
  const isFree = (key: string) => started?.upstream.provider === 'sandbox' && key.startsWith('upstream.')
  const leftOut = foreign.filter((key) => over.has(key) && !isFree(key))
  for (const key of leftOut) over.delete(key)

  const provider = String(over.get('upstream.provider') ?? filled(stored).upstream.provider)
  const providerKey = readProviderKey(env, provider)
  if (!over.has('upstream.api_key') && providerKey !== undefined) over.set('upstream.api_key', providerKey)

  const merged = layOver(stored, over)
  const withKeys = withUpstreamKeys(withCloudSettings(filled(merged), env), env, started)
  leftOut.push(...withKeys.leftOut)
  const config = frozen(withKeys.config)
  const sources = Object.fromEntries(CONFIG_KEYS.map(({ key }) => [key, sourceOf(key)]))
  const storeUrl = absoluteStore(config.store.url, sources['store.url'] === 'flag' ? cwd : dataDir, dataDir)
  return Object.freeze({
    dataDir,
    config,
    sources: Object.freeze(sources),
    leftOut: Object.freeze(leftOut),
    secrets: secretsOf(config),
    storeUrl,
    request,
  })

  function sourceOf(key: string): ConfigSource {
    if (flagged.has(key)) return 'flag'
    if (over.has(key)) return 'environment'
    if (settings.has(key)) return settings.get(key) === null ? 'default' : 'settings'
    return hasProperty(merged, key) ? 'file' : 'default'
  }
}

/** Applies the defaults. Each layer was validated already, so a fault here is a bug. */
export function filled(document: unknown): Config {
  const { data, error } = checkConfig(document)
  if (error) throw error
  return data
}

function absoluteStore(url: string | null, base: string, dataDir: string): string {
  if (url === null) return `sqlite:${join(dataDir, 'gazeway.db')}`
  return url.startsWith('sqlite:') ? `sqlite:${resolve(base, fromHome(url.slice('sqlite:'.length)))}` : url
}

/** Freezes `value` deeply. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}
