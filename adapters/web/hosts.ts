import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { GazewayError } from '../../src/errors.ts'

/** Allowed hosts and origins of requests. */
export interface HostRules {
  /** Allowed names without port, this machine's own included. */
  allowedHosts: ReadonlySet<string>
  allowedOrigins: ReadonlySet<string>
  /**
   * Tells whether any name is allowed. It is when the service listens beyond this machine and no names are configured.
   */
  anyHost: boolean
}

/** This machine's own names in a Host header. */
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]']

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Creates the rules for a service that listens on `host`. */
export function hostRules(host: string, allowedHosts: readonly string[], allowedOrigins: readonly string[]): HostRules {
  return {
    allowedHosts: new Set([...OWN_NAMES, ...[host, ...allowedHosts].map(asNamed)]),
    allowedOrigins: new Set(allowedOrigins),
    anyHost: !isLoopback(host) && allowedHosts.length === 0,
  }
}

/** Tells whether a host is a loopback address (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
export function isLoopback(host: string): boolean {
  const version = isIP(host)
  return version === 0 ? host.toLowerCase() === 'localhost' : loopback.check(host, version === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Converts a host to its form in a Host header: in lower case, IPv6 addresses shortened and in brackets, without zone.
 */
function asNamed(host: string): string {
  if (isIP(host) !== 6) return host.toLowerCase()
  return new URL(`http://[${host.replace(/%.*$/, '')}]`).hostname
}

/**
 * Refuses requests of foreign web pages. A page whose name was made to point here (DNS rebinding) has a foreign Host. A
 * page that only sends requests has a foreign Origin.
 *
 * @throws GazewayError `forbidden_origin`
 */
export function checkHost(headers: IncomingHttpHeaders, rules: HostRules): void {
  const fault = hostFault(headers, rules)
  if (fault !== null) throw fault
}

/** Tells whether a request names a loopback host. Web pages and other machines cannot name one. */
export const isToLoopback = ({ host }: IncomingHttpHeaders): boolean => isLoopback(nameOf(host).replace(/^\[|\]$/g, ''))

/** The host of a Host header, without its port. */
const nameOf = (host: string | undefined): string => host?.replace(/:\d+$/, '').toLowerCase() ?? ''

/** Error for a request that {@link checkHost} refuses; null when it passes. */
export function hostFault({ host, origin }: IncomingHttpHeaders, rules: HostRules): GazewayError | null {
  const name = nameOf(host)
  if (!rules.anyHost && !rules.allowedHosts.has(name))
    return forbidden(
      `The host ${JSON.stringify(name.slice(0, 100))} is not allowed. Use localhost, or add it to http.allowed_hosts.`,
    )
  if (origin === undefined || rules.allowedOrigins.has(origin)) return null
  // A page that this service delivered has the requested host as its origin.
  if (origin === `http://${host}` || origin === `https://${host}`) return null
  return forbidden(
    `Requests from the origin ${JSON.stringify(origin.slice(0, 100))} are not allowed. Add it to http.allowed_origins.`,
  )
}

const forbidden = (message: string): GazewayError => new GazewayError('forbidden_origin', message)
