import type { Config } from '../config/config-schema.ts'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import type { Pass, Passes } from '../identity/passes.ts'

/** The agent gateway behind the platform's `/v1`. */
export interface AgentGatewayTarget {
  /** Address without a trailing slash and without `/v1`. */
  url: string
  /** Key of the agent gateway, if one serves all callers. */
  key: string | null
  /** True for this process's own gateway: callers use their own identity, and it needs no key. */
  isOwn: boolean
  /**
   * Finds the key or pass for a request of `caller`; null sends none.
   *
   * @param address address of the caller's client
   * @throws GazewayError `upstream_not_configured` when it is a Gazeway in another process without a configured key
   */
  admit(caller: Identity, address: string | null): Pass | null
}

/**
 * Returns the agent gateway that the configuration names. The default is this machine's own gateway. If that runs in
 * this process, callers use their own identity there.
 *
 * @param own the HTTP gateway in this process, if any
 */
export function agentGatewayTarget(
  {
    agent_gateway: { url, key },
    http,
  }: Pick<Config, 'agent_gateway'> & { http: Pick<Config['http'], 'host' | 'port'> },
  own: { url: string; passes: Passes } | null,
): AgentGatewayTarget {
  if (url !== null)
    return { url: url.replace(/\/+$/, '').replace(/\/v1$/, ''), key, isOwn: false, admit: () => shared(key) }
  if (own !== null)
    return {
      url: fromHere(own.url),
      key: null,
      isOwn: true,
      admit: (caller, address) => own.passes.issue(caller, address),
    }
  return {
    url: fromHere(`http://${http.host.includes(':') ? `[${http.host}]` : http.host}:${http.port}`),
    key,
    isOwn: false,
    admit() {
      if (key !== null) return shared(key)
      throw new GazewayError(
        'upstream_not_configured',
        'No key for the agent gateway is set. Either start gazeway with --http --platform, which runs it in this ' +
          'process, or set GAZEWAY_AGENT_GATEWAY_KEY (and GAZEWAY_AGENT_GATEWAY_URL, if it is not on this machine).',
      )
    },
  }
}

const shared = (key: string | null): Pass | null => (key === null ? null : { token: key, end: () => {} })

/** Replaces the address of a service that listens on all addresses by one that this machine can connect to. */
const fromHere = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
