import type { IncomingHttpHeaders } from 'node:http'

/**
 * Address of this service as the client reached it, such as `http://127.0.0.1:8812`; its Host was checked. Behind a TLS
 * proxy a page's origin tells the scheme; for other clients only the configuration can.
 *
 * @param publicUrl public address of the service, used when its host matches
 */
export function reachedAt({ host = '', origin }: IncomingHttpHeaders, publicUrl: string | null = null): string {
  if (publicUrl !== null && new URL(publicUrl).host === host.toLowerCase()) return publicUrl.replace(/\/+$/, '')
  const secure = `https://${host}`
  return origin === secure ? secure : `http://${host}`
}
