import type { GazewayError } from '../../errors.ts'
import type { ModelBody } from '../admit.ts'
import type { BegunResponse } from '../convert/begun-response.ts'
import { NOTHING, type Observed } from '../observe.ts'
import type { Provider } from '../provider.ts'
import type { Outcome } from '../settle.ts'
import type { Receiver } from './receiver.ts'
import type { StreamReply, WholeReply } from './send.ts'
import type { SseTap } from './sse-tap.ts'
import type { Refusal } from './upstream-reply.ts'

/** A reply that is being passed on: whose it is, and what was asked. */
export interface Passing {
  provider: Provider
  receiver: Receiver
  /** What the client asked. */
  asked: ModelBody
  /** Whether it wants the answer as events. */
  stream: boolean
  /** Whether only text counts as an answer. */
  needsText: boolean
  /** Names the client's request in the errors that it is told; null where they name none. */
  requestId: string | null
  callId: string
  /** Its place among the attempts of the call, from 1. */
  attempt: number
  /** The upstream's id of the model. */
  model: string
  /** What the client has of the stream of an earlier candidate; null where it has nothing. */
  begun: BegunResponse | null
  onFirst(): void
}

/** The client has its reply, to the end, be it an error in a stream that had begun. */
export interface Answered {
  kind: 'answered'
  outcome: Outcome & { error: GazewayError | null }
}

/** The client has no reply yet, or the beginning of one that another candidate can continue. */
export interface Failed {
  kind: 'failed'
  outcome: Outcome & { error: GazewayError }
  /** The upstream's refusal, if it is one. */
  refused: WholeReply | null
  /** The body that its client gets of the refusal. */
  told: string | null
  /** What the client has of the stream; null where it has nothing. */
  begun: BegunResponse | null
  /** Whether its reply was a stream, of which the client has nothing yet but what is in `begun`. */
  isStreamed: boolean
}

/** How requests of one API are passed to an endpoint, and its replies back. */
export interface Passage {
  /** What is sent, but for the model and the form. @param refused the field that the candidate before has refused */
  convert(asked: object, refused: string | null): object
  /** Whether the client's own bytes may be sent where nothing has to change. */
  keepsBytes: boolean
  /** Whether the chunk that reports usage stays here. */
  dropsUsage(passing: Passing): boolean
  /** Gathers a stream that was not asked for. */
  gather(passing: Passing, reply: StreamReply, tap: SseTap): Promise<WholeReply>
  passWhole(passing: Passing, reply: WholeReply): Answered | Failed
  /** A refusal as its client gets it; in OpenAI's shape where a passage has none of its own. */
  refusal?(reply: WholeReply, passing: Passing): Refusal
  passStream(passing: Passing, reply: StreamReply, tap: SseTap): Promise<Answered | Failed>
}

/** The client has its reply. @param error what went wrong in it */
export const answered = (httpStatus: number, observed: Observed, error: GazewayError | null = null): Answered => ({
  kind: 'answered',
  outcome: { httpStatus, error, ...observed },
})

/** The candidate did not answer. */
export const failed = (
  error: GazewayError,
  httpStatus: number | null,
  observed: Observed = NOTHING,
  { refused = null, told = null, begun = null }: Partial<Pick<Failed, 'refused' | 'told' | 'begun'>> = {},
): Failed => ({
  kind: 'failed',
  outcome: { httpStatus, error, ...observed },
  refused,
  told,
  begun,
  isStreamed: false,
})

/** The model that a reply names, whatever it holds there; the one that was asked for where it names none. */
export const modelTold = (told: unknown, asked: string): string =>
  typeof told === 'string' && told !== '' ? told : asked
