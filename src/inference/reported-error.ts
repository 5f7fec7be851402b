import { GazewayError } from '../errors.ts'
import { readUsage, type Usage } from '../providers/token-usage.ts'
import { record, records } from './convert/loose.ts'
import { FAILED_FINISHES } from './finish-reason.ts'
import type { Provider } from './provider.ts'

/** Codes are a word; anything longer may be text of the request. */
const CODE = /^[\w.-]{1,64}$/

/** What an upstream says went wrong, in its own words: they may quote the request. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError'
  /** The upstream's own code for it. */
  readonly code: unknown
  /** The HTTP status that it came with; null for an error inside a reply that had begun well. */
  readonly status: number | null
  /** The reason alone, where the message is all that was said. */
  readonly reason: string
  /** What the reply that holds it says was used all the same. */
  usage: Usage | null = null

  constructor(message: string, code: unknown, status: number | null = null, reason = message) {
    super(message)
    this.code = code
    this.status = status
    this.reason = reason
  }
}

/** What an upstream put into the field `error`: an object, or only a text. */
export function readReported(error: unknown): ReportedError {
  const { message, code } = (typeof error === 'string' ? { message: error } : (error ?? {})) as Partial<ReportedError>
  return new ReportedError(typeof message === 'string' && message !== '' ? message : 'no reason given', code)
}

/** Whether `error` tells of a failure: not a mark beside something else, as the `true` of Hermes' `tool.completed`. */
export const isReport = (error: unknown): boolean =>
  (typeof error === 'object' && error !== null) || (typeof error === 'string' && error !== '')

/** The error that a choice of a chat completion holds in place of an answer or of its rest, in a reply that is a success. */
export function choiceFault(choice: unknown): ReportedError | null {
  const { error, finish_reason: code } = record(choice)
  if (isReport(error)) return readReported(error)
  return FAILED_FINISHES.includes(code as string)
    ? readReported({ message: `its answer ended with ${code}`, code })
    : null
}

/**
 * The error that a reply holds in place of an answer, which some upstreams send as a success: its own, or that of its
 * first choice where all have failed: others are an answer. Null without one.
 */
export function reportedIn(reply: unknown): ReportedError | null {
  const { error, choices, usage } = record(reply)
  const reported = isReport(error) ? readReported(error) : faultOfAll(records(choices))
  if (reported) reported.usage = readUsage(usage)
  return reported
}

/** What a call that failed with `error` has used by the reply that reported it; null where it says nothing. */
export const reportedUsage = (error: unknown): Usage | null => (error instanceof ReportedError ? error.usage : null)

function faultOfAll(choices: readonly object[]): ReportedError | null {
  const [first = null, ...others] = choices.map(choiceFault)
  return others.includes(null) ? null : first
}

/**
 * What the record of a call says of its failure. Where content is not kept, the upstream's words are left out and only
 * its status and code remain; Gazeway's own messages stay as they are.
 */
export function recordedError(error: Error, provider: Provider, keepContent: boolean): string {
  const said = keepContent ? null : saidIn(error)
  if (said === null) return error.message
  const { status, code } = said as { status?: unknown; code?: unknown }
  const outcome = typeof status === 'number' ? `answered ${status}` : 'reported an error'
  return `The upstream ${provider.name} ${outcome}${isPlain(code, provider.secrets) ? ` (${code})` : ''}.`
}

function isPlain(code: unknown, secrets: readonly string[]): boolean {
  return typeof code === 'string' && CODE.test(code) && !secrets.some((secret) => code.includes(secret))
}

/** The upstream's part in an error, where its message repeats what the upstream said. */
function saidIn(error: Error): object | null {
  if (!(error instanceof GazewayError)) return error instanceof ReportedError ? error : null
  const { code, cause } = error
  return code === 'upstream_error' && cause instanceof ReportedError ? cause : null
}
