import { GazewayError } from '../../errors.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Provider } from '../upstreams/provider.ts'
import { CONTEXT_LENGTH_EXCEEDED, type ContextOverflow, contextOverflow } from './context-overflow.ts'
import { isFailedFinish } from './finish-reason.ts'

/** Pattern of a code. Anything longer may quote the request. */
const CODE = /^[\w.-]{1,64}$/

/** An error in the upstream's own words, which may quote the request. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError'
  /** The upstream's code. */
  readonly code: unknown
  /** HTTP status of the reply. Null for an error inside a reply with a success status. */
  readonly status: number | null
  /** Reason alone, when the message contains more. */
  readonly reason: string
  /** Size of a request that exceeds the context window. Null for other errors. */
  readonly overflow: ContextOverflow | null

  constructor(
    message: string,
    { code, status = null, reason = message, overflow = null }: Partial<Omit<ReportedError, 'message'>>,
  ) {
    super(message)
    this.code = code
    this.status = status
    this.reason = reason
    this.overflow = overflow
  }
}

/** Reads the value of a field `error`: an object, or only a text. */
export function readReported(error: unknown): ReportedError {
  const fields = typeof error === 'string' ? { message: error } : fieldsOrNone(error)
  const { message, code } = fields
  const said = typeof message === 'string' && message !== '' ? message : 'no reason given'
  return new ReportedError(said, { code, overflow: contextOverflow(fields, null) })
}

/**
 * Finds the error in a body: below `error`, as the body itself (`{"object":"error"}` of vLLM, `{"detail": ...}` of
 * FastAPI), or in a list, as Gemini sends it. Undefined when it has none.
 */
export function errorInBody(body: unknown): unknown {
  if (Array.isArray(body)) return body.length === 0 ? undefined : errorInBody(body[0])
  const { error, object, type, message, detail } = fieldsOrNone(body)
  if (isReport(error)) return error
  if (object === 'error' || (type === 'error' && typeof message === 'string')) return body
  return typeof detail === 'string' ? { ...fieldsOrNone(body), message: detail } : undefined
}

/** Tells whether `error` reports a failure. A flag does not, such as the `true` of Hermes' `tool.completed`. */
export const isReport = (error: unknown): boolean =>
  (typeof error === 'object' && error !== null) || (typeof error === 'string' && error !== '')

/** Error in a choice of a chat completion, instead of an answer or its rest, in a reply with a success status. */
export function choiceFault(choice: unknown): ReportedError | null {
  const { error, finish_reason: code } = fieldsOrNone(choice)
  if (isReport(error)) return readReported(error)
  return isFailedFinish(code) ? readReported({ message: `its answer ended with ${code}`, code }) : null
}

/**
 * Finds the error that a reply contains instead of an answer, as some upstreams send with a success status. It is the
 * reply's own, or that of its first choice when all choices failed. Null without one.
 */
export function reportedIn(reply: unknown): ReportedError | null {
  const { choices } = fieldsOrNone(reply)
  const error = errorInBody(reply)
  return error === undefined ? faultOfAll(objectsOrNone(choices)) : readReported(error)
}

function faultOfAll(choices: readonly object[]): ReportedError | null {
  const [first = null, ...others] = choices.map(choiceFault)
  return others.includes(null) ? null : first
}

/**
 * Error message for the call record. Unless content is stored, the upstream's words are reduced to status and code;
 * Gazeway's own messages are kept.
 */
export function recordedError(error: Error, provider: Provider, keepContent: boolean): string {
  const reported = keepContent ? null : upstreamPart(error)
  if (reported === null) return error.message
  const { status, code } = reported as { status?: unknown; code?: unknown }
  const outcome = typeof status === 'number' ? `answered ${status}` : 'reported an error'
  return `The upstream ${provider.label} ${outcome}${isPlain(code, provider.secrets) ? ` (${code})` : ''}.`
}

function isPlain(code: unknown, secrets: readonly string[]): boolean {
  return typeof code === 'string' && CODE.test(code) && !secrets.some((secret) => code.includes(secret))
}

/** The upstream's part of an error whose message repeats it. */
function upstreamPart(error: Error): object | null {
  if (!(error instanceof GazewayError)) return error instanceof ReportedError ? error : null
  const { code, cause } = error
  return (code === 'upstream_error' || code === CONTEXT_LENGTH_EXCEEDED) && cause instanceof ReportedError
    ? cause
    : null
}
