import type { IncomingHttpHeaders } from 'node:http'

/**
 * Where a client reached this service, such as `http://127.0.0.1:8812`; its Host was checked. Behind a proxy with TLS, a
 * page that came from there tells so by its origin; of other clients only the configuration can.
 *
 * @param publicUrl where the service is for others: where it is of the same host, the client came by it
 */
export function reachedAt({ host = '', origin }: IncomingHttpHeaders, publicUrl: string | null = null): string {
  if (publicUrl !== null && new URL(publicUrl).host === host.toLowerCase()) return publicUrl.replace(/\/+$/, '')
  const secure = `https://${host}`
  return origin === secure ? secure : `http://${host}`
}
