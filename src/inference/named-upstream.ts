import { matchesGlob } from '../text/glob.ts'
import type { ModelDeps } from './model-for.ts'
import type { ModelList } from './model-list.ts'
import { createProvider, type Provider, type ProviderConfig, withEachKey } from './provider.ts'

/** An upstream as it is configured. */
export interface NamedUpstreamConfig extends ProviderConfig {
  connect_timeout_ms: number
  /** Globs of the models that it serves where no route says otherwise. */
  serves?: readonly string[]
  /** Its share of the calls of a weighted route. */
  weight?: number
}

/** One upstream, and what is known of its models. */
export interface NamedUpstream extends ModelDeps {
  /** With its first key. */
  provider: Provider
  /** The provider with each of its keys; as it is where it has none. */
  keys: readonly [Provider, ...Provider[]]
  connectTimeoutMs: number
  weight: number
  /** Whether it serves a model where no route says otherwise. */
  serves(model: string): boolean
  models: ModelList
}

/** @param listOf its list of models, which is asked for over the network */
export function createNamedUpstream(
  config: NamedUpstreamConfig,
  listOf: (upstream: { provider: Provider }) => ModelList,
): NamedUpstream {
  const keys = withEachKey(createProvider(config), config.api_keys ?? [])
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
    listed: models.listed,
  }
}
