import type { Config } from '../config/config-schema.ts'
import type { Environment } from '../config/environment.ts'
import { createProvider, withEachKey } from '../inference/upstreams/create-provider.ts'
import type { Provider } from '../inference/upstreams/provider.ts'
import { namedConfigs } from '../inference/upstreams/upstream-configs.ts'
import { adminKeyVariableOf } from '../providers/key-variable.ts'
import { presetOf } from '../providers/providers.ts'

/** An account at a provider, with the upstreams that spend from it. */
export interface Account {
  /** Name of the known provider, or that of the upstream for a base URL. */
  vendor: string
  /** Names of its upstreams in records. */
  upstreams: readonly string[]
  /** Their API keys. */
  keys: readonly string[]
  /** The provider's ids of them, as far as known. */
  keyIds: readonly string[]
  /** Key that reads its bill. Null when none is set. */
  admin: { key: string; variable: string; kind: string; page: string } | null
  /** Variable to set. Null where Gazeway reads no bill. */
  variable: string | null
  provider: Provider
}

/**
 * Finds the accounts of a configuration. Upstreams of one provider with one admin key share an account.
 *
 * A provider's own variable, such as `OPENAI_ADMIN_KEY`, is for its own address; an upstream with another address needs
 * its own variable.
 */
export function accountsOf(config: Config, env: Environment): Account[] {
  const { upstream, upstreams } = config
  const found = [
    accountOf([createProvider(upstream)], { name: null, provider: upstream.provider, base_url: null }, env, [
      upstream.api_key ?? '',
    ]),
    ...namedConfigs(config).map((one) => {
      const { id = '' } = one
      const { base_url = null, api_keys = [] } = upstreams[id] ?? {}
      return accountOf(
        withEachKey(createProvider(one), one),
        { name: id, provider: one.provider, base_url },
        env,
        api_keys,
      )
    }),
  ]
  const accounts = new Map<string, Account>()
  for (const account of found) {
    const { vendor, provider, admin } = account
    const name = admin === null ? provider.name : `${vendor} ${provider.baseUrl} ${admin.key}`
    const known = accounts.get(name)
    accounts.set(name, known === undefined ? account : together(known, account))
  }
  return [...accounts.values()]
}

const together = (one: Account, other: Account): Account => ({
  ...one,
  upstreams: [...new Set([...one.upstreams, ...other.upstreams])],
  keys: [...new Set([...one.keys, ...other.keys])],
  keyIds: [...new Set([...one.keyIds, ...other.keyIds])],
})

function accountOf(
  each: readonly [Provider, ...Provider[]],
  { name, provider: of, base_url }: { name: string | null; provider: string; base_url: string | null },
  env: Environment,
  keys: readonly string[],
): Account {
  const [provider] = each
  const preset = presetOf(of)
  const kind = preset?.adminKey
  const own = adminKeyVariableOf(name)
  const ofVendor = base_url === null ? kind?.variable : undefined
  const variable = [own, ofVendor].find((one) => one !== undefined && env[one]?.trim())
  const key = variable === undefined ? undefined : env[variable]?.trim()
  return {
    vendor: preset?.name ?? provider.name,
    upstreams: [provider.name],
    keys: keys.filter((one) => one !== ''),
    keyIds: each.flatMap(({ keyId }) => keyId ?? []),
    admin:
      kind === undefined || variable === undefined || key === undefined
        ? null
        : { key, variable, kind: kindOf(kind.prefix), page: kind.page },
    variable: kind === undefined ? null : (ofVendor ?? own),
    provider,
  }
}

const kindOf = (prefix: string | null): string => (prefix === null ? 'a management key' : `an admin key (${prefix}…)`)

/** Fault of an admin key that is of another kind. Null when none shows. */
export function keyFault({ vendor, admin }: Account): string | null {
  const prefix = presetOf(vendor)?.adminKey?.prefix ?? null
  if (admin === null || prefix === null || admin.key.startsWith(prefix)) return null
  return `${admin.variable} is not ${admin.kind}: make one at ${admin.page}`
}
