import type { NamedUpstream } from '../named-upstream.ts'
import { createBreakers } from './breaker.ts'
import { HEARTBEAT_MS } from './held-receiver.ts'
import { createRelay, type Relay } from './relay.ts'
import type { Send } from './send.ts'

/** What carries requests to one upstream, with each of its keys. */
export interface Relays {
  upstream: NamedUpstream
  /** One for each key, in their order. */
  all: readonly [Relay, ...Relay[]]
  /** Those whose keys do not rest. */
  awake(): readonly Relay[]
  /** The one whose rest is over first. */
  firstAwake(): Relay
  /** Leaves the key of a relay alone for so long, in milliseconds. */
  rest(relay: Relay, forMs: number): void
  /** The keys that rest, by their place from 1, and for how many seconds. */
  resting(): { key: number; seconds: number }[]
  /** The paths that the circuit breaker leaves alone. */
  leftAlone(): string[]
  /** Whether requests to a path would fail at once, as the circuit breaker leaves it alone. */
  isLeftAlone(path: string): boolean
}

/** The relays of an upstream over one transport; they share its circuit breakers. */
export function createRelays(upstream: NamedUpstream, send: Send, heartbeatMs = HEARTBEAT_MS): Relays {
  const breakers = createBreakers()
  const relayWith = (provider: NamedUpstream['provider']) => createRelay(provider, send, breakers, heartbeatMs)
  const [first, ...others] = upstream.keys
  const all: Relays['all'] = [relayWith(first), ...others.map(relayWith)]
  const restUntil = new Map<Relay, number>()
  const until = (relay: Relay): number => restUntil.get(relay) ?? 0

  return {
    upstream,
    all,
    awake() {
      if (restUntil.size === 0) return all
      const now = performance.now()
      for (const [relay, end] of restUntil) if (end <= now) restUntil.delete(relay)
      return restUntil.size === 0 ? all : all.filter((relay) => !restUntil.has(relay))
    },
    firstAwake: () => all.reduce((soonest, relay) => (until(relay) < until(soonest) ? relay : soonest)),
    rest(relay, forMs) {
      restUntil.set(relay, Math.max(until(relay), performance.now() + forMs))
    },
    resting() {
      const now = performance.now()
      return all.flatMap((relay, at) =>
        until(relay) > now ? [{ key: at + 1, seconds: Math.ceil((until(relay) - now) / 1000) }] : [],
      )
    },
    leftAlone: () => [...breakers].flatMap(([path, breaker]) => (breaker.isLeftAlone() ? [path] : [])),
    isLeftAlone: (path) => breakers.get(path)?.isLeftAlone() ?? false,
  }
}
