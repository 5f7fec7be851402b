import type { Log } from '../../src/config/log.ts'
import { ERROR_PAGES, type ErrorCode, GazewayError, linkedErrorBody } from '../../src/errors.ts'
import { isGeminiPath } from '../../src/inference/api/gemini-endpoints.ts'
import { geminiErrorOf, geminiHttpStatus } from '../../src/inference/api/gemini-error.ts'
import { isMessagesPath, messageErrorOf } from '../../src/inference/api/message-error.ts'
import type { FailedRequest } from './refused-calls.ts'

/** HTTP reply to an error. */
export interface ErrorReply {
  status: number
  headers: Record<string, string>
  /** JSON */
  body: string
}

/**
 * Converts a thrown value to `{ error: … }` with its status and headers. An internal error is logged in full; its reply
 * contains no details.
 */
export function errorReply(error: unknown, { requestId, path }: FailedRequest, log: Log): ErrorReply {
  const known = knownError(error)
  if (known.code === 'internal_error') log.error('A request failed.', { request_id: requestId, err: error })
  // The reply has no address of the operator.
  if (UNREACHED.has(known.code)) log.warn('A service was not reached.', { request_id: requestId, err: known.cause })
  return replyTo(known, requestId, path)
}

const UNREACHED: ReadonlySet<ErrorCode> = new Set(['upstream_unreachable', 'store_unavailable'])

/**
 * Builds the reply to an error of Gazeway.
 *
 * @param path path of the request without its query; Anthropic's and Google's clients expect other formats
 */
export function replyTo(error: GazewayError, requestId: string | null, path: string): ErrorReply {
  const { headers, retryAfterSeconds, callId } = error
  const isMessages = isMessagesPath(path)
  const isGemini = isGeminiPath(path)
  const status = isGemini ? geminiHttpStatus(error.status) : error.status
  return {
    status,
    headers: {
      ...headers,
      'content-type': 'application/json',
      ...(requestId !== null && { 'x-request-id': requestId }),
      ...(requestId !== null && isMessages && { 'request-id': requestId }),
      ...((isMessages || isGemini) && { link: `<${ERROR_PAGES}${error.code}>; rel="help"` }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(retryAfterSeconds !== null && { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
      ...(callId !== undefined && { 'x-gazeway-call-id': callId }),
    },
    body: JSON.stringify(bodyOf(error, requestId, path)),
  }
}

/** Body of an error in the format of the API to which a path belongs. */
function bodyOf(error: GazewayError, requestId: string | null, path: string): object {
  if (isMessagesPath(path)) return messageErrorOf(error, requestId)
  return isGeminiPath(path) ? geminiErrorOf(error, requestId) : { error: linkedErrorBody(error, requestId) }
}

/** Returns the error that a client may read: a GazewayError itself, and an internal error in place of any other. */
export const knownError = (error: unknown): GazewayError =>
  error instanceof GazewayError
    ? error
    : new GazewayError('internal_error', 'Internal error. Search the log for this request id.', { cause: error })
