import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { getProperty, setProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import { changedKeys } from './changed.ts'
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

/** How often it is looked whether another process, or a person, changed something; in milliseconds. */
const POLL_MS = 2_000

/** Told of a change: what is in force now, and what was before. */
export type ConfigListener = (now: LoadedConfig, before: LoadedConfig) => void

/** The configuration of a running process. */
export interface LiveConfig {
  /** What is in force. What waits for a restart has the value that the process was started with. */
  current(): LoadedConfig
  /** The same as a process that is started now would read it. */
  stored(): LoadedConfig
  /** The keys in which the two differ: they wait for a restart of this process. */
  waiting(): string[]
  /**
   * What {@link LiveConfig.set} would make of the configuration; nothing is changed.
   *
   * @throws GazewayError as {@link LiveConfig.set}
   */
  preview(changes: Readonly<Record<string, unknown>>): Promise<LoadedConfig>
  /**
   * Makes changes by dotted key where this configuration lives, all or none, and takes them into force. Another provider
   * or agent gateway loses the key that was given for the last one, unless a key comes with it.
   *
   * @returns the keys, and entries of keys, that have another value now
   * @throws GazewayError as `setDotted` and `ConfigHome.change`; `conflict` for a secret without its address, where a flag or
   *   variable is over the one that is stored
   */
  set(changes: Readonly<Record<string, unknown>>): Promise<string[]>
  /** Looks now for what others changed; what cannot be read is logged once, and what was in force stays. */
  refresh(): Promise<void>
  /** Calls `listener` after each change, one that waits for a restart too, in this process or another. @returns stops calling it */
  onChange(listener: ConfigListener): () => void
  /**
   * A service made of settings, and made anew when they change; calls under way end on the one that they began with.
   *
   * @param pick the settings that it is made of
   */
  follow<Settings, Service extends object>(
    pick: (config: Config) => Settings,
    make: (settings: Settings) => Service,
  ): Followed<Service>
  /** Stops looking for changes. */
  close(): Promise<void>
}

/**
 * The configuration of this process from now on, which follows config.json and what lies over it in `home` within 2 s.
 *
 * @param loaded what config.json, environment and flags gave at the start
 * @param onFault told, once for each state, why what was changed cannot be taken into force; the last good one stays
 * @throws the store's error where `home` cannot be read at the start
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
  let faultTold = ''
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

  function tellOnce(error: unknown): void {
    const told = String(error)
    if (told !== faultTold) onFault(error)
    faultTold = told
  }

  /** Reads everything again. @throws the store's error */
  async function read(): Promise<void> {
    const mark = await fingerprint()
    const over = await home.read()
    try {
      document = rereadDocument(file, document)
      faultTold = ''
    } catch (error) {
      tellOnce(error)
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
      tellOnce(error)
    }
  }

  /** One after the other: a change that is under way is not read in halves. */
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

  /** Keeps the address in force with a secret that was sent with it: as it was shown, it changed nothing. */
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

/** `stored`, with what waits for a restart as it was at the start. */
function inForce(stored: LoadedConfig, started: Config): LoadedConfig {
  const config = structuredClone(stored.config)
  for (const { key, restart } of CONFIG_KEYS) if (restart) setProperty(config, key, getProperty(started, key))
  return Object.freeze({ ...stored, config: frozen(config), secrets: secretsOf(config) })
}

/** A secret alone, where a flag or variable says which address is in force, would be kept for the one that is stored. */
function forAnother(secret: string, address: string, loaded: LoadedConfig): GazewayError {
  const variable = variableOf(secret)
  const inEnvironment = variable === undefined ? '' : `, or set ${variable} in the environment and start again`
  return new GazewayError(
    'conflict',
    `${secret}: nothing was changed, because it would be for the ${address} that is stored, while ${nameOver(address, loaded)} names ` +
      `another. Send ${address} with it, to keep both${inEnvironment}.`,
    { param: secret },
  )
}
