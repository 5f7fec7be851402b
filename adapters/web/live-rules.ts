import type { Gateway } from '../../src/gateway.ts'
import { type ClientAddresses, clientAddresses } from './client-address.ts'
import { type HostRules, hostRules } from './hosts.ts'
import { type RateLimit, rateLimit } from './rate-limit.ts'

/** Allowed hosts and origins, from the current configuration. */
export function liveHostRules({ config }: Gateway): HostRules {
  return config.hotReload(
    ({ http: { host, allowed_hosts, allowed_origins } }) => ({ host, allowed_hosts, allowed_origins }),
    ({ host, allowed_hosts, allowed_origins }) => hostRules(host, allowed_hosts, allowed_origins),
  ).always
}

/** Addresses of clients, by the trusted proxies of the current configuration. */
export function liveClientAddresses({ config }: Gateway): ClientAddresses {
  return config.hotReload(({ http }) => http.trusted_proxies, clientAddresses).always
}

/** Limits the requests of each key by the current configuration. A changed limit starts to count from zero. */
export function liveRateLimit({ config }: Gateway): RateLimit {
  const rules = config.hotReload(
    ({ http }) => http.rate_limit,
    ({ requests_per_minute }) => ({ present: requests_per_minute === null ? null : rateLimit(requests_per_minute) }),
  ).always
  return {
    limit: (c, next) => (rules.present === null ? next() : rules.present.limit(c, next)),
    count: (keyId) => rules.present?.count(keyId),
  }
}
