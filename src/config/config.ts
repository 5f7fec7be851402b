import { join, resolve } from 'node:path'
import { hasProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import { CONFIG_KEYS } from './config-keys.ts'
import { type Config, type ConfigDocument, checkConfig } from './config-schema.ts'
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
import { withUpstreamKeys } from './upstream-keys.ts'

/** Where a value came from; `settings` are those that machines on one store share. */
export type ConfigSource = 'flag' | 'environment' | 'settings' | 'file' | 'default'

/** What configuration is read from, beside config.json. */
export interface ConfigRequest {
  env: Environment
  flags: ConfigFlags
  /** Where relative paths in flags, and `GAZEWAY_HOME`, start; the process's own folder when absent. */
  cwd?: string
}

/** The configuration in force, frozen. */
export interface LoadedConfig {
  /** Absolute. May not exist yet: reading creates nothing. */
  dataDir: string
  config: Config
  /** Dotted key → where its value came from. */
  sources: Readonly<Record<string, ConfigSource>>
  /** Keys of secrets in the environment that are not in force: they are for the address that was in force at the start. */
  leftOut: readonly string[]
  /** Every secret value in `config`, for redaction, longest first. */
  secrets: readonly string[]
  /** `config.store.url`, absolute and with its default: what to open. */
  storeUrl: string
  /** What it was read from, to read it again. */
  request: Required<ConfigRequest>
}

/** What lies below the environment and the flags. */
export interface StoredLayers {
  /** What config.json holds. */
  document: ConfigDocument
  /** What lies over it. */
  settings: Layer
}

/**
 * Reads the configuration: flag over environment over config.json over default. Creates and changes nothing.
 *
 * @throws GazewayError `config_invalid` naming the flag, the variable, or the file and field at fault, or where the process
 *   stands in a folder that was deleted
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const { env, flags, cwd = workingFolder() } = request
  // Before the data folder is looked for: what is wrong with a variable is told first.
  readFlags(flags)
  readEnvironment(env)
  const dataDir = await findDataDir(flags, env, cwd)
  const complete = { env: { ...env }, flags: { ...flags }, cwd }
  return mergeConfig(complete, dataDir, { document: readDocument(configFile(dataDir)), settings: new Map() })
}

function workingFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const message = 'The working directory is not there any more; start Gazeway in another folder.'
    throw new GazewayError('config_invalid', message, { cause })
  }
}

/**
 * The document in a configuration file; an empty one where there is no file.
 *
 * @throws GazewayError `config_invalid`
 */
export function readDocument(file: string): ConfigDocument {
  const text = readText(file)
  return text === null ? {} : parseDocument(text, file)
}

/**
 * What a file that was read before holds now.
 *
 * @throws GazewayError `config_invalid` as {@link readDocument}, and where there was something in it and it is gone: to
 *   take it for empty would change prices and the provider while it is moved, or its disk is away
 */
export function rereadDocument(file: string, before: ConfigDocument): ConfigDocument {
  const text = readText(file)
  if (text !== null) return parseDocument(text, file)
  if (Object.keys(before).length > 0)
    throw new GazewayError(
      'config_invalid',
      `${file}: it is gone; what it held stays in force. Put it back, or write {} to it for the defaults.`,
    )
  return {}
}

/** Where a data folder's configuration is. */
export const configFile = (dataDir: string): string => join(dataDir, 'config.json')

/**
 * The configuration that flags and environment make of what is stored.
 *
 * @param started what it was at the start, which knows the addresses that keys in the environment are for; absent at the
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
  // The sandbox has no address that a key could be for.
  const isFree = (key: string) => started?.upstream.provider === 'sandbox' && key.startsWith('upstream.')
  const leftOut = foreign.filter((key) => over.has(key) && !isFree(key))
  for (const key of leftOut) over.delete(key)

  const provider = String(over.get('upstream.provider') ?? filled(stored).upstream.provider)
  const providerKey = readProviderKey(env, provider)
  if (!over.has('upstream.api_key') && providerKey !== undefined) over.set('upstream.api_key', providerKey)

  const merged = layOver(stored, over)
  const withKeys = withUpstreamKeys(filled(merged), env, started)
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

/** Every layer was checked on its own, so a fault here is one of Gazeway's. */
export function filled(document: unknown): Config {
  const { data, error } = checkConfig(document)
  if (error) throw error
  return data
}

function absoluteStore(url: string | null, base: string, dataDir: string): string {
  if (url === null) return `sqlite:${join(dataDir, 'gazeway.db')}`
  return url.startsWith('sqlite:') ? `sqlite:${resolve(base, fromHome(url.slice('sqlite:'.length)))}` : url
}

/** `value`, frozen with all that is in it. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}
