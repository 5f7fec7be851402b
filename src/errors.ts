import { basename } from 'node:path'

/** Types of errors that OpenAI clients know, and some of the same form. */
type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'payment_required'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'payload_too_large'
  | 'rate_limit_error'
  | 'server_error'
  | 'upstream_error'

/** One error code of Gazeway. Its texts for people, by the same name, are in `adapters/web/error-guidance.ts`. */
interface CodeRecord {
  /** HTTP status, unless the thrower sets another. */
  status: number
  /** The `type` in an error body, unless the thrower sets another status. */
  type: ErrorType
  /**
   * True when idempotency replays the refusal to a repeated request. False when the repeated request may go better.
   * Statuses of 5xx, transient statuses and errors with a time to retry are never replayed.
   */
  kept: boolean
}

/** Error codes of Gazeway. */
export const CODES = {
  invalid_request: { status: 400, type: 'invalid_request_error', kept: true },
  invalid_json: { status: 400, type: 'invalid_request_error', kept: true },
  invalid_cursor: { status: 400, type: 'invalid_request_error', kept: true },
  unknown_config_key: { status: 400, type: 'invalid_request_error', kept: true },
  model_not_supported: { status: 400, type: 'invalid_request_error', kept: true },
  context_length_exceeded: { status: 400, type: 'invalid_request_error', kept: true },
  field_not_allowed: { status: 400, type: 'invalid_request_error', kept: true },
  invalid_api_key: { status: 401, type: 'authentication_error', kept: true },
  key_expired: { status: 401, type: 'authentication_error', kept: true },
  invalid_ticket: { status: 401, type: 'authentication_error', kept: true },
  insufficient_credit: { status: 402, type: 'payment_required', kept: false },
  payment_required: { status: 402, type: 'payment_required', kept: false },
  budget_reached: { status: 402, type: 'payment_required', kept: false },
  session_budget_reached: { status: 402, type: 'payment_required', kept: false },
  session_repeats: { status: 402, type: 'payment_required', kept: false },
  session_stopped: { status: 402, type: 'payment_required', kept: false },
  debt_open: { status: 402, type: 'payment_required', kept: false },
  insufficient_scope: { status: 403, type: 'permission_error', kept: true },
  model_not_allowed: { status: 403, type: 'permission_error', kept: true },
  model_not_priced: { status: 403, type: 'permission_error', kept: false },
  limit_not_kept: { status: 403, type: 'permission_error', kept: false },
  own_key_refused: { status: 403, type: 'permission_error', kept: false },
  forbidden: { status: 403, type: 'permission_error', kept: false },
  gaze_verification_failed: { status: 403, type: 'permission_error', kept: false },
  forbidden_path: { status: 403, type: 'permission_error', kept: true },
  forbidden_origin: { status: 403, type: 'permission_error', kept: true },
  not_found: { status: 404, type: 'not_found_error', kept: false },
  model_not_found: { status: 404, type: 'not_found_error', kept: true },
  unknown_tool: { status: 404, type: 'not_found_error', kept: true },
  method_not_allowed: { status: 405, type: 'invalid_request_error', kept: true },
  request_timeout: { status: 408, type: 'invalid_request_error', kept: false },
  conflict: { status: 409, type: 'conflict_error', kept: false },
  balance_too_large: { status: 409, type: 'conflict_error', kept: true },
  invalid_transition: { status: 409, type: 'conflict_error', kept: false },
  task_not_completed: { status: 409, type: 'conflict_error', kept: false },
  recipient_fixed: { status: 409, type: 'conflict_error', kept: false },
  version_conflict: { status: 409, type: 'conflict_error', kept: false },
  session_exists: { status: 409, type: 'conflict_error', kept: false },
  session_busy: { status: 409, type: 'conflict_error', kept: false },
  idempotency_in_flight: { status: 409, type: 'conflict_error', kept: false },
  idempotency_reply_not_kept: { status: 409, type: 'conflict_error', kept: true },
  payload_too_large: { status: 413, type: 'payload_too_large', kept: true },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', kept: true },
  expectation_failed: { status: 417, type: 'invalid_request_error', kept: true },
  validation_failed: { status: 422, type: 'invalid_request_error', kept: true },
  idempotency_key_reused: { status: 422, type: 'invalid_request_error', kept: false },
  rate_limited: { status: 429, type: 'rate_limit_error', kept: false },
  too_many_requests: { status: 429, type: 'rate_limit_error', kept: false },
  header_too_large: { status: 431, type: 'invalid_request_error', kept: true },
  cancelled: { status: 499, type: 'invalid_request_error', kept: false },
  internal_error: { status: 500, type: 'server_error', kept: false },
  service_stopping: { status: 503, type: 'server_error', kept: false },
  too_many_bodies: { status: 503, type: 'server_error', kept: false },
  payments_paused: { status: 503, type: 'server_error', kept: false },
  store_unavailable: { status: 503, type: 'server_error', kept: false },
  store_full: { status: 503, type: 'server_error', kept: false },
  store_too_new: { status: 500, type: 'server_error', kept: false },
  store_corrupt: { status: 500, type: 'server_error', kept: false },
  config_invalid: { status: 500, type: 'server_error', kept: false },
  upstream_not_configured: { status: 503, type: 'server_error', kept: false },
  // Kept where the provider refused the request itself, with a 4xx.
  upstream_error: { status: 502, type: 'upstream_error', kept: true },
  upstream_unreachable: { status: 502, type: 'upstream_error', kept: false },
  upstream_bad_reply: { status: 502, type: 'upstream_error', kept: false },
  upstream_timeout: { status: 504, type: 'upstream_error', kept: false },
  loop_detected: { status: 508, type: 'upstream_error', kept: false },
} as const satisfies Record<string, CodeRecord>

/** Machine-readable name of an error. {@link CODES} has its record. */
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
    this.status = details.status ?? CODES[code].status
    this.param = details.param ?? null
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
    this.headers = details.headers ?? {}
    this.file = details.file ?? null
  }
}

/** HTTP status → the `type` of the codes with that status. */
const TYPES: ReadonlyMap<number, ErrorType> = new Map(Object.values(CODES).map(({ status, type }) => [status, type]))

/** The `type` of an error body, by HTTP status. Providers and throwers also use statuses that no code has. */
export const typeOf = (status: number): string =>
  TYPES.get(status) ?? (status >= 500 ? 'server_error' : 'invalid_request_error')

/**
 * Builds the error body that every surface shows. Absolute paths in the message are reduced to their last part.
 *
 * @example errorBody(new GazewayError('not_found', 'There is no memory with this key.'), 'req_1')
 */
export function errorBody(error: GazewayError, requestId: string | null = null): ErrorBody {
  const { code, status, param, file } = error
  const message = file === null ? error.message : error.message.replaceAll(file, basename(file))
  const type = status === CODES[code].status ? CODES[code].type : typeOf(status)
  return { code, message, type, param, request_id: requestId }
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

/** Codes of a rejected certificate: Node's names for OpenSSL's results (`tls.TLSSocket`). */
const UNTRUSTED = /^(?:ERR_TLS_CERT|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH)/

/** Tells whether TLS rejected the server's certificate. */
export const isUntrusted = (error: unknown): error is Error =>
  error instanceof Error && (('code' in error && UNTRUSTED.test(String(error.code))) || isUntrusted(error.cause))

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
