import { basename } from 'node:path'

/** HTTP status → the `type` that OpenAI clients expect in an error body. */
const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'payment_required',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'payload_too_large',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  499: 'invalid_request_error',
  502: 'upstream_error',
  504: 'upstream_error',
  508: 'upstream_error',
}

/** Error codes of Gazeway, with the HTTP status that applies unless the thrower sets another. */
export const CODES = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  unknown_config_key: 400,
  model_not_supported: 400,
  invalid_api_key: 401,
  key_expired: 401,
  invalid_ticket: 401,
  insufficient_credit: 402,
  payment_required: 402,
  budget_reached: 402,
  insufficient_scope: 403,
  model_not_allowed: 403,
  forbidden: 403,
  gaze_verification_failed: 403,
  forbidden_path: 403,
  forbidden_origin: 403,
  not_found: 404,
  model_not_found: 404,
  unknown_tool: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  balance_too_large: 409,
  invalid_transition: 409,
  task_not_completed: 409,
  recipient_fixed: 409,
  version_conflict: 409,
  session_exists: 409,
  session_busy: 409,
  idempotency_in_flight: 409,
  idempotency_reply_not_kept: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  validation_failed: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  too_many_requests: 429,
  header_too_large: 431,
  cancelled: 499,
  internal_error: 500,
  service_stopping: 503,
  payments_paused: 503,
  store_unavailable: 503,
  store_full: 503,
  store_too_new: 500,
  store_corrupt: 500,
  config_invalid: 500,
  upstream_not_configured: 503,
  upstream_error: 502,
  upstream_unreachable: 502,
  upstream_bad_reply: 502,
  upstream_timeout: 504,
  loop_detected: 508,
} as const satisfies Record<string, number>

/** Machine-readable name of an error. {@link CODES} holds its HTTP status. */
export type ErrorCode = keyof typeof CODES

/** Optional parts of an error, beside code and message. */
export interface ErrorDetails {
  /** HTTP status. Defaults to the status of the code. */
  status?: number
  /** The input field at fault, dotted (`records.3.dwell_ms`). */
  param?: string
  /** Seconds after which a retry may succeed. */
  retryAfterSeconds?: number
  /** Response headers, such as the rest of a rate limit. */
  headers?: Readonly<Record<string, string>>
  /** An absolute path, or a store with its address, that the message contains. Callers see its last part only. */
  file?: string
  cause?: unknown
}

/** The body of an error on every surface: `_meta.error` over MCP, and `{ error: LinkedErrorBody }` over HTTP. */
export interface ErrorBody {
  code: string
  message: string
  type: string
  param: string | null
  request_id: string | null
}

/**
 * The only error class of the domain. `message` says what was wrong and what to do, and never contains a secret. Each
 * adapter renders it in one place.
 *
 * @example throw new GazewayError('version_conflict', 'deploy/staging is at version 3, not 2; read it again.', { param: 'if_version' })
 */
export class GazewayError extends Error {
  override readonly name = 'GazewayError'
  readonly code: ErrorCode
  readonly status: number
  readonly param: string | null
  readonly retryAfterSeconds: number | null
  headers: Readonly<Record<string, string>>
  readonly file: string | null
  /** Id of the call record, when the error came from a call to the upstream. */
  callId?: string
  /** True once the audit trail has recorded the refusal. */
  isNoted = false
  /** HTTP status of the upstream's reply, when the error ended a reply that had begun. */
  upstreamStatus?: number

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status ?? CODES[code]
    this.param = details.param ?? null
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
    this.headers = details.headers ?? {}
    this.file = details.file ?? null
  }
}

/** The `type` of an error body, by HTTP status. */
export const typeOf = (status: number): string =>
  TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')

/**
 * Builds the error body that every surface shows. Absolute paths in the message are reduced to their last part.
 *
 * @example errorBody(new GazewayError('not_found', 'There is no memory with this key.'), 'req_1')
 */
export function errorBody(error: GazewayError, requestId: string | null = null): ErrorBody {
  const { code, status, param, file } = error
  const message = file === null ? error.message : error.message.replaceAll(file, basename(file))
  return { code, message, type: typeOf(status), param, request_id: requestId }
}

/** An error body over HTTP. `doc_url` is the page of its code on the service that answered, relative to its address. */
export interface LinkedErrorBody extends ErrorBody {
  doc_url: string
}

/** Path below which each HTTP service has a page for every error code. */
export const ERROR_PAGES = '/docs/errors/'

/**
 * Builds the error body of an HTTP reply: {@link errorBody}, with a link to the page of its code.
 *
 * @example linkedErrorBody(new GazewayError('not_found', 'There is no memory with this key.'), 'req_1').doc_url
 */
export const linkedErrorBody = (error: GazewayError, requestId: string | null = null): LinkedErrorBody => ({
  ...errorBody(error, requestId),
  doc_url: ERROR_PAGES + error.code,
})

/** Tells whether a lazily loaded module is missing: its files were replaced or removed while the process ran. */
export const isFileGone = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') ||
    (error instanceof GazewayError && isFileGone(error.cause)))

/** Tells whether a file could not be opened because the process or the machine has no file descriptors left. */
export const isOutOfFiles = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error &&
    (error.code === 'EMFILE' || error.code === 'ENFILE') &&
    'syscall' in error &&
    error.syscall === 'open') ||
    (error instanceof GazewayError && isOutOfFiles(error.cause)))
