import type { GazewayError } from '../../errors.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply } from '../relay/exchange.ts'
import { pump, type StreamEnd } from '../relay/receiver.ts'
import { endingOf } from '../relay/send.ts'
import { clientGone, endedEarly, streamFailure } from '../upstreams/failure.ts'
import type { ReplyContext } from './passage.ts'
import { withoutStart } from './started-message.ts'

/**
 * Passes a stream on to the client of a call.
 *
 * @param filter selects the whole events to pass on
 * @param isOver tells whether the stream is complete although no `[DONE]` has passed
 */
export const relayStream = (
  { provider, receiver, onFirst, bill }: ReplyContext,
  reply: StreamReply,
  tap: SseTap,
  filter: (events: Buffer) => Buffer | null,
  isOver?: () => boolean,
): Promise<StreamEnd> =>
  pump(reply, receiver, tap, { filter, onFirst, stallMs: provider.timeoutMs, needsUsage: bill.isReadOn, isOver })

/**
 * Error of a stream that ended before its answer was complete. Null for a complete answer: what follows it changes
 * nothing, and many clients disconnect there.
 *
 * @param isComplete true when the end of the answer has passed
 * @param mayEnd true when the upstream may end the stream here; by default, when it is complete
 */
export function endError(
  end: StreamEnd,
  { provider, receiver }: ReplyContext,
  isComplete: boolean,
  mayEnd = isComplete,
): GazewayError | null {
  if (isComplete) return null
  if (end.kind === 'gone') return clientGone(endingOf(receiver))
  if (end.kind === 'broken') return streamFailure(end.error, provider)
  return mayEnd ? null : endedEarly(provider)
}

/** Error that the stream itself reported. Null without one. */
export function reportedError(tap: SseTap, { provider }: ReplyContext): GazewayError | null {
  const reported = tap.failed()
  return reported && streamFailure(reported, provider)
}

/**
 * Sends a whole answer. A client that asked for a stream gets it as one, since some providers never stream.
 *
 * @param content body, or events
 */
export function sendAnswer(
  { receiver, stream }: ReplyContext,
  status: number,
  headers: Record<string, string>,
  content: Buffer | string,
): void {
  if (stream) {
    receiver.head(status, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(withoutStart(receiver, Buffer.from(content as Buffer)))
  } else receiver.whole(status, headers, content)
}
