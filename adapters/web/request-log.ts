import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../src/config/log.ts'
import { addressOf } from './client-address.ts'

/** Status of a request whose client disconnected before the reply; a convention of nginx. */
export const CLIENT_GONE = 499
/** Characters of a path that are logged. */
const PATH_LENGTH = 200
const ASKED_BY = Symbol('asked by')

/** Caller of a request, as far as it is known. */
interface AskedBy {
  requestId: string
  /** The id of the key. */
  keyId: string | null
}

/** Stored on the request itself. A map of all requests would cost more per request than the rest of its log line. */
type Noted = IncomingMessage & { [ASKED_BY]?: AskedBy }

/** Stores the caller of a request for its log line. */
export function noteCaller(incoming: IncomingMessage, asked: AskedBy): void {
  const noted: Noted = incoming
  noted[ASKED_BY] = asked
}

/**
 * Logs a completed request: failures (4xx, 5xx, client gone) at `info`, others at `debug`. Omits the query, which
 * may contain secrets.
 *
 * @param ms milliseconds since its head arrived
 */
export function logRequest(log: Log, incoming: IncomingMessage, outgoing: ServerResponse, ms: number): void {
  const { method, url = '' } = incoming
  const asked = (incoming as Noted)[ASKED_BY]
  const status = outgoing.headersSent ? outgoing.statusCode : CLIENT_GONE
  log[status < 400 ? 'debug' : 'info']('Request', {
    method,
    path: url.split('?', 1)[0]?.slice(0, PATH_LENGTH),
    status,
    ms: Math.round(ms),
    address: addressOf(incoming),
    key_id: asked?.keyId ?? null,
    request_id: asked?.requestId ?? null,
  })
}
