import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns the address at which the client reached this service, such as `http://127.0.0.1:8812`. Its Host has been
 * checked. Behind a TLS proxy, the origin of a page gives the scheme. For other clients only the configuration can.
 *
 * @param publicUrl public address of the service, used when its host matches
 */
export function reachedAt({ host = '', origin }: IncomingHttpHeaders, publicUrl: string | null = null): string {
  if (publicUrl !== null && new URL(publicUrl).host === host.toLowerCase()) return publicUrl.replace(/\/+$/, '')
  const secure = `https://${host}`
  return origin === secure ? secure : `http://${host}`
}
