import { GazewayError } from '../../errors.ts'
import type { Provider } from '../upstreams/provider.ts'

const THIS_MACHINE = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Requires that an upstream is the cloud itself, or on this machine. Credentials that the machine happens to have are
 * not sent to whatever address somebody set as `base_url`.
 *
 * @throws GazewayError `upstream_not_configured`
 */
export function requireOwnHost({ cloud, baseUrl, label, section }: Provider): void {
  const { hostname, protocol } = new URL(baseUrl)
  if ((protocol === 'https:' && cloud?.hosts.test(hostname)) || THIS_MACHINE.has(hostname)) return
  throw new GazewayError(
    'upstream_not_configured',
    `The upstream ${label} is at ${hostname}, which gets no credentials of this machine. Set ${section === 'upstream' ? 'upstream.api_key' : `${section}.api_keys`}, or remove ${section}.base_url.`,
  )
}
