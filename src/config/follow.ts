import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config-schema.ts'

/** A service that is made anew when the settings that it is made of change. */
export interface Followed<Service> {
  /** Stands for the newest, whichever that is: each member is looked up when it is used. */
  always: Service
  /** The newest itself, for work that has to end on the one that it began with. */
  now(): Service
  /** Calls `listener` after it was made anew. @returns stops calling it */
  onRenewed(listener: () => void): () => void
}

/**
 * Makes a service of the settings that `pick` takes, and makes it anew after each change of them. Its members are those that
 * it has at first.
 */
export function follow<Settings, Service extends object>(
  { current, onChange }: { current(): Config; onChange(listener: () => void): void },
  pick: (config: Config) => Settings,
  make: (settings: Settings) => Service,
): Followed<Service> {
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
    onRenewed(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
