import { NOT_IN_TIME } from '../../calls/call-errors.ts'
import { GazewayError, isFileGone, isOutOfFiles, isUntrusted } from '../../errors.ts'
import { cut } from '../../text/cut.ts'
import { WrongTypeError } from '../../text/typed-reader.ts'
import { whyEnded } from '../../wire/service-stopping.ts'
import { CONTEXT_LENGTH_EXCEEDED } from '../api/context-overflow.ts'
import { ReportedError } from '../api/reported-error.ts'
import { retryAfterMs } from '../api/retry-after.ts'
import type { WholeReply } from '../relay/exchange.ts'
import type { Provider } from './provider.ts'

/** undici's messages for an unexpected 100 or 101, and for bytes that are not HTTP. */
const NO_HTTP = /^bad (?:response|upgrade)$|HTTP\/1\.1 protocol|^Response body length does not match/
/** undici's message for response headers above its limit. */
const LARGE_HEAD = /^Headers Overflow/

/** Cause of an aborted call. */
export interface Ending {
  /** True when the client cancelled or disconnected, or the service ended the call as it stops. */
  cancelled: boolean
  /** Abort reason of the call's signal. */
  reason?: unknown
}

/** Maps an upstream failure to the error that callers see: the cause, what to do, and never a key. */
export function upstreamFailure(error: unknown, provider: Provider, ending: Ending): GazewayError {
  if (error instanceof GazewayError) return error
  if (ending.cancelled) return whyEnded(ending.reason, 'The call was cancelled by its client.', error)
  if (isTimeout(error)) return new GazewayError('upstream_timeout', silence(error, provider), { cause: error })
  if (isFileGone(error))
    return new GazewayError(
      'internal_error',
      'A file of Gazeway is missing: it was updated or removed while running. Restart it.',
      { cause: error },
    )
  if (isOutOfFiles(error))
    return new GazewayError(
      'internal_error',
      'Gazeway ran out of file descriptors while loading a module. Raise the limit of open files, and restart it.',
      { cause: error },
    )
  if (error instanceof ReportedError)
    return new GazewayError(
      error.overflow === null ? 'upstream_error' : CONTEXT_LENGTH_EXCEEDED,
      `The upstream ${provider.label} reported an error: ${hide(reason(error), provider)}`,
      { ...(error.overflow === null && { status: statusInCode(error) }), cause: error },
    )
  if (error instanceof WrongTypeError) return badReply(provider, `in its reply, ${error.message}`, error)
  // Replies are read as the API documents them, so a malformed one causes a TypeError. Network failures have a cause.
  if (error instanceof TypeError && error.cause === undefined)
    return badReply(provider, 'its reply has an unexpected form', error)
  // V8 reports an exhausted stack as a RangeError.
  if (error instanceof RangeError) return badReply(provider, 'its reply is nested too deeply', error)
  if (LARGE_HEAD.test(reason(error))) return badReply(provider, 'the headers of its reply take more than 16 KiB', error)
  if (NO_HTTP.test(reason(error)))
    return badReply(provider, 'its reply violates HTTP (for example an unrequested 100 Continue)', error)
  const todo = isUntrusted(error)
    ? 'Its certificate is not trusted. Check its host name and dates; NODE_EXTRA_CA_CERTS names a file with the certificate of your own authority.'
    : 'Check the address and the network.'
  return new GazewayError(
    'upstream_unreachable',
    `The upstream ${provider.label} could not be reached (${unreachedBy(error)}). ${todo}`,
    { cause: error },
  )
}

/** Timeout message: before the first byte, or after it. */
function silence(error: unknown, { label, section, firstByteMs, timeoutMs }: Provider): string {
  const isBefore = error instanceof Error && 'code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT'
  const isOwn = isBefore && firstByteMs !== timeoutMs
  const [ms, setting] = isOwn ? [firstByteMs, 'first_byte_timeout_ms'] : [timeoutMs, 'timeout_ms']
  return `The upstream ${label} ${NOT_IN_TIME} ${ms / 1000} s. Retry, or raise ${section}.${setting}.`
}

/** Maps a failure of a stream that had begun. The upstream was reached, whatever ended the stream. */
export function streamFailure(error: Error, provider: Provider): GazewayError {
  const isRead = error instanceof ReportedError || error instanceof WrongTypeError
  const known = error instanceof GazewayError || isRead || isTimeout(error)
  return known ? upstreamFailure(error, provider, { cancelled: false }) : brokeOff(error, provider)
}

/** Error for a stream whose client disconnected. */
export const clientGone = ({ reason }: Ending): GazewayError =>
  whyEnded(reason, 'The client disconnected before the end of the stream.')

/** Error for a reply that violates the protocol. */
export function badReply(provider: Provider, what: string, cause?: unknown): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The upstream ${provider.label} did not follow the ${provider.protocol === 'anthropic' ? 'Anthropic' : 'OpenAI'} protocol: ${what}. Retry; if it persists, check ${provider.section}.provider and ${provider.section}.protocol.`,
    { cause },
  )
}

/** Error for a stream that ended cleanly before the answer was complete. */
export const endedEarly = (provider: Provider, cause?: unknown): GazewayError =>
  badReply(provider, 'its stream ended before the answer was complete', cause)

const brokeOff = (error: Error, provider: Provider): GazewayError =>
  badReply(provider, 'its stream was cut off before the answer was complete', error)

/**
 * Error for a reply that rejects the request.
 *
 * @param reported error that the upstream reports
 */
export function refusal(reported: ReportedError, { status, headers }: WholeReply, provider: Provider): GazewayError {
  const advice: Record<number, string> = {
    401: ' Check the upstream key.',
    403: ' Check what the upstream key may do.',
    404: ` Check the model id and ${provider.section}.aliases.`,
    429: ' It is rate limiting; wait before you retry.',
  }
  const retryMs = retryAfterMs(headers)
  const retryAfter = retryMs === null || retryMs === 0 ? null : Math.ceil(retryMs / 1000)
  return new GazewayError(
    reported.overflow === null ? 'upstream_error' : CONTEXT_LENGTH_EXCEEDED,
    `The upstream ${provider.label} answered ${status}: ${hide(reported.reason, provider)}${advice[status] ?? ''}${retryAfter === null ? '' : ` It asks to retry after ${retryAfter} s.`}`,
    {
      status: status === 401 || status === 403 ? 502 : status,
      ...(retryAfter === null ? {} : { retryAfterSeconds: retryAfter }),
      cause: reported,
    },
  )
}

/** HTTP status in the code of a reported error, as some providers send it; 502 for any other code. */
function statusInCode({ code }: ReportedError): number {
  const status = Number(code)
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : 502
}

/** Innermost message: the network's own error is the informative one. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reason(error.cause) : error.message
}

/**
 * Reason why an upstream was not reached: the code of the network's error. Its message has addresses of the operator,
 * which callers must not see.
 */
function unreachedBy(error: unknown): string {
  const { cause, code } = Object(error) as { cause?: unknown; code?: unknown }
  const inner: string | null = cause === undefined ? null : unreachedBy(cause)
  if (inner !== null && inner !== NO_CODE) return inner
  return typeof code === 'string' ? code : NO_CODE
}

const NO_CODE = 'no connection'

/** Redacts before cutting, since half a key is a secret too. */
function hide(text: string, provider: Provider): string {
  const hidden = hideSecrets(text, provider.secrets)
  return hidden.length > 500 ? `${cut(hidden, 0, 500)}…` : hidden
}

/** Removes secrets from `text`, also in JSON-escaped form. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret])
    .reduce((rest, form) => rest.replaceAll(form, '***'), text)
}

/** Tells whether undici timed out waiting for headers or body. A connect timeout is not included. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(String(error.code))
}
