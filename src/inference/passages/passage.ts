import type { GazewayError } from '../../errors.ts'
import type { ModelBody } from '../admit/admit.ts'
import type { BegunResponse } from '../convert/begun-response.ts'
import { NOTHING, type Observed, usageOf } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Outcome } from '../settle/settle.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Refusal } from './upstream-reply.ts'

/** Context of a reply that is being passed on. */
export interface Passing {
  provider: Provider
  receiver: Receiver
  /** The client's request. */
  asked: ModelBody
  /** True when the client wants a stream. */
  stream: boolean
  /** True when only text counts as an answer. */
  needsText: boolean
  /** Request id for errors. Null when they carry none. */
  requestId: string | null
  callId: string
  /** Number of the attempt within the call, from 1. */
  attempt: number
  /** Headers about the limits of the caller. */
  limits: Readonly<Record<string, string>>
  /** Model id at the upstream. */
  model: string
  /** State of the stream that an earlier candidate began. Null when the client has received nothing. */
  begun: BegunResponse | null
  onFirst(): void
}

/** Result: the client has its complete reply, possibly with an error in a stream that had begun. */
export interface Answered {
  kind: 'answered'
  outcome: Outcome & { error: GazewayError | null }
}

/** Result: the client has no reply yet, or the beginning of one that another candidate can continue. */
export interface Failed {
  kind: 'failed'
  outcome: Outcome & { error: GazewayError }
  /** The upstream's error reply. Null for other failures. */
  refused: WholeReply | null
  /** Body that the client would get for it. */
  errorBody: string | null
  /** State of the stream. Null when the client has received nothing. */
  begun: BegunResponse | null
  /** True when the reply was a stream, of which the client has received only `begun`. */
  isStreamed: boolean
}

/** Passes requests of one API to an endpoint, and its replies back. */
export interface Passage {
  /**
   * Builds the body to send, except for the model and the format.
   *
   * @param refused field that the previous candidate rejected
   */
  convert(asked: object, refused: string | null): object
  /** True when the client's own bytes may be sent if nothing changes. */
  keepsBytes: boolean
  /** True when the chunk with the usage is not passed on. */
  dropsUsage(passing: Passing): boolean
  /** Collects a stream that was not requested. */
  gather(passing: Passing, reply: StreamReply, tap: SseTap): Promise<WholeReply>
  passWhole(passing: Passing, reply: WholeReply): Answered | Failed
  /** Converts an error reply for the client. OpenAI's format by default. */
  refusal?(reply: WholeReply, passing: Passing): Refusal
  passStream(passing: Passing, reply: StreamReply, tap: SseTap): Promise<Answered | Failed>
}

/**
 * Result of a reply that reached its client.
 *
 * @param error error within it
 */
export const answered = (httpStatus: number, observed: Observed, error: GazewayError | null = null): Answered => ({
  kind: 'answered',
  outcome: outcomeOf(httpStatus, error, observed),
})

/** Result of a candidate that did not answer. */
export const failed = (
  error: GazewayError,
  httpStatus: number | null,
  observed: Observed = NOTHING,
  { refused = null, errorBody = null, begun = null }: Partial<Pick<Failed, 'refused' | 'errorBody' | 'begun'>> = {},
): Failed => ({
  kind: 'failed',
  outcome: outcomeOf(httpStatus, error, observed),
  refused,
  errorBody,
  begun,
  isStreamed: false,
})

const outcomeOf = <Err extends GazewayError | null>(
  httpStatus: number | null,
  error: Err,
  observed: Observed,
): Outcome & { error: Err } => {
  const { generated, answer, made, serviceTier } = observed
  return { httpStatus, error, usage: usageOf(observed, error), serviceTier, generated, answer, made }
}

/** Model that a reply names, otherwise the requested one. */
export const reportedModel = (reported: unknown, requested: string): string =>
  typeof reported === 'string' && reported !== '' ? reported : requested
