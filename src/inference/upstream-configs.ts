import type { Config } from '../config/config-schema.ts'
import { providerOf } from '../config/upstream-keys.ts'
import type { NamedUpstreamConfig } from './named-upstream.ts'

/** The upstreams beside `default`, with the models of the roles. One that names no provider is left out. */
export function namedConfigs({ upstream, upstreams }: Pick<Config, 'upstream' | 'upstreams'>): NamedUpstreamConfig[] {
  return Object.entries(upstreams).flatMap(([id, entry]) => {
    const provider = providerOf(id, entry)
    if (provider === null) return []
    const { models: serves, ...rest } = entry
    const { models, max_retries } = upstream
    return [{ ...rest, id, provider, api_key: entry.api_keys[0] ?? null, serves, models, max_retries }]
  })
}
