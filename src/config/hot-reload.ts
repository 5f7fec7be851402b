import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config-schema.ts'

/** A service that is recreated when its settings change. */
export interface HotReloaded<Service> {
  /** Proxy for the newest service: each member is looked up on use. */
  always: Service
  /** The newest service, for work that must end on the one it began with. */
  now(): Service
  /**
   * Calls `listener` after each reload.
   *
   * @returns unsubscribes
   */
  onReload(listener: () => void): () => void
}

/**
 * Creates a service from the settings that `pick` selects, and recreates it when they change. The members of the proxy
 * are those of the first one.
 */
export function hotReload<Settings, Service extends object>(
  { current, onChange }: { current(): Config; onChange(listener: () => void): void },
  pick: (config: Config) => Settings,
  make: (settings: Settings) => Service,
): HotReloaded<Service> {
  const listeners = new Set<() => void>()
  let settings = pick(current())
  let newest = make(settings)
  onChange(() => {
    const next = pick(current())
    if (isDeepStrictEqual(next, settings)) return
    newest = make(next)
    settings = next
    for (const listener of listeners) listener()
  })
  const members = Object.keys(newest).map((name) => {
    const get = () => newest[name as keyof Service]
    return [name, { get, enumerable: true, configurable: true }] as const
  })
  return {
    always: Object.defineProperties({}, Object.fromEntries(members)) as Service,
    now: () => newest,
    onReload(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
