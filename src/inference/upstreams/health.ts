import { isDeepStrictEqual } from 'node:util'
import { type CircuitChange, type Circuits, createCircuits } from './circuits.ts'
import { type Cooldowns, createCooldowns } from './cooldowns.ts'
import { DEFAULT_UPSTREAM } from './provider.ts'
import type { NamedUpstreamConfig } from './upstream-configs.ts'

/** A cooldown that began: of a key by its position, from 1, for one model or all (null). */
export interface BegunRest {
  key: number
  model: string | null
  seconds: number
}

/** Receives the changes of an upstream's health, each once. */
export interface OnHealth {
  circuit(change: CircuitChange): void
  rest(rest: BegunRest): void
}

/** Circuit breakers and key cooldowns of an upstream. */
export interface Health {
  circuits: Circuits
  cooldowns: Cooldowns
  /** Called when a key begins to rest. */
  onRest: OnHealth['rest']
}

const NOBODY: OnHealth = { circuit() {}, rest() {} }

/** Creates the health of an upstream that has not failed. */
export const createHealth = (to = NOBODY): Health => ({
  circuits: createCircuits(to.circuit),
  cooldowns: createCooldowns(),
  onRest: to.rest,
})

/**
 * Keeps the health of upstreams when other settings change.
 *
 * @param listenerOf receives the changes of an upstream, by its name in the configuration
 * @returns the health of one; new when its own settings changed
 */
export function keepHealth(listenerOf: (upstream: string) => OnHealth): (config: NamedUpstreamConfig) => Health {
  const byUpstream = new Map<string | undefined, { settings: object; health: Health }>()
  return (config) => {
    // Both come from the section `upstream` for all upstreams.
    const { models: _, max_retries: __, ...settings } = config
    const known = byUpstream.get(config.id)
    if (known && isDeepStrictEqual(known.settings, settings)) return known.health
    const health = createHealth(listenerOf(config.id ?? DEFAULT_UPSTREAM))
    byUpstream.set(config.id, { settings, health })
    return health
  }
}
