import { isDeepStrictEqual } from 'node:util'
import { type Circuits, createCircuits } from './circuits.ts'
import { createRests, type Rests } from './rests.ts'
import type { NamedUpstreamConfig } from './upstream-configs.ts'

/** Circuit breakers and key cooldowns of an upstream. */
export interface Health {
  circuits: Circuits
  rests: Rests
}

/** Creates the health of an upstream that has not failed. */
export const createHealth = (): Health => ({ circuits: createCircuits(), rests: createRests() })

/** Keeps the health of upstreams when other settings change. @returns the health of one; new when its own settings changed */
export function keepHealth(): (config: NamedUpstreamConfig) => Health {
  const byUpstream = new Map<string | undefined, { settings: object; health: Health }>()
  return (config) => {
    // Both come from the section `upstream` for all upstreams.
    const { models: _, max_retries: __, ...settings } = config
    const known = byUpstream.get(config.id)
    if (known && isDeepStrictEqual(known.settings, settings)) return known.health
    const health = createHealth()
    byUpstream.set(config.id, { settings, health })
    return health
  }
}
