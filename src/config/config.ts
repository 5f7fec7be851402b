import { join, resolve } from 'node:path'
import { deleteProperty, hasProperty, setProperty } from 'dot-prop'
import { parseDocument, readText } from './document.ts'
import { setDotted } from './dotted.ts'
import {
  type ConfigFlags,
  type Environment,
  findDataDir,
  type Overrides,
  readEnvironment,
  readFlags,
  readProviderKey,
} from './environment.ts'
import { CONFIG_KEYS } from './keys.ts'
import { secretsOf } from './redact.ts'
import { type Config, type ConfigDocument, checkConfig } from './schema.ts'

/** Where a value came from. */
export type ConfigSource = 'flag' | 'environment' | 'file' | 'default'

/** What configuration is read from, beside config.json. */
export interface ConfigRequest {
  env: Environment
  flags: ConfigFlags
  /** Where relative paths in flags and the environment start; the process's own folder when absent. */
  cwd?: string
}

/** The configuration in force, frozen. */
export interface LoadedConfig {
  /** Absolute. May not exist yet: reading creates nothing. */
  dataDir: string
  config: Config
  /** Dotted key → where its value came from. */
  sources: Readonly<Record<string, ConfigSource>>
  /** Every secret value in `config`, for redaction, longest first. */
  secrets: readonly string[]
  /** `config.store.url`, absolute and with its default: what to open. */
  storeUrl: string
}

/** The configuration of a running process. */
export interface ConfigStore {
  get(): LoadedConfig
  /**
   * Makes changes by dotted key in config.json, all or none, and takes them into force where no flag or variable is
   * over them.
   *
   * @throws GazewayError as {@link setDotted}, and `config_invalid`, `conflict`, `store_unavailable` or `store_full` as
   *   the file gives cause
   */
  set(changes: Readonly<Record<string, unknown>>): Promise<LoadedConfig>
  /**
   * Reads config.json again.
   *
   * @throws GazewayError `config_invalid`; what was in force stays in force
   */
  reload(): Promise<LoadedConfig>
}

/**
 * Reads the configuration: flag over environment over config.json over default. Creates and changes nothing.
 *
 * @throws GazewayError `config_invalid` naming the flag, the variable, or the file and field at fault
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const { env, flags, cwd = process.cwd() } = request
  const flagged = readFlags(flags)
  const environment = readEnvironment(env)
  const dataDir = await findDataDir(flags, env, cwd)
  const file = configFile(dataDir)
  const text = readText(file)
  const document = text === null ? {} : parseDocument(text, file)
  return merge({ dataDir, document, flagged, environment, env, cwd })
}

/**
 * The configuration of a running process, from `loaded` on.
 *
 * @param request what `loaded` was loaded from
 */
export function createConfigStore(request: ConfigRequest, loaded: LoadedConfig): ConfigStore {
  let current = loaded
  let last: Promise<unknown> = Promise.resolve()

  async function reload(): Promise<LoadedConfig> {
    current = await loadConfig(request)
    return current
  }

  async function write(changes: Readonly<Record<string, unknown>>): Promise<LoadedConfig> {
    // lowdb and the lock are only worth loading for a process that writes.
    const { updateDocument } = await import('./file.ts')
    await updateDocument(configFile(current.dataDir), (document) => setDotted(document, changes, current.config))
    return reload()
  }

  return {
    get: () => current,
    reload,
    set(changes) {
      // One after the other: waiting here is cheaper than polling for the lock against oneself.
      const turn = last.then(() => write(changes))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

interface Layers {
  dataDir: string
  document: ConfigDocument
  flagged: Overrides
  environment: Overrides
  env: Environment
  cwd: string
}

function merge({ dataDir, document, flagged, environment, env, cwd }: Layers): LoadedConfig {
  const merged = structuredClone(document)
  const over = new Map([...environment, ...flagged])

  // A key in config.json was given for the address in config.json: it is never sent to another one.
  const own = filled(document)
  if (over.has('agent_gateway.url') && over.get('agent_gateway.url') !== own.agent_gateway.url)
    deleteProperty(merged, ['agent_gateway', 'key'])
  const ownProvider = own.upstream.provider
  const provider = String(over.get('upstream.provider') ?? ownProvider)
  if (provider !== ownProvider) {
    deleteProperty(merged, ['upstream', 'api_key'])
    deleteProperty(merged, ['upstream', 'headers'])
  }
  const providerKey = readProviderKey(env, provider)
  if (!over.has('upstream.api_key') && providerKey !== undefined) over.set('upstream.api_key', providerKey)

  const sources: Record<string, ConfigSource> = {}
  for (const { key, path } of CONFIG_KEYS) {
    if (over.has(key)) setProperty(merged, path, over.get(key))
    sources[key] = sourceOf(key, path)
  }
  const config = freeze(filled(merged))
  const storeUrl = absoluteStore(config.store.url, sources['store.url'] === 'file' ? dataDir : cwd, dataDir)
  return Object.freeze({ dataDir, config, sources: Object.freeze(sources), secrets: secretsOf(config), storeUrl })

  function sourceOf(key: string, path: readonly string[]): ConfigSource {
    if (flagged.has(key)) return 'flag'
    if (over.has(key)) return 'environment'
    return hasProperty(merged, path) ? 'file' : 'default'
  }
}

/** Every layer was checked on its own, so a fault here is one of Gazeway's. */
function filled(document: unknown): Config {
  const { data, error } = checkConfig(document)
  if (error) throw error
  return data
}

function configFile(dataDir: string): string {
  return join(dataDir, 'config.json')
}

function absoluteStore(url: string | null, base: string, dataDir: string): string {
  if (url === null) return `sqlite:${join(dataDir, 'gazeway.db')}`
  return url.startsWith('sqlite:') ? `sqlite:${resolve(base, url.slice('sqlite:'.length))}` : url
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}
