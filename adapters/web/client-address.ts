import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Leading groups of an IPv6 address that one network has (a /64, RFC 4291 section 2.5.4). */
const NETWORK_GROUPS = 4

const ADDRESS = Symbol('client address')
/** Stored on the request itself, as its caller is. */
type Addressed = IncomingMessage & { [ADDRESS]?: string | null }

/** Finds the addresses of clients. */
export interface ClientAddresses {
  /** Address of the client; null when its connection has closed. */
  of(request: { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } }): string | null
}

/**
 * Finds the addresses of clients behind trusted proxies.
 *
 * The address is the TCP peer's, unless that is a trusted proxy. Then `X-Forwarded-For` is read from its end, where the
 * nearest proxy adds, up to the first address that is not trusted: what stands before it could have been sent by
 * anyone. Where there is no such header, `Forwarded` (RFC 7239) is read in the same way.
 *
 * @param trustedProxies addresses and networks such as `10.0.0.0/8`
 */
export function clientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const trusted = new BlockList()
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  return {
    of({ headers, socket }) {
      const peer = addressIn(socket.remoteAddress ?? '')
      if (peer === null || trustedProxies.length === 0 || !isTrusted(peer)) return peer
      let client = peer
      for (const hop of hopsOf(headers).reverse()) {
        const address = addressIn(hop)
        // Not an address, such as `unknown`: the nearest proxy that is known stands for the client.
        if (address === null) return client
        client = address
        if (!isTrusted(address)) return client
      }
      return client
    },
  }
}

/** Stores the address of a request's client. */
export function noteAddress(incoming: IncomingMessage, address: string | null): void {
  const noted: Addressed = incoming
  noted[ADDRESS] = address
}

/** Reads the address of a request's client; null when it is not known. */
export const addressOf = (incoming: IncomingMessage): string | null => (incoming as Addressed)[ADDRESS] ?? null

/** Reduces an address to the part that is counted. One host may have a whole IPv6 network. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail = ''] = address.split('::')
  const [first, last] = [head.split(':'), tail === '' ? [] : tail.split(':')]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS).join(':')
}

/** Hops that the headers name, the nearest one last. */
function hopsOf({ 'x-forwarded-for': list, forwarded }: IncomingHttpHeaders): string[] {
  if (list !== undefined) return String(list).split(',')
  return splitUnquoted(forwarded ?? '', ',').map((element) => {
    const pair = splitUnquoted(element, ';').find((one) => /^\s*for=/i.test(one)) ?? ''
    return pair.slice(pair.indexOf('=') + 1).replaceAll('"', '')
  })
}

/**
 * Splits a header at the separators outside quoted strings. A header whose last quoted string does not end has no
 * parts: a client may have opened it to swallow what its proxies add.
 */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    if (isQuoted && text[at] === '\\') at++
    else if (text[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && text[at] === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return isQuoted ? [] : [...parts, text.slice(start)]
}

/** Reads an address with or without a port: `192.0.2.1:80`, `[2001:db8::1]:80`, `::ffff:192.0.2.1`. Null for others. */
function addressIn(hop: string): string | null {
  const text = hop.trim()
  // As most connections say it.
  if (isIP(text) === 4) return text
  const host = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const address = host.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return isIP(address) === 0 ? null : address
}
