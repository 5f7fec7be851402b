import type { GazewayError } from '../../errors.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { clientGone, endedEarly, streamFailure } from '../failure.ts'
import { observedStream } from '../observe.ts'
import { type Answered, answered, type Failed, failed, type Passing } from './passing.ts'
import { pump } from './receiver.ts'
import { endingOf, type StreamReply, tooLarge, WHOLE_LIMIT_BYTES } from './send.ts'
import { type EventData, eventData, type SseTap } from './sse-tap.ts'
import { toSse } from './upstream-reply.ts'

/** How the chunks of a chat completion become the events of another API. */
export interface ChunkConversion {
  headers: Record<string, string>
  /** The events that some chunks become; none yet where they wait for others. */
  convert(chunks: readonly EventData[]): readonly { type: string }[]
  /**
   * Ends the stream. @param broken why it broke off; null where it is whole
   *
   * @returns the last bytes, and what is wrong with the answer all the same
   */
  finish(broken: GazewayError | null): { bytes: Buffer | string; error: GazewayError | null }
}

/**
 * Answers with a stream of chat completion chunks, converted as they come. What fails before the first event leaves the
 * client's reply without one, so that another candidate can answer.
 */
export async function passChunks(
  passing: Passing,
  reply: StreamReply,
  tap: SseTap,
  { headers, convert, finish }: ChunkConversion,
): Promise<Answered | Failed> {
  const { provider, receiver, onFirst } = passing
  let begun = false
  let size = 0
  receiver.hold?.(200, headers)

  function filter(bytes: Buffer): Buffer | null {
    // The conversion keeps the whole answer, or parts of it that wait for others.
    size += bytes.length
    if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
    const chunks = splitEvents(bytes).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) throw reported
    const events = convert(chunks)
    if (events.length === 0) return null
    if (!begun) receiver.head(200, headers)
    begun = true
    return toSse(events)
  }

  const end = await pump(reply, receiver, tap, { filter, onFirst, stallMs: provider.timeoutMs })
  const observed = observedStream(tap)
  if (end.kind === 'gone') return answered(reply.status, observed, clientGone(endingOf(receiver)))
  const { done, finished } = tap.ending()
  const cut = begun && (done || finished) ? null : endedEarly(provider)
  const broken = end.kind === 'broken' ? streamFailure(end.error, provider) : cut
  if (broken && !begun) return failed(broken, reply.status, observed)
  const { bytes, error } = finish(broken)
  receiver.end(bytes)
  return answered(reply.status, observed, error)
}
