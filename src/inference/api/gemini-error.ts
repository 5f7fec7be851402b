import { errorBody, type GazewayError } from '../../errors.ts'
import type { ContextOverflow } from './context-overflow.ts'
import { ReportedError } from './reported-error.ts'

/** HTTP status → status of an error of Google's API (https://cloud.google.com/apis/design/errors#handling_errors). */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
/** Status of a request that exceeds the context window, whatever its upstream answers. */
const REFUSED = 400
const TYPES = 'type.googleapis.com/google.rpc.'

/** An error in Google's format. */
export interface GeminiError {
  error: { code: number; message: string; status: string; details: object[] }
}

/** HTTP status of an error of Gazeway, as Google's API has it: a wrong field is 400 there. */
export const geminiHttpStatus = (status: number): number => (status === 422 ? 400 : status)

const statusOf = (status: number): string => STATUSES[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT')

/** Converts a Gazeway error to Google's format, with its code as the reason, and the time to retry after. */
export function geminiErrorOf(error: GazewayError, requestId: string | null): GeminiError {
  const { message, code, param } = errorBody(error)
  const { retryAfterSeconds, cause } = error
  const status = geminiHttpStatus(error.status)
  const overflow = cause instanceof ReportedError ? cause.overflow : null
  const violations = [{ field: param, description: message }]
  const details: object[] = [
    { '@type': `${TYPES}ErrorInfo`, reason: code.toUpperCase(), domain: 'gazeway' },
    ...(requestId === null ? [] : [{ '@type': `${TYPES}RequestInfo`, requestId }]),
    ...(param === null ? [] : [{ '@type': `${TYPES}BadRequest`, fieldViolations: violations }]),
    ...(retryAfterSeconds === null
      ? []
      : [{ '@type': `${TYPES}RetryInfo`, retryDelay: `${Math.ceil(retryAfterSeconds)}s` }]),
  ]
  const words = overflow === null ? message : overflowInGemini(overflow, message)
  return { error: { code: status, message: words, status: statusOf(status), details } }
}

/**
 * Converts an error reply of an upstream that speaks another API.
 *
 * @param retryMs pause that it asks for, in milliseconds. Null for none
 */
export function refusalInGemini(
  { reason, overflow }: ReportedError,
  status: number,
  retryMs: number | null,
): GeminiError {
  const details =
    retryMs === null ? [] : [{ '@type': `${TYPES}RetryInfo`, retryDelay: `${Math.ceil(retryMs / 1000)}s` }]
  const code = overflow === null ? status : REFUSED
  const message = overflow === null ? reason : overflowInGemini(overflow, reason)
  return { error: { code, message, status: statusOf(code), details } }
}

/** Message in Google's own words for a request that exceeds the context window. */
function overflowInGemini({ prompt, window }: ContextOverflow, reason: string): string {
  if (prompt === null || window === null)
    return /input token count/i.test(reason)
      ? reason
      : `The input token count exceeds the maximum number of tokens allowed: ${reason}`
  return `The input token count (${prompt}) exceeds the maximum number of tokens allowed (${window}).`
}
