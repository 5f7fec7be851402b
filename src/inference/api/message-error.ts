import { errorBody, type GazewayError } from '../../errors.ts'
import { overflowInMessages } from './context-overflow.ts'
import { ReportedError } from './reported-error.ts'

/** HTTP status → `type` of an Anthropic error (https://docs.claude.com/en/api/errors). */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** Status of a request that exceeds the context window, whatever its upstream answers. */
const REFUSED = 400

/** Paths with errors in Anthropic's format, and keys in `x-api-key`. */
const PATHS: ReadonlySet<string> = new Set(['/v1/messages', '/v1/messages/count_tokens'])

/** Tells whether a path, without its query, belongs to Anthropic's API. */
export const isMessagesPath = (path: string): boolean => PATHS.has(path)

/** The `type` of an Anthropic error, by HTTP status. */
const messageErrorType = (status: number): string =>
  TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')

/** HTTP status of an Anthropic error in a stream. 500 for a type without its own. */
export function statusOfType(type: unknown): number {
  if (type === 'invalid_request_error') return 400
  const known = Object.entries(TYPES).find(([, name]) => name === type)
  return known ? Number(known[0]) : 500
}

/** An error in Anthropic's format. */
export interface MessageError {
  type: 'error'
  error: { type: string; message: string }
  request_id: string | null
}

const messageError = (status: number, message: string, requestId: string | null): MessageError => ({
  type: 'error',
  error: { type: messageErrorType(status), message },
  request_id: requestId,
})

/** Converts a Gazeway error to Anthropic's format. Absolute paths in the message are reduced to their last part. */
export function messageErrorOf(error: GazewayError, requestId: string | null): MessageError {
  const { message } = errorBody(error)
  const overflow = error.cause instanceof ReportedError ? error.cause.overflow : null
  return messageError(error.status, overflow === null ? message : overflowInMessages(overflow, message), requestId)
}

/** Converts an error reply of an upstream that speaks another API. */
export const refusalInMessages = (
  { reason, overflow }: ReportedError,
  status: number,
  requestId: string | null,
): MessageError =>
  overflow === null
    ? messageError(status, reason, requestId)
    : messageError(REFUSED, overflowInMessages(overflow, reason), requestId)
