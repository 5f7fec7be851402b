import { lazily } from '../lazily.ts'
import { type OwnProxy, proxyFor } from './proxy-choice.ts'

const loadProxied = lazily(() => import('./through-proxy.ts'))

/**
 * The global `fetch`, through the proxy of the address if it has one.
 *
 * @param configured proxy of the configuration; null for those of the environment
 * @throws GazewayError as `proxyFor`; otherwise as `fetch`, with a GazewayError as the cause for a failure of the proxy
 */
export async function networkFetch(
  address: string | URL,
  init: RequestInit = {},
  configured: OwnProxy | null = null,
): Promise<Response> {
  const proxy = proxyFor(address, configured)
  if (proxy === null) return fetch(address, init)
  const { fetchThrough } = await loadProxied()
  return fetchThrough(proxy, address, init)
}
