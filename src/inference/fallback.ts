import type { GazewayError } from '../errors.ts'
import type { Admission } from './admit.ts'
import { countsOnStored } from './convert/stored-state.ts'
import type { Failed } from './relay/passing.ts'
import { ReportedError } from './reported-error.ts'
import { askedPause } from './retry.ts'

/**
 * When the next candidate is asked after one has failed: another key, another endpoint, or another upstream. A client's own
 * fault stays the client's, and an upstream that has begun to answer is the last one.
 */

/** At most this many candidates are asked for one call. */
export const MOST_ATTEMPTS = 8
/** So long after the first of them none is asked any more, in milliseconds. */
export const MOST_TIME_MS = 300_000

/** What an upstream answers that another one may answer better: besides every 5xx, and 404 for its model. */
const FOR_OTHERS: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429])
/** What an upstream answers because of the key. */
const BY_KEY: ReadonlySet<number> = new Set([401, 403, 429])

/** How long a key rests that was refused, or that is limited without a `Retry-After`, in milliseconds. */
const REFUSED_REST_MS = 60_000
const SHORTEST_REST_MS = 1000
/** A longer `Retry-After` is not believed. */
const LONGEST_REST_MS = 600_000

/** The call is over, whatever its candidates would answer. */
const ENDED: ReadonlySet<string> = new Set(['cancelled', 'service_stopping'])

/** Whether nobody waits for an answer any more: the client has gone, or the service stops. */
export const isEnded = ({ code }: GazewayError): boolean => ENDED.has(code)

/** Whether the same upstream may answer with another of its keys. */
export const isOfKey = ({ refused }: Failed, call: Admission): boolean =>
  refused !== null && BY_KEY.has(refused.status) && !isBound(call)

/** How long a key rests after a failure, in milliseconds; 0 where it does not. */
export function restMs({ refused }: Failed): number {
  if (refused?.status === 401) return REFUSED_REST_MS
  if (refused?.status !== 429) return 0
  return Math.min(askedPause(refused.headers) ?? SHORTEST_REST_MS, LONGEST_REST_MS)
}

/**
 * Whether chat completions of the same upstream are asked in place of its responses endpoint, which many lack. Where no
 * connection was free, it would wait as long again. Chat completions cannot answer a Responses request without input, nor
 * one that counts on what the upstream has stored.
 */
export function isStandInAsked({ outcome: { error } }: Failed, call: Admission): boolean {
  if (isEnded(error) || error.code === 'too_many_requests') return false
  return (call.request.json.input ?? null) !== null && !isBound(call)
}

/**
 * Whether another upstream is asked: after no connection, silence before the first byte, a refusal that is not the client's
 * fault, and a stream that broke before its first output.
 */
export function isOtherAsked({ outcome: { error }, refused, begun, isStreamed }: Failed, call: Admission): boolean {
  if (isEnded(error) || begun !== null || isBound(call)) return false
  const said = refused?.status ?? statusSaid(error)
  if (said !== null) return isForOthers(said)
  if (error.code === 'internal_error') return false
  // A whole reply that broke off, or is none, had begun.
  return isStreamed || error.upstreamStatus === undefined || isForOthers(error.upstreamStatus)
}

const isForOthers = (status: number): boolean => status >= 500 || FOR_OTHERS.has(status)

/** The status that an error which came in place of an answer has as its code; null where it has none. */
function statusSaid({ cause }: GazewayError): number | null {
  const code = cause instanceof ReportedError ? Number(cause.code) : Number.NaN
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : null
}

/** Whether a request counts on what one upstream has stored: no other can answer it. */
const isBound = ({ endpoint, request }: Admission): boolean => endpoint === '/responses' && countsOnStored(request.json)
