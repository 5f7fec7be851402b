import type { NamedUpstream } from '../named-upstream.ts'
import { HEARTBEAT_MS } from './held-receiver.ts'
import { createRelay, type Relay } from './relay.ts'
import type { Send } from './send.ts'

/** Relays to one upstream, one per key. */
export interface Relays {
  upstream: NamedUpstream
  /** In the order of the keys. */
  all: readonly [Relay, ...Relay[]]
  /** Relays whose keys are not cooling down. */
  awake(): readonly Relay[]
  /** Relay whose cooldown ends first. */
  firstAwake(): Relay
  /** Lets the key of a relay cool down for some milliseconds. */
  rest(relay: Relay, forMs: number): void
  /** Keys that are cooling down, by position from 1, with the seconds left. */
  resting(): { key: number; seconds: number }[]
  /** Paths whose circuit breaker is open. */
  openCircuits(): string[]
  /** Tells whether the circuit breaker of a path is open, so that requests to it fail at once. */
  isOpen(path: string): boolean
}

/** Creates the relays of an upstream over one transport. They share its circuit breakers. */
export function createRelays(upstream: NamedUpstream, send: Send, heartbeatMs = HEARTBEAT_MS): Relays {
  const { breakers, restUntil } = upstream.health
  const relayWith = (provider: NamedUpstream['provider']) => createRelay(provider, send, breakers, heartbeatMs)
  const [first, ...others] = upstream.keys
  const all: Relays['all'] = [relayWith(first), ...others.map(relayWith)]
  const until = ({ provider }: Relay): number => restUntil.get(provider.apiKey) ?? 0

  return {
    upstream,
    all,
    awake() {
      if (restUntil.size === 0) return all
      const now = performance.now()
      for (const [key, end] of restUntil) if (end <= now) restUntil.delete(key)
      return restUntil.size === 0 ? all : all.filter(({ provider }) => !restUntil.has(provider.apiKey))
    },
    firstAwake: () => all.reduce((soonest, relay) => (until(relay) < until(soonest) ? relay : soonest)),
    rest(relay, forMs) {
      restUntil.set(relay.provider.apiKey, Math.max(until(relay), performance.now() + forMs))
    },
    resting() {
      const now = performance.now()
      return all.flatMap((relay, at) =>
        until(relay) > now ? [{ key: at + 1, seconds: Math.ceil((until(relay) - now) / 1000) }] : [],
      )
    },
    openCircuits: () => [...breakers].flatMap(([path, breaker]) => (breaker.isOpen() ? [path] : [])),
    isOpen: (path) => breakers.get(path)?.isOpen() ?? false,
  }
}
