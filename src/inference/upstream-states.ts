import type { Liveness } from './liveness.ts'
import type { NamedUpstream } from './named-upstream.ts'
import type { RecentCalls } from './recent-calls.ts'
import type { Relays } from './relay/relays.ts'
import type { Routing } from './routing.ts'

/** An upstream as an operator sees it. */
export interface ShownUpstream extends RecentCalls {
  /** `default`, or its name among `upstreams`. */
  name: string
  /** Its name in records. */
  provider: string
  base_url: string
  protocol: 'openai' | 'anthropic'
  configured: boolean
  reachable: boolean | null
  keys: number
  /** The keys that rest, by their place from 1, and for how many seconds. */
  resting_keys: { key: number; seconds: number }[]
  /** The endpoints that the circuit breaker leaves alone. */
  left_alone: string[]
}

/** The upstreams that are configured now, `default` first. */
export async function upstreamStates(deps: {
  routing: Routing
  liveness: Liveness
  recent: (upstream: string) => RecentCalls
  /** Null while nothing was asked. */
  relaysOf: (upstream: NamedUpstream) => Relays | null
}): Promise<ShownUpstream[]> {
  const { routing, liveness, recent, relaysOf } = deps
  const { upstreams: states } = await liveness.current()
  return routing.upstreams.map((upstream, at) => {
    const { provider, keys } = upstream
    const relays = relaysOf(upstream)
    return {
      name: provider.id,
      provider: provider.name,
      base_url: provider.baseUrl,
      protocol: provider.protocol,
      configured: provider.hasKey,
      reachable: states[at]?.reachable ?? null,
      keys: keys.filter(({ apiKey }) => apiKey !== null).length,
      resting_keys: relays?.resting() ?? [],
      left_alone: relays?.leftAlone() ?? [],
      ...recent(provider.name),
    }
  })
}
