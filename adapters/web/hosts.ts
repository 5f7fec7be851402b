import type { IncomingHttpHeaders } from 'node:http'
import { GazewayError } from '../../src/errors.ts'

/** Which hosts and origins requests may name. */
export interface HostRules {
  /** Names besides this machine's own, without port; empty and not on loopback: any. */
  allowedHosts: ReadonlySet<string>
  allowedOrigins: ReadonlySet<string>
  /** Listening beyond this machine: its names are then the operator's business unless they are listed. */
  anyHost: boolean
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** The rules for a service that listens on `host`. */
export function hostRules(host: string, allowedHosts: readonly string[], allowedOrigins: readonly string[]): HostRules {
  const beyond = !LOOPBACK.has(host)
  return {
    allowedHosts: new Set([...LOOPBACK, host, ...allowedHosts]),
    allowedOrigins: new Set(allowedOrigins),
    anyHost: beyond && allowedHosts.length === 0,
  }
}

/**
 * Refuses requests that a foreign web page sent: one whose name was made to point here (DNS rebinding) has a foreign
 * Host, one that only sends has a foreign Origin.
 *
 * @throws GazewayError `forbidden_origin`
 */
export function checkHost({ host, origin }: IncomingHttpHeaders, rules: HostRules): void {
  const name = host?.replace(/:\d+$/, '').toLowerCase() ?? ''
  if (!rules.anyHost && !rules.allowedHosts.has(name))
    throw new GazewayError(
      'forbidden_origin',
      `The host ${JSON.stringify(name.slice(0, 100))} is not served here. Use localhost, or add it to http.allowed_hosts.`,
    )
  if (origin === undefined || rules.allowedOrigins.has(origin)) return
  // A page that this service itself delivered has the host that it was asked for as its origin.
  if (origin === `http://${host}` || origin === `https://${host}`) return
  throw new GazewayError(
    'forbidden_origin',
    `Requests from the origin ${JSON.stringify(origin.slice(0, 100))} are not served. Add it to http.allowed_origins to allow it.`,
  )
}
