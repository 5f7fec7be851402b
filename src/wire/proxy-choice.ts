import { BlockList, isIP } from 'node:net'
import { GazewayError } from '../errors.ts'

/** A forward proxy. */
export interface ForwardProxy {
  /** Its origin, without credentials: `http://proxy.example.com:3128`. */
  origin: string
  /** Value of `Proxy-Authorization`; null without credentials. */
  authorization: string | null
  /** Variable or setting that names it. */
  source: string
}

/** A proxy of the configuration, which takes precedence over those of the environment. */
export interface OwnProxy {
  /** URL of a proxy, or {@link NO_PROXY}. */
  value: string
  /** Setting that holds it. */
  setting: string
}

/** Value of a setting that connects without a proxy. */
export const NO_PROXY = 'none'

const HTTPS_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']
const HTTP_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']

/** Addresses of this machine, which no other machine can reach for it. */
const own = new BlockList()
own.addSubnet('127.0.0.0', 8)
own.addAddress('0.0.0.0')
own.addAddress('::1', 'ipv6')
own.addAddress('::', 'ipv6')

/**
 * Chooses the proxy for an address, as curl does: `https_proxy` or `http_proxy`, else `all_proxy`, each also in upper
 * case, unless `no_proxy` names the host. An empty variable means no proxy. Addresses of this machine never take one.
 *
 * @param configured takes precedence over the environment; null for the environment
 * @returns null for a direct connection
 * @throws GazewayError `upstream_unreachable` for a proxy that cannot be used, such as a SOCKS proxy
 */
export function proxyFor(
  address: string | URL,
  configured: OwnProxy | null = null,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ForwardProxy | null {
  const { hostname, port, protocol } = new URL(address)
  const isSecure = protocol === 'https:'
  const host = plainHost(hostname)
  if (isOwnMachine(host)) return null
  if (configured !== null) return configured.value === NO_PROXY ? null : proxyAt(configured.value, configured.setting)
  const source = (isSecure ? HTTPS_VARIABLES : HTTP_VARIABLES).find((name) => env[name] !== undefined)
  const value = source === undefined ? '' : (env[source] ?? '').trim()
  if (source === undefined || value === '') return null
  const exempt = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  const target = { host, port: Number(port) || (isSecure ? 443 : 80) }
  return exempt.some((entry) => isExempt(target, entry)) ? null : proxyAt(value, source)
}

/**
 * Names the proxy for an address, for operators.
 *
 * @returns ` through the proxy http://proxy.example.com:3128 (HTTPS_PROXY)`; empty for a direct connection
 * @throws GazewayError as {@link proxyFor}
 */
export function throughProxy(address: string | URL, configured: OwnProxy | null = null): string {
  const proxy = proxyFor(address, configured)
  return proxy === null ? '' : ` through ${nameOf(proxy)}`
}

/** Name of a proxy in messages, with the variable or setting that names it, and without its credentials. */
export const nameOf = ({ origin, source }: ForwardProxy): string => `the proxy ${origin} (${source})`

/**
 * Tells whether a text is the URL of an HTTP proxy: http or https, without path and query. Credentials are allowed.
 *
 * @example isProxyUrl('http://user:password@proxy.example.com:3128') // true
 */
export function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, pathname, search, hash } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && pathname === '/' && search === '' && hash === ''
}

/** Reads the address of a proxy. Without a scheme it is an HTTP proxy, as for curl. */
function proxyAt(value: string, source: string): ForwardProxy {
  const text = value.includes('://') ? value : `http://${value}`
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw unusable(source, /^socks/i.test(value))
  const { origin, username, password } = new URL(text)
  const credentials = `${decoded(username)}:${decoded(password)}`
  const authorization = credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`
  return { origin, authorization, source }
}

/** Leaves the value out, because it may contain a password. */
const unusable = (source: string, isSocks: boolean): GazewayError =>
  new GazewayError(
    'upstream_unreachable',
    `${source} ${isSocks ? 'names a SOCKS proxy, which is not supported' : 'is not the address of a proxy'}. Set it to an HTTP proxy such as http://proxy.example.com:3128, or exempt the host in NO_PROXY.`,
  )

/**
 * Tells whether an entry of `no_proxy` names a host: the host or a domain above it, an address or a range in CIDR
 * notation, each with or without a port; `*` names all.
 */
function isExempt({ host, port }: { host: string; port: number }, entry: string): boolean {
  if (entry === '*') return true
  const [, name = entry, ofPort] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? []
  if (ofPort !== undefined && Number(ofPort) !== port) return false
  if (isIP(host) !== 0) return isInRange(host, name.replace(/[[\]]/g, ''))
  const domain = plainHost(name.replace(/^\*?\./, ''))
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`))
}

/** Tells whether an address is another one, or within a range. */
function isInRange(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/')
  const version = isIP(network)
  const width = version === 6 ? 128 : 32
  const prefix = bits === undefined ? width : Number(bits)
  if (version === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > width) return false
  const list = new BlockList()
  list.addSubnet(network, prefix, familyOf(network))
  return list.check(address, familyOf(address))
}

const isOwnMachine = (host: string): boolean =>
  isIP(host) === 0 ? host === 'localhost' || host.endsWith('.localhost') : own.check(host, familyOf(host))

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** A host in lower case, without brackets and the dot of the root. */
const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone "%" is a legal character of a password as written.
    return text
  }
}
