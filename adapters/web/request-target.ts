import type { IncomingMessage } from 'node:http'
import { GazewayError } from '../../src/errors.ts'

/**
 * Finds the fault of a request with two hosts: several `Host` headers, or an absolute target on another host (RFC 9112,
 * section 3.2). A proxy on the way may have used the other host.
 *
 * @returns null for a request with one host
 */
export function targetFault({ url = '', headers, rawHeaders }: IncomingMessage): GazewayError | null {
  if (countHosts(rawHeaders) > 1)
    return new GazewayError('invalid_request', 'The request has several Host headers. Send one.')
  if (!ABSOLUTE.test(url) || authorityOf(url) === authorityOf(`http://${headers.host}`)) return null
  return new GazewayError(
    'invalid_request',
    'The address in the request line has another host than the Host header. Send the path alone.',
  )
}

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\//i

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** User, host and port of an address; the text itself when it is not an address. */
function authorityOf(address: string): string {
  if (!URL.canParse(address)) return address
  const { username, password, host } = new URL(address)
  return [username, password, host].join(' ')
}
