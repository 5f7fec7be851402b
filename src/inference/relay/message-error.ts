import { errorBody, type GazewayError } from '../../errors.ts'

/** HTTP status → the `type` that Anthropic's clients expect in an error (https://docs.claude.com/en/api/errors). */
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

/** The paths on which errors have Anthropic's shape, and a key may come as `x-api-key`. */
const PATHS: ReadonlySet<string> = new Set(['/v1/messages', '/v1/messages/count_tokens'])

/** Whether a path, without its query, is one of Anthropic's API. */
export const isMessagesPath = (path: string): boolean => PATHS.has(path)

/** The `type` that an error of Anthropic's has with an HTTP status. */
const messageErrorType = (status: number): string =>
  TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')

/** The HTTP status of an error of Anthropic's that came in a stream; 500 for a type that has none of its own. */
export function statusOfType(type: unknown): number {
  if (type === 'invalid_request_error') return 400
  const known = Object.entries(TYPES).find(([, name]) => name === type)
  return known ? Number(known[0]) : 500
}

/** An error in Anthropic's shape. */
export interface MessageError {
  type: 'error'
  error: { type: string; message: string }
  request_id: string | null
}

export const messageError = (status: number, message: string, requestId: string | null): MessageError => ({
  type: 'error',
  error: { type: messageErrorType(status), message },
  request_id: requestId,
})

/** An error of Gazeway's own in Anthropic's shape; its message names no absolute path that it was told of. */
export const messageErrorOf = (error: GazewayError, requestId: string | null): MessageError =>
  messageError(error.status, errorBody(error).message, requestId)
