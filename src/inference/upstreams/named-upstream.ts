import { matchesGlob } from '../../text/glob.ts'
import { createProvider, withEachKey } from './create-provider.ts'
import { createHealth, type Health } from './health.ts'
import type { ModelDeps } from './model-for.ts'
import type { ModelList } from './model-list.ts'
import type { Provider } from './provider.ts'
import type { NamedUpstreamConfig } from './upstream-configs.ts'

/** An upstream, with the known facts about its models. */
export interface NamedUpstream extends ModelDeps {
  /** Provider with the first key. */
  provider: Provider
  /** Provider per key; a single one when there is no key. */
  keys: readonly [Provider, ...Provider[]]
  connectTimeoutMs: number
  weight: number
  /** Tells whether it serves a model, unless a route says otherwise. */
  serves(model: string): boolean
  models: ModelList
  health: Health
}

/**
 * Creates an upstream.
 *
 * @param listOf creates its model list, which is fetched over the network
 */
export function createNamedUpstream(
  config: NamedUpstreamConfig,
  listOf: (upstream: { provider: Provider }) => ModelList,
  health = createHealth(),
): NamedUpstream {
  const keys = withEachKey(createProvider(config), config)
  const [provider] = keys
  const { connect_timeout_ms: connectTimeoutMs, serves = [], weight = 1 } = config
  const models = listOf({ provider })
  return {
    provider,
    keys,
    connectTimeoutMs,
    weight,
    serves: (model) => serves.some((glob) => matchesGlob(glob, model)),
    models,
    health,
    listed: models.listed,
  }
}
