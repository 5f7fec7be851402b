import { createRouting, type Route, type Routing } from '../../src/inference/route/routing.ts'
import { createNamedUpstream, type NamedUpstream } from '../../src/inference/upstreams/named-upstream.ts'
import type { NamedUpstreamConfig } from '../../src/inference/upstreams/upstream-configs.ts'

/** An upstream whose list of models is not requested. */
export const upstreamAt = (
  url: string,
  over: Partial<NamedUpstreamConfig> = {},
  listed: readonly string[] = [],
): NamedUpstream =>
  createNamedUpstream(
    {
      provider: url,
      api_key: 'upstream-secret-key',
      headers: {},
      aliases: {},
      models: { primary: 'a', fallback: 'b', chat: 'c' },
      timeout_ms: 60_000,
      connect_timeout_ms: 5000,
      max_retries: 0,
      ...over,
    },
    () => ({
      listed: async () => null,
      all: async () => [],
      known: () => listed,
      knows: (name) => listed.includes(name),
      limits: () => null,
      factsOf: () => ({}),
      fetched: () => null,
    }),
  )

/** Routing with one default upstream and optional others. */
export const routingTo = (
  first: NamedUpstream,
  others: readonly NamedUpstream[] = [],
  routes: readonly Route[] = [],
): Routing => createRouting([first, ...others], routes)
