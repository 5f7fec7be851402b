import type { Gateway } from '../../src/gateway.ts'
import type { NamedUpstream } from '../../src/inference/upstreams/named-upstream.ts'
import { type CallLabels, labelsOf } from './call-labels.ts'
import type { Meters, Reading } from './meters.ts'

/** Label of the model of a circuit that guards the connection to an upstream. */
const ALL = 'all'

/** Creates the gauges of what this process holds in memory: the health of its upstreams. */
export function upstreamGauges(meters: Meters, labels: CallLabels, gateway: Pick<Gateway, 'upstream'>): void {
  const ofEach = (read: (upstream: NamedUpstream) => Reading[]) => () =>
    gateway.upstream.routing.upstreams.flatMap(read)
  const named = ({ provider }: NamedUpstream) => {
    const { upstream, provider: vendor } = labelsOf(provider)
    return [upstream, vendor] as const
  }

  meters.gauge(
    'gazeway_circuits_open',
    ofEach((upstream) => {
      const counts = new Map<string, number>([[JSON.stringify([ALL, 'everyone']), 0]])
      for (const { model, for_everyone } of gateway.upstream.relaysOf(upstream)?.openCircuits() ?? []) {
        const key = JSON.stringify([model === null ? ALL : labels.model(model), for_everyone ? 'everyone' : 'one_key'])
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      return [...counts].map(([key, open]) => [open, ...named(upstream), ...JSON.parse(key)])
    }),
  )
  meters.gauge(
    'gazeway_keys_resting',
    ofEach((upstream) => {
      const resting = gateway.upstream.relaysOf(upstream)?.resting() ?? []
      return [[new Set(resting.map(({ key }) => key)).size, ...named(upstream)]]
    }),
  )
  meters.gauge(
    'gazeway_upstream_keys',
    ofEach((upstream) => [[upstream.keys.filter(({ apiKey }) => apiKey !== null).length, ...named(upstream)]]),
  )
}
