import type { Relays, RestingKey } from '../relay/relays.ts'
import type { Routing } from '../route/routing.ts'
import type { OpenCircuit } from '../upstreams/circuits.ts'
import type { FetchedList } from '../upstreams/model-list.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { Liveness } from './liveness.ts'
import type { RecentCalls } from './recent-calls.ts'

/** State of an upstream, for operators. */
export interface ShownUpstream extends RecentCalls {
  /** `default`, or its name in `upstreams`. */
  name: string
  /** Name in records. */
  provider: string
  base_url: string
  protocol: 'openai' | 'anthropic'
  configured: boolean
  reachable: boolean | null
  keys: number
  /** Keys that are cooling down. */
  resting_keys: RestingKey[]
  open_circuits: OpenCircuit[]
  /** Last fetch of its model list in this process. Null before the first. */
  model_list: FetchedList | null
}

/** Reads the state of all configured upstreams, `default` first. */
export async function upstreamStates(deps: {
  routing: Routing
  liveness: Liveness
  recent: (upstream: string) => RecentCalls
  /** Null before the first call. */
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
      open_circuits: relays?.openCircuits() ?? [],
      model_list: upstream.models.fetched(),
      ...recent(provider.name),
    }
  })
}
