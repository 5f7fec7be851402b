import type { SkippedCandidate } from '../../calls/call-record.ts'
import type { PricedModel } from '../../providers/prices.ts'
import type { Bill } from '../admit/bill.ts'
import type { Changes } from '../convert/reported-changes.ts'
import type { Observed } from '../observe/observe.ts'
import type { LateReceiver } from '../relay/abandoned-reads.ts'
import type { WatchedCall } from '../session/cache-watch.ts'
import type { Provider } from '../upstreams/provider.ts'

/** A call about to be made. */
export interface Invocation {
  /** Upstream to call. */
  provider: Provider
  /** Path below the provider's base URL. */
  path: string
  model: PricedModel | null
  stream: boolean
  /** Wait before the first attempt, in milliseconds. Null for a later one. */
  queueMs: number | null
  /** Failed call that this one replaces. */
  fallbackFrom?: string | undefined
  /** Candidates passed over since the attempt before. */
  skipped?: SkippedCandidate[]
  /** False for a request that is no call, such as one for a list of models. */
  isRecorded: boolean
  /** Changes of the request on its way there. */
  changes: Pick<Changes, 'list'>
  /** Bill to charge. */
  bill: Bill
  /** The client's request. */
  asked: WatchedCall['request']
  /** True for an answer in the background, of which the reservation was booked before its cost was known. */
  isLater?: true
  /** Body sent, for the record when content is stored, and for estimating usage when none is reported. */
  request: unknown
}

/** Outcome of a call. */
export interface Outcome extends Observed {
  /** Status of the upstream. Null without a reply. */
  httpStatus: number | null
  /** The error. Null when the client has its answer. */
  error: Error | null
}

/** Outcome of a call, and what became of its client. */
export interface SettledOutcome extends Outcome {
  /** True when the client received part of the answer. */
  isHad: boolean
  /** True when the provider may bill an answer whose usage it did not tell. */
  isUntold: boolean
  /** Usage that replies told which were discarded for another try. */
  discarded: readonly Observed[]
  /** Receiver that reads on once the client has left. Null for a call without limits. */
  late: LateReceiver | null
  /** The provider's id of the answer, by which it states the cost later. Null without one. */
  generationId: string | null
}
