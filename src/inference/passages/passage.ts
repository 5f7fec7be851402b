import type { CallSession } from '../../calls/call-session.ts'
import type { GazewayError } from '../../errors.ts'
import type { ModelBody } from '../admit/admit.ts'
import type { Bill } from '../admit/bill.ts'
import type { BegunResponse } from '../convert/begun-response.ts'
import type { Changes, Note } from '../convert/reported-changes.ts'
import { NOTHING, type Observed, usageOf } from '../observe/observe.ts'
import type { OutputTimes } from '../observe/output-times.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { CallReasoning } from '../reasoning/reasoning.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Outcome } from '../settle/invocation.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { Refusal } from './upstream-reply.ts'
import type { Writing, Written } from './write-request.ts'

/** Context of a reply that is being passed on. */
export interface ReplyContext {
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
  /** Bill of the call, with headers about the limits of the caller. */
  bill: Bill
  /** Model id at the upstream. */
  model: string
  /** Changes of the request on its way there. */
  changes: Changes
  /** Carries the reasoning of the answer. */
  reasoning: Pick<CallReasoning, 'seal' | 'sealSummary' | 'keep' | 'mayBring'>
  /** State of the stream that an earlier candidate began. Null when the client has received nothing. */
  begun: BegunResponse | null
  onFirst(): void
  /** Takes the times at which the parts of the reply begin. */
  times: OutputTimes
}

/** Result: the client has its complete reply, possibly with an error in a stream that had begun. */
export interface Answered {
  kind: 'answered'
  outcome: Outcome & { error: GazewayError | null }
  /** True when its stream began, and ended with an error before any part of the answer. */
  isEmpty?: boolean
}

/** Result: the client has no reply yet, or the beginning of one that another candidate can continue. */
export interface Failed {
  kind: 'failed'
  outcome: Outcome & { error: GazewayError }
  /** The upstream's error reply. Null for other failures. */
  refused: RefusedReply | null
  /** State of the stream. Null when the client has received nothing. */
  begun: BegunResponse | null
  /** True when the reply was a stream, of which the client has received only `begun`. */
  isStreamed: boolean
}

/** An error reply of the upstream, with the headers and the body that the client would get for it. */
export interface RefusedReply extends WholeReply {
  shown: string
}

/** Terms of a conversion. */
export interface Conversion {
  /** Field that the previous candidate rejected. Null when none did. */
  refused: string | null
  /** Notes what the upstream's API cannot say. */
  note: Note
  /** Number of parts that may be dropped because it cannot express them. 0: each is refused. */
  mostDropped: number
  /** True where the upstream takes files by their address. */
  takesFileUrls: boolean
  /** True where the upstream takes marks for Anthropic's prompt cache in chat completions. */
  takesCacheMarks: boolean
  /** True where the upstream is Anthropic itself. */
  isAnthropic: boolean
  /** Session whose conversation is marked for the provider's cache. None where Gazeway is to set no marks. */
  cachedSession: CallSession
  /** Longest answer of the model beside the prompt, in tokens, where the API wants a limit. Null when unknown. */
  longestAnswer: number | null
  /** Model id at the upstream. Empty for its default. */
  model: string
  /** Opens the reasoning that the request brings back. */
  reasoning: Pick<CallReasoning, 'open' | 'openSummary' | 'kept' | 'mayBring'>
}

/** Passes requests of one API to an endpoint, and its replies back. */
export interface Passage {
  /** Builds the body to send, except for the model and the format. */
  convert(asked: object, conversion: Conversion): object
  /** True when requests bring reasoning back, and answers carry it. Native passages only take out what is sealed. */
  carriesReasoning?: boolean
  /** Messages of the request by which kept reasoning is found, where its API has them in another form. */
  answersIn?(asked: ModelBody): object[]
  /** The seals that a request brings back, as JSON, where its API has them in another form. */
  seals?(asked: object): string
  /** Writes the request to send. A promise only when numbers that JavaScript cannot represent must be kept, or a form. */
  write(writing: Writing): Written | Promise<Written>
  /** True when error replies are passed on as they are: no other candidate could answer. */
  passesErrors?: boolean
  /** Answers without asking the upstream, so that no call is recorded. */
  answersHere?(writing: Writing): Promise<WholeReply>
  /** True when a request whose form is rejected is sent again in another form. */
  isReformed: boolean
  /** True where a verbatim request is sent again with a lower limit, when the upstream refuses the one that was added. */
  lowersLimit?: true
  /** Name in its API of a field of the chat request that it makes. Without it, the APIs share their names. */
  fieldOf?(chatField: string): string
  /** Field of the client's request that a field of its chat request comes from, exactly: conversions are tried to find it. */
  placeOf?(chatField: string, asked: object): string
  /** True when requests are converted to another API. */
  isConverted?: true
  /** True when the chunk with the usage is not passed on. */
  dropsUsage(context: ReplyContext): boolean
  /** Collects a stream that was not requested. Without it, such a stream is passed on. */
  gather?(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<WholeReply>
  passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed | Promise<Answered>
  /** Converts an error reply for the client. OpenAI's format by default. */
  refusal?(reply: WholeReply, context: ReplyContext): Refusal
  passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed>
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
  { refused = null, begun = null }: Partial<Pick<Failed, 'refused' | 'begun'>> = {},
): Failed => ({
  kind: 'failed',
  outcome: outcomeOf(httpStatus, error, observed),
  refused,
  begun,
  isStreamed: false,
})

const outcomeOf = <Err extends GazewayError | null>(
  httpStatus: number | null,
  error: Err,
  observed: Observed,
): Outcome & { error: Err } => {
  const { promptUsage, generated, answer, made, terms = null } = observed
  const usage = usageOf(observed, error)
  // More was generated after outdated usage, and after the cost that stood beside it.
  const isOutdated = usage === null && observed.usage !== null
  const known = terms !== null && isOutdated ? { ...terms, stated: null, parts: null } : terms
  return { httpStatus, error, usage, promptUsage, terms: known, generated, answer, made }
}

/** Model that a reply names, otherwise the requested one. */
export const reportedModel = (reported: unknown, requested: string): string =>
  typeof reported === 'string' && reported !== '' ? reported : requested
