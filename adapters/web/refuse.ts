import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { GazewayError } from '../../src/errors.ts'
import { replyTo } from './error-reply.ts'
import { requestIdOf } from './frame.ts'
import { noteCaller } from './request-log.ts'

/** Node's error for an unreadable request. `reason` is the parser's text and never contains the request. */
export interface ClientError extends Error {
  code?: string
  reason?: string
}

/** Error for a request that Node could not read. */
export function unreadable({ code, reason }: ClientError): GazewayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new GazewayError('header_too_large', 'The request headers are too large; at most 16 KiB are allowed.')
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new GazewayError('payload_too_large', 'The chunk extensions of the request are too large. Omit them.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GazewayError(
      'request_timeout',
      'The request exceeded http.header_timeout_ms or http.request_timeout_ms. Send it again, or raise these limits.',
    )
  return new GazewayError('invalid_request', `The request is not valid HTTP${reason ? `: ${reason}` : ''}.`)
}

/** Answers a request that reaches no route. Closes its connection, because data that follows cannot be trusted. */
export function refuseRequest(error: GazewayError, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { headers, body, requestId } = refusal(error, incoming.headers, incoming.url)
  noteCaller(incoming, { requestId, keyId: null })
  outgoing.writeHead(error.status, headers).end(body)
}

/** Refuses a request that could not be read to its end, and therefore has no reply object. */
export function refuseConnection(error: GazewayError, headersRead: IncomingHttpHeaders, socket: Duplex): void {
  const { headers, body } = refusal(error, headersRead)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n`
  socket.end(head + body, () => socket.destroy())
}

function refusal(error: GazewayError, headersRead: IncomingHttpHeaders, url = '') {
  const requestId = requestIdOf(headersRead)
  const { headers, body } = replyTo(error, requestId, url.split('?')[0] ?? '')
  return { headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' }, body, requestId }
}
