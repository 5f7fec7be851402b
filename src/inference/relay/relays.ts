import type { Circuit, OpenCircuit } from '../upstreams/circuits.ts'
import type { Cooldown } from '../upstreams/cooldowns.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import type { Send } from './exchange.ts'
import { createRelay, type Relay } from './relay.ts'

/** A key that is cooling down. */
export interface RestingKey {
  /** Position of the key, from 1. */
  key: number
  /** Model that it is limited for. Null for all. */
  model: string | null
  seconds: number
}

/** Relays to one upstream, one per key. A request that asks no model has no circuit. */
export interface Relays {
  upstream: Pick<NamedUpstream, 'provider'>
  /** In the order of the keys. */
  all: readonly [Relay, ...Relay[]]
  /** Relays whose keys are not cooling down for a request. */
  awake(circuit: Circuit | null): readonly Relay[]
  /** Relay whose cooldown ends first. */
  firstAwake(circuit: Circuit | null): Relay
  /** Creates a relay that calls the upstream as another provider would, with circuits of its own. */
  relayWith(provider: NamedUpstream['provider']): Relay
  /** Lets the key of a relay cool down after a refusal. */
  rest(relay: Relay, circuit: Circuit | null, cooldown: Cooldown | null): void
  /** Keys that are cooling down. */
  resting(): RestingKey[]
  openCircuits(): OpenCircuit[]
  /** Tells whether the circuit of a request is open, so that it fails at once. */
  isOpen(circuit: Circuit | null): boolean
}

/** Creates the relays of an upstream over one transport. They share its circuit breakers. */
export function createRelays(upstream: NamedUpstream, send: Send): Relays {
  const { circuits, cooldowns, onRest } = upstream.health
  const ofOurs = (provider: NamedUpstream['provider']) => createRelay(provider, send, circuits)
  const [first, ...others] = upstream.keys
  const all: Relays['all'] = [ofOurs(first), ...others.map(ofOurs)]
  const positionOf = (apiKey: string | null) => 1 + upstream.keys.findIndex((key) => key.apiKey === apiKey)
  const left = ({ provider }: Relay, circuit: Circuit | null): number => cooldowns.leftMs(provider.apiKey, circuit)

  return {
    upstream,
    all,
    awake(circuit) {
      const awake = all.filter((relay) => left(relay, circuit) === 0)
      return awake.length === all.length ? all : awake
    },
    firstAwake: (circuit) =>
      all.reduce((soonest, relay) => (left(relay, circuit) < left(soonest, circuit) ? relay : soonest)),
    relayWith: (provider) => createRelay(provider, send),
    rest({ provider: { apiKey } }, circuit, cooldown) {
      if (cooldown === null) return
      const { of, forMs } = cooldown
      const isResting = cooldowns.leftMs(apiKey, circuit) > 0
      if (of === 'key') cooldowns.reject(apiKey, forMs)
      else if (circuit) cooldowns.limit(apiKey, circuit, forMs)
      else return
      const model = of === 'key' ? null : (circuit?.model ?? null)
      if (!isResting) onRest({ key: positionOf(apiKey), model, seconds: Math.ceil(forMs / 1000) })
    },
    resting: () =>
      cooldowns.list().map(({ apiKey, model, leftMs }) => ({
        key: positionOf(apiKey),
        model,
        seconds: Math.ceil(leftMs / 1000),
      })),
    openCircuits: () => circuits.open(),
    isOpen: (circuit) => circuit !== null && circuits.isOpen(circuit),
  }
}
