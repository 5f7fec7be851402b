import type { CloudSettings } from '../../providers/cloud.ts'
import type { Preset } from '../../providers/preset.ts'
import type { UnknownPriceAtUpstream } from '../../providers/prices.ts'
import { presetOf } from '../../providers/providers.ts'
import type { ModelRole } from './provider.ts'

/** Configuration of one upstream. */
export interface ProviderConfig {
  /** Its name in `upstreams`. Absent for the upstream `default`. */
  id?: string
  /** Name in records, if not {@link nameInRecords}. */
  name?: string
  provider: string
  /** Address that replaces the preset's. */
  base_url?: string | null
  /** API protocol. Null: that of the preset, or OpenAI's for a base URL. */
  protocol?: Preset['protocol'] | null
  api_key: string | null
  /** API keys, when there are several. */
  api_keys?: readonly string[]
  /** The provider's id of the key, and of each of several. */
  key_id?: string | null
  key_ids?: readonly (string | null)[]
  headers: Record<string, string>
  /** URL of its proxy, or `none`; null for the proxies of the environment. */
  proxy?: string | null
  /** Calls to models without a price. Null: free at the sandbox and known local servers, else `pricing.unknown`. */
  unknown_price?: UnknownPriceAtUpstream | null
  /** Keys of clients. Null: allowed at a known provider's own address. */
  own_keys?: 'allow' | 'refuse' | null
  /** True where the plans of persons pass to the provider. */
  passthrough_credentials?: boolean
  /** Service tier and region of its project, where a request names none. Null for the standard ones. */
  project_tier?: string | null
  project_region?: string | null
  aliases: Record<string, string>
  /** Its address and credentials in a cloud. */
  cloud?: CloudSettings
  models: Record<ModelRole, string>
  timeout_ms: number
  first_byte_timeout_ms?: number | null
  max_retries: number
}

/**
 * Name of an upstream in records: its name in `upstreams`; for `default` the preset's, or the host of a base URL.
 *
 * @example nameInRecords({ provider: 'https://llm.example.com/v1' }) // 'llm.example.com'
 */
export const nameInRecords = ({ id, provider }: Pick<ProviderConfig, 'id' | 'provider'>): string =>
  id ?? (presetOf(provider) ? provider : new URL(provider).host)
