import { GazewayError, isFileGone, isOutOfFiles } from '../errors.ts'
import { cut } from '../text/cut.ts'
import { whyEnded } from '../wire/stopping.ts'
import type { Provider } from './provider.ts'
import type { WholeReply } from './relay/send.ts'
import { ReportedError } from './reported-error.ts'

/** What undici says of a 100 or a 101 that nobody had asked for, and of bytes that are no HTTP. */
const NO_HTTP = /^bad (?:response|upgrade)$|HTTP\/1\.1 protocol|^Response body length does not match/
/** What undici says of more headers than it keeps. */
const LARGE_HEAD = /^Headers Overflow/

/** Who ended a call that was cut short. */
export interface Ending {
  /** The client cancelled or went away, or the service ended it as it stops. */
  cancelled: boolean
  /** What the call's signal was aborted with then. */
  reason?: unknown
}

/** What went wrong upstream, as the error that callers see: the reason, whose turn it is, and never a key. */
export function upstreamFailure(error: unknown, provider: Provider, ending: Ending): GazewayError {
  if (error instanceof GazewayError) return error
  if (ending.cancelled) return whyEnded(ending.reason, 'The call was cancelled by its client.', error)
  if (isTimeout(error)) return new GazewayError('upstream_timeout', silence(error, provider), { cause: error })
  if (isFileGone(error))
    return new GazewayError(
      'internal_error',
      'A file of Gazeway is gone: it was updated or removed while it runs. Restart it.',
      { cause: error },
    )
  if (isOutOfFiles(error))
    return new GazewayError(
      'internal_error',
      'Gazeway had no file descriptor left to load a part of itself. Raise its limit of open files, and restart it.',
      { cause: error },
    )
  if (error instanceof ReportedError)
    return new GazewayError(
      'upstream_error',
      `The upstream ${provider.name} reported an error: ${hide(reason(error), provider)}`,
      { status: statusInCode(error), cause: error },
    )
  // A reply is read as if it were what the API promises; the network's own failures have a cause.
  if (error instanceof TypeError && error.cause === undefined)
    return badReply(provider, 'its reply has another form', error)
  // V8 reports an exhausted stack so.
  if (error instanceof RangeError) return badReply(provider, 'its reply is nested too deeply', error)
  if (LARGE_HEAD.test(reason(error))) return badReply(provider, 'the headers of its reply take more than 16 KiB', error)
  if (NO_HTTP.test(reason(error)))
    return badReply(provider, 'its reply does not keep to HTTP (as a 100 Continue that nobody asked for)', error)
  return new GazewayError(
    'upstream_unreachable',
    `The upstream ${provider.name} at ${provider.baseUrl} could not be reached (${hide(reason(error), provider)}). Check the address and the network.`,
    { cause: error },
  )
}

/** What a timeout is told as: before the first byte, or after it. */
function silence(error: unknown, { name, section, firstByteMs, timeoutMs }: Provider): string {
  const isBefore = error instanceof Error && 'code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT'
  const isOwn = isBefore && firstByteMs !== timeoutMs
  const [ms, setting] = isOwn ? [firstByteMs, 'first_byte_timeout_ms'] : [timeoutMs, 'timeout_ms']
  return `The upstream ${name} sent nothing for ${ms / 1000} s. Try again, or raise ${section}.${setting}.`
}

/** What went wrong with a stream that had begun; its upstream was reached, whatever ended it. */
export function streamFailure(error: Error, provider: Provider): GazewayError {
  const known = error instanceof GazewayError || error instanceof ReportedError || isTimeout(error)
  return known ? upstreamFailure(error, provider, { cancelled: false }) : brokeOff(error, provider)
}

/** The end of a stream whose client is there no more. */
export const clientGone = ({ reason }: Ending): GazewayError =>
  whyEnded(reason, 'The client went away before the end of the stream.')

/** The error for a reply that is not what the protocol says. */
export function badReply(provider: Provider, what: string, cause?: unknown): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The upstream ${provider.name} did not answer as ${provider.protocol === 'anthropic' ? 'Anthropic' : 'OpenAI'}'s API does: ${what}. Try again; if it stays, check ${provider.section}.provider and ${provider.section}.protocol.`,
    { cause },
  )
}

/** The error for a stream that ended in order, but before what ends an answer. */
export const endedEarly = (provider: Provider, cause?: unknown): GazewayError =>
  badReply(provider, 'its stream ended before the answer was complete', cause)

const brokeOff = (error: Error, provider: Provider): GazewayError =>
  badReply(provider, 'its stream broke off before the answer was complete', error)

/** The error for a reply that refuses the request. @param said what the upstream says in it */
export function refusal(said: ReportedError, { status, headers }: WholeReply, provider: Provider): GazewayError {
  const advice: Record<number, string> = {
    401: ' Check the upstream key.',
    403: ' Check what the upstream key may do.',
    404: ` Check the model id and ${provider.section}.aliases.`,
    429: ' It is limiting requests; wait before you try again.',
  }
  const retryAfter = retryAfterOf(headers)
  return new GazewayError(
    'upstream_error',
    `The upstream ${provider.name} answered ${status}: ${hide(said.reason, provider)}${advice[status] ?? ''}${retryAfter === null ? '' : ` It asks to be left alone for ${retryAfter} s.`}`,
    {
      status: status === 401 || status === 403 ? 502 : status,
      ...(retryAfter === null ? {} : { retryAfterSeconds: retryAfter }),
      cause: said,
    },
  )
}

/** The HTTP status that the code of a reported error is, as some providers have it; 502 for any other code. */
function statusInCode({ code }: ReportedError): number {
  const status = Number(code)
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : 502
}

/** The seconds that the upstream names before another try, as a number or a date (RFC 9110, section 10.2.3). */
function retryAfterOf({ 'retry-after': after }: WholeReply['headers']): number | null {
  if (after === undefined) return null
  const said = String(after)
  const seconds = Number.isNaN(Number(said)) ? (Date.parse(said) - Date.now()) / 1000 : Number(said)
  return seconds > 0 ? Math.ceil(seconds) : null
}

/** The innermost message: the network's own error is the one that tells something. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reason(error.cause) : error.message
}

/** Before it is cut: half a key is a secret too. */
function hide(text: string, provider: Provider): string {
  const hidden = hideSecrets(text, provider.secrets)
  return hidden.length > 500 ? `${cut(hidden, 0, 500)}…` : hidden
}

/** `text` without the secrets, as they are or as JSON writes them. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret])
    .reduce((rest, form) => rest.replaceAll(form, '***'), text)
}

/** Whether undici gave up waiting for the head or the next piece of the body; without a connection there is nobody to wait for. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(String(error.code))
}
