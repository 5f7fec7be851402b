import type { Config } from '../../config/config-schema.ts'
import { providerOf } from '../../config/upstream-keys.ts'
import { missingKey } from './missing-key.ts'
import type { ProviderConfig } from './provider-config.ts'

/**
 * Configurations of the upstreams beside `default`, with the models of the roles. Entries without a provider are
 * skipped.
 */
export function namedConfigs({ upstream, upstreams }: Pick<Config, 'upstream' | 'upstreams'>): NamedUpstreamConfig[] {
  return Object.entries(upstreams).flatMap(([id, entry]) => {
    const provider = providerOf(id, entry)
    if (provider === null) return []
    const { models: serves, ...rest } = entry
    const { models, max_retries } = upstream
    return [{ ...rest, id, provider, api_key: entry.api_keys[0] ?? null, serves, models, max_retries }]
  })
}

/**
 * Advice for each missing key. The upstream `default` is omitted when others have their keys, since it may be unused.
 */
export function missingKeys(config: Pick<Config, 'upstream' | 'upstreams'>): string[] {
  const named = namedConfigs(config).map(missingKey)
  const ofDefault = named.includes(null) ? null : missingKey(config.upstream)
  return [ofDefault, ...named].filter((missing) => missing !== null)
}

/** Configuration of an upstream. */
export interface NamedUpstreamConfig extends ProviderConfig {
  connect_timeout_ms: number
  /** Globs of the models that it serves, unless a route says otherwise. */
  serves?: readonly string[]
  /** Its share of the calls of a weighted route. */
  weight?: number
}
