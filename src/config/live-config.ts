import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { getProperty, setProperty } from 'dot-prop'
import { createListeners } from '../wire/listeners.ts'
import { createRepeated } from '../wire/repeated-runs.ts'
import { changedDocument, changedKeys } from './changed-document.ts'
import {
  configFile,
  filled,
  frozen,
  type LoadedConfig,
  mergeConfig,
  readDocument,
  rereadDocument,
  type StoredLayers,
} from './config.ts'
import { CONFIG_KEYS, differingKeys, isSame } from './config-keys.ts'
import type { Config, ConfigDocument } from './config-schema.ts'
import type { ConfigHome } from './home.ts'
import { type HotReloaded, hotReload } from './hot-reload.ts'
import { layOver } from './layers.ts'
import { secretsOf } from './redact.ts'

/** Interval of checks for changes by other processes or people, in milliseconds. */
const POLL_MS = 2_000

/** Receives the configuration after and before a change. */
export type ConfigListener = (now: LoadedConfig, before: LoadedConfig) => void

/** Configuration of a running process. */
export interface LiveConfig {
  /** Configuration in force. Settings that need a restart have their value from the start. */
  current(): LoadedConfig
  /** Configuration that a process started now would have. */
  stored(): LoadedConfig
  /** Keys in which the two differ: they wait for a restart. */
  waiting(): string[]
  /**
   * Computes the result of {@link LiveConfig.set} without changing anything.
   *
   * @throws GazewayError as {@link LiveConfig.set}
   */
  preview(changes: Readonly<Record<string, unknown>>): Promise<LoadedConfig>
  /**
   * Changes settings by dotted key, all or none, durably, and puts them in force. A new provider or agent gateway loses
   * the key of the last one, unless a key comes with it.
   *
   * @returns the keys, and entries of keys, whose values changed
   * @throws GazewayError as `setDotted` and `ConfigHome.change`; `conflict` for a secret without its address, when a
   *   flag or variable overrides the stored address
   */
  set(changes: Readonly<Record<string, unknown>>): Promise<string[]>
  /** Checks for changes by others now. An unreadable configuration is logged once, and the last one stays in force. */
  refresh(): Promise<void>
  /**
   * Calls `listener` after each change in this or another process, also one that waits for a restart.
   *
   * @returns unsubscribes
   */
  onChange(listener: ConfigListener): () => void
  /**
   * Creates a service from settings, and recreates it when they change. Calls in flight end on the service they began
   * with.
   *
   * @param pick selects its settings
   */
  hotReload<Settings, Service extends object>(
    pick: (config: Config) => Settings,
    make: (settings: Settings) => Service,
  ): HotReloaded<Service>
  /** Stops checking for changes. */
  close(): Promise<void>
}

/** Dependencies of {@link openLiveConfig}. */
interface LiveConfigDeps {
  /** Configuration of the start. */
  loaded: LoadedConfig
  home: ConfigHome
  /** Called once per state that cannot be put in force; the last good one stays. */
  onFault: (error: unknown) => void
}

/**
 * Opens the configuration of this process. It follows config.json, and the changes in `home`, within 2 s.
 * @throws the store's error when `home` cannot be read at the start
 */
export async function openLiveConfig({ loaded, home, onFault }: LiveConfigDeps): Promise<LiveConfig> {
  const { request, dataDir } = loaded
  const layers = await openLayers(configFile(dataDir), home, onFault)
  const merge = (next: StoredLayers, started?: Config) => mergeConfig(request, dataDir, next, started)
  const listeners = createListeners<[now: LoadedConfig, before: LoadedConfig]>(onFault)
  let stored = merge(layers.current())
  const started = stored.config
  let current = stored
  let turn: Promise<unknown> = Promise.resolve()

  /** Reads everything again and puts it in force. @throws the store's error */
  async function read(): Promise<void> {
    const next = merge(await layers.read(), started)
    const unchanged = isSame(next.config, stored.config)
    stored = next
    if (unchanged) return
    const before = current
    current = inForce(next, started)
    listeners.tell(current, before)
  }

  /** Runs work sequentially, so that a change in progress is not read in halves. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  const refresh = () =>
    inTurn(async () => {
      if (await layers.haveChanged()) await read()
    }).catch(layers.reportOnce)
  const polls = createRepeated(refresh, { everyMs: POLL_MS, onError: onFault })
  polls.start()

  return {
    current: () => current,
    stored: () => stored,
    waiting: () => waitingKeys(stored.config, started),
    preview: (changes) =>
      inTurn(async () => {
        await read()
        const { document, settings } = layers.current()
        const next = changedDocument(layOver(document, settings), changes, stored)
        return merge({ document: next, settings: new Map() }, started)
      }),
    set: (changes) =>
      inTurn(async () => {
        await read()
        let keys: string[] = []
        await home.change(layers.current().document, (before) => {
          const next = changedDocument(before, changes, stored)
          keys = changedKeys(filled(before), filled(next))
          return next
        })
        await read()
        return keys
      }),
    refresh,
    onChange: listeners.add,
    hotReload: (pick, make) => hotReload({ current: () => current.config, onChange: listeners.add }, pick, make),
    async close() {
      await polls.stop()
      await turn
    },
  }
}

/** The stored layers of a configuration, read again when they change. A broken config.json keeps its last content. */
async function openLayers(file: string, home: ConfigHome, onFault: (error: unknown) => void) {
  let seen = await fingerprint()
  let layers: StoredLayers = { document: readDocument(file), settings: await home.read() }
  let lastMessage = ''

  async function fingerprint(): Promise<string> {
    const { mtimeMs = 0, size = 0, ino = 0 } = await stat(file).catch(() => ({}) as Partial<Stats>)
    return `${mtimeMs}:${size}:${ino}:${await home.revision()}`
  }

  function reportOnce(error: unknown): void {
    const message = String(error)
    if (message !== lastMessage) onFault(error)
    lastMessage = message
  }

  function rereadOrReport(before: ConfigDocument): ConfigDocument {
    try {
      const document = rereadDocument(file, before)
      lastMessage = ''
      return document
    } catch (error) {
      reportOnce(error)
      return before
    }
  }

  return {
    current: () => layers,
    /** @throws the store's error */
    haveChanged: async () => (await fingerprint()) !== seen,
    /** @throws the store's error; nothing is changed then */
    async read(): Promise<StoredLayers> {
      const mark = await fingerprint()
      const settings = await home.read()
      layers = { document: rereadOrReport(layers.document), settings }
      seen = mark
      return layers
    },
    /** Reports a fault, unless it is the last one that was reported. */
    reportOnce,
  }
}

const waitingKeys = (stored: Config, started: Config): string[] =>
  differingKeys(stored, started).flatMap(({ key, restart }) => (restart ? [key] : []))

/** `stored`, with settings that need a restart as they were at the start. */
function inForce(stored: LoadedConfig, started: Config): LoadedConfig {
  const config = structuredClone(stored.config)
  for (const { key, restart } of CONFIG_KEYS) if (restart) setProperty(config, key, getProperty(started, key))
  return Object.freeze({ ...stored, config: frozen(config), secrets: secretsOf(config) })
}
