import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { getProperty, setProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import { configFile, filled, frozen, type LoadedConfig, mergeConfig, readDocument, rereadDocument } from './config.ts'
import { CONFIG_KEYS, differingKeys } from './config-keys.ts'
import type { Config, ConfigDocument } from './config-schema.ts'
import { setDotted } from './dotted.ts'
import { valuesFor } from './dotted-values.ts'
import { variableOf } from './environment.ts'
import { type Followed, follow } from './follow.ts'
import type { ConfigHome } from './home.ts'
import { addressOf, type Layer, layOver, straySecrets, withoutForeignSecrets } from './layers.ts'
import { nameOver } from './overrides.ts'
import { REDACTED, secretsOf } from './redact.ts'

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
  follow<Settings, Service extends object>(
    pick: (config: Config) => Settings,
    make: (settings: Settings) => Service,
  ): Followed<Service>
  /** Stops checking for changes. */
  close(): Promise<void>
}

/**
 * Opens the configuration of this process. It follows config.json, and the changes in `home`, within 2 s.
 *
 * @param loaded configuration of the start
 * @param onFault called once per state that cannot be put in force; the last good one stays
 * @throws the store's error when `home` cannot be read at the start
 */
export async function openLiveConfig(deps: {
  loaded: LoadedConfig
  home: ConfigHome
  onFault: (error: unknown) => void
}): Promise<LiveConfig> {
  const { loaded, home, onFault } = deps
  const { request, dataDir } = loaded
  const file = configFile(dataDir)
  const listeners = new Set<ConfigListener>()
  let seen = await fingerprint()
  let document: ConfigDocument = readDocument(file)
  let settings: Layer = await home.read()
  let lastMessage = ''
  let stored = mergeConfig(request, dataDir, { document, settings })
  const started = stored.config
  let current = stored
  let turn: Promise<unknown> = Promise.resolve()

  function merge(below: ConfigDocument, over: Layer): LoadedConfig {
    return mergeConfig(request, dataDir, { document: below, settings: over }, started)
  }

  async function fingerprint(): Promise<string> {
    const { mtimeMs = 0, size = 0, ino = 0 } = await stat(file).catch(() => ({}) as Partial<Stats>)
    return `${mtimeMs}:${size}:${ino}:${await home.revision()}`
  }

  function reportOnce(error: unknown): void {
    const message = String(error)
    if (message !== lastMessage) onFault(error)
    lastMessage = message
  }

  /**
   * Reads everything again.
   *
   * @throws the store's error
   */
  async function read(): Promise<void> {
    const mark = await fingerprint()
    const over = await home.read()
    try {
      document = rereadDocument(file, document)
      lastMessage = ''
    } catch (error) {
      reportOnce(error)
    }
    settings = over
    seen = mark
    adopt(merge(document, settings))
  }

  function adopt(next: LoadedConfig): void {
    const unchanged = isDeepStrictEqual(next.config, stored.config)
    stored = next
    if (unchanged) return
    const before = current
    current = inForce(next, started)
    for (const listener of listeners) {
      try {
        listener(current, before)
      } catch (error) {
        onFault(error)
      }
    }
  }

  async function poll(): Promise<void> {
    try {
      if ((await fingerprint()) !== seen) await read()
    } catch (error) {
      reportOnce(error)
    }
  }

  /** Runs work sequentially, so that a change in progress is not read in halves. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  function changed(document: ConfigDocument, changes: Readonly<Record<string, unknown>>): ConfigDocument {
    const next = setDotted(document, changes, stored.config)
    for (const secret of straySecrets(document, next, stored.config)) placeSecret(next, secret, changes)
    return withoutForeignSecrets(document, next, (key) => valuesFor(changes, key).some((value) => value !== REDACTED))
  }

  /**
   * Pins the address in force when a secret is sent with it. Without this, an address sent as displayed would not count
   * as a change.
   */
  function placeSecret(next: ConfigDocument, secret: string, changes: Readonly<Record<string, unknown>>): void {
    const address = addressOf(secret) ?? secret
    const [named] = valuesFor(changes, address)
    if (named === undefined) throw forAnother(secret, address, stored)
    if (named === getProperty(stored.config, address)) setProperty(next, address, named)
  }

  let polling = false
  const timer = setInterval(() => {
    if (polling) return
    polling = true
    void inTurn(poll).finally(() => {
      polling = false
    })
  }, POLL_MS).unref()

  return {
    current: () => current,
    stored: () => stored,
    waiting: () =>
      differingKeys(stored.config, started)
        .filter(({ restart }) => restart)
        .map(({ key }) => key),
    preview: (changes) =>
      inTurn(async () => {
        await read()
        return merge(changed(layOver(document, settings), changes), new Map())
      }),
    set: (changes) =>
      inTurn(async () => {
        await read()
        let keys: string[] = []
        await home.change(document, (before) => {
          const next = changed(before, changes)
          keys = changedKeys(filled(before), filled(next))
          return next
        })
        await read()
        return keys
      }),
    refresh: () => inTurn(poll),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    follow: (pick, make) =>
      follow({ current: () => current.config, onChange: (listener) => void listeners.add(listener) }, pick, make),
    async close() {
      clearInterval(timer)
      await turn
    },
  }
}

/** `stored`, with settings that need a restart as they were at the start. */
function inForce(stored: LoadedConfig, started: Config): LoadedConfig {
  const config = structuredClone(stored.config)
  for (const { key, restart } of CONFIG_KEYS) if (restart) setProperty(config, key, getProperty(started, key))
  return Object.freeze({ ...stored, config: frozen(config), secrets: secretsOf(config) })
}

/**
 * Error for a secret without its address, while a flag or variable overrides the address: the secret would be stored
 * beside another address.
 */
function forAnother(secret: string, address: string, loaded: LoadedConfig): GazewayError {
  const variable = variableOf(secret)
  const inEnvironment = variable === undefined ? '' : `, or set ${variable} in the environment and restart`
  return new GazewayError(
    'conflict',
    `${secret}: nothing was changed. It would belong to the stored ${address}, but ${nameOver(address, loaded)} sets ` +
      `another one. Send ${address} with it to store both${inEnvironment}.`,
    { param: secret },
  )
}

/** Keys whose value differs in `next`. For a record, its entries. */
function changedKeys(before: Config, next: Config): string[] {
  return differingKeys(before, next).flatMap(({ key, hasEntries }) => {
    if (!hasEntries) return [key]
    const [old, now]: Record<string, unknown>[] = [getProperty(before, key, {}), getProperty(next, key, {})]
    const names = Object.keys({ ...old, ...now })
    return names.filter((name) => !isDeepStrictEqual(old?.[name], now?.[name])).map((name) => `${key}.${name}`)
  })
}
