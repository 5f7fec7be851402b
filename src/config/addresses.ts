import { isIP } from 'node:net'

/**
 * Tells whether `text` is a base URL for an upstream: http or https, without credentials, query or fragment.
 *
 * @example isBaseUrl('http://127.0.0.1:11434/v1') // true
 */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return (url.protocol === 'http:' || url.protocol === 'https:') && plain
}

/** Tells whether `text` is an origin as browsers send it (RFC 6454 section 6.2): scheme, host and port. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

/** Tells whether `text` is a plain absolute path: no empty or dot segments, no percent-encoding, no query. */
export function isPlainPath(text: string): boolean {
  return /^(\/[\w.~:-]+)+$/.test(text) && text.split('/').every((segment) => segment !== '.' && segment !== '..')
}

/**
 * Tells whether `text` is an IP address, or a network in CIDR notation.
 *
 * @example isNetwork('10.0.0.0/8') // true
 */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits ?? 0) <= (version === 6 ? 128 : 32)
}
