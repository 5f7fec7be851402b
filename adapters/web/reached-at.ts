import type { IncomingHttpHeaders } from 'node:http'

/**
 * Where a client reached this service, such as `http://127.0.0.1:8812`; its Host was checked. Behind a proxy with TLS, a
 * page that came from there tells so by its origin.
 */
export function reachedAt({ host = '', origin }: IncomingHttpHeaders): string {
  const secure = `https://${host}`
  return origin === secure ? secure : `http://${host}`
}
