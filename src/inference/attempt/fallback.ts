import type { CallContext } from '../../calls/call-record.ts'
import type { GazewayError } from '../../errors.ts'
import { ReportedError } from '../api/reported-error.ts'
import { countsOnStored } from '../convert/stored-state.ts'
import type { Failed } from '../passages/passage.ts'

/**
 * Rules for trying the next candidate after a failure: another key, another endpoint or another upstream. Errors of the
 * client are returned to it, and no other candidate is tried once an upstream has begun to answer.
 */

/** Fields of a call's request that the rules read. */
export interface AskedFor {
  /** Path below `/v1`. */
  endpoint: string
  request: { json: { [field: string]: unknown } }
  context: Pick<CallContext, 'callerId' | 'session'>
}

/** Maximum number of candidates tried per call. */
export const MAX_ATTEMPTS = 8
/** Time after the first attempt from which no further candidate is tried, in milliseconds. */
export const MAX_TIME_MS = 300_000

/** Statuses that another upstream may answer better, besides every 5xx, and 404 for its model. */
const FOR_OTHERS: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429])
/** Statuses caused by the key. */
const BY_KEY: ReadonlySet<number> = new Set([401, 403, 429])

/** Codes of a call that has ended, whatever its candidates would answer. */
const ENDED: ReadonlySet<string> = new Set(['cancelled', 'service_stopping'])

/** Tells whether nobody waits for an answer any more: the client disconnected, or the service stops. */
export const isEnded = ({ code }: GazewayError): boolean => ENDED.has(code)

/** Tells whether another key of the same upstream may succeed. */
export const isOfKey = ({ refused }: Failed, call: AskedFor): boolean =>
  refused !== null && BY_KEY.has(refused.status) && !isBound(call)

/**
 * Tells whether chat completions of the same upstream stand in for its responses endpoint, which many lack. Not when:
 * - no connection was free: it would wait as long again;
 * - the request has no input;
 * - the request depends on state stored at the upstream.
 */
export function isStandInAsked({ outcome: { error } }: Failed, call: AskedFor): boolean {
  if (isEnded(error) || error.code === 'too_many_requests') return false
  return (call.request.json.input ?? null) !== null && !isBound(call)
}

/**
 * Tells whether another upstream is tried. It is tried after a connection failure, a timeout before the first byte, an
 * error not caused by the client, and a stream that broke before its first output.
 */
export function isOtherAsked({ outcome: { error }, refused, begun, isStreamed }: Failed, call: AskedFor): boolean {
  if (isEnded(error) || begun !== null || isBound(call)) return false
  const status = refused?.status ?? statusIn(error)
  if (status !== null) return isForOthers(status)
  if (error.code === 'internal_error') return false
  // A whole reply that was cut off, or is malformed, had begun.
  return isStreamed || error.upstreamStatus === undefined || isForOthers(error.upstreamStatus)
}

const isForOthers = (status: number): boolean => status >= 500 || FOR_OTHERS.has(status)

/** HTTP status in the code of an error that was sent instead of an answer. Null without one. */
function statusIn({ cause }: GazewayError): number | null {
  const code = cause instanceof ReportedError ? Number(cause.code) : Number.NaN
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : null
}

/** Endpoints whose requests may depend on state: stored at one upstream, or sealed. */
const OF_STATE: ReadonlySet<string> = new Set(['/responses', '/responses/compact'])

/** Tells whether requests to an endpoint may depend on state. */
export const mayHoldState = (endpoint: string): boolean => OF_STATE.has(endpoint)

/** Tells whether a request depends on state stored at one upstream, so that no other can answer it. */
export const isBound = ({ endpoint, request }: AskedFor): boolean =>
  mayHoldState(endpoint) && countsOnStored(request.json)
