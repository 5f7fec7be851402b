import type { GazewayError } from '../../errors.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { observedStream } from '../observe/observe.ts'
import { type EventData, eventData, type SseTap } from '../observe/sse-tap.ts'
import type { StreamReply } from '../relay/exchange.ts'
import { pump } from '../relay/receiver.ts'
import { endingOf, tooLarge, WHOLE_LIMIT_BYTES } from '../relay/send.ts'
import { clientGone, endedEarly, streamFailure } from '../upstreams/failure.ts'
import { type Answered, answered, type Failed, failed, type ReplyContext } from './passage.ts'
import { toSse } from './upstream-reply.ts'

/** Converts the chunks of a chat completion to the events of another API. */
export interface ChunkConversion {
  headers: Record<string, string>
  /** Converts chunks to events. Empty while they depend on later chunks. */
  convert(chunks: readonly EventData[]): readonly { type: string }[]
  /**
   * Ends the stream.
   *
   * @param broken the error that broke it off; null when it is complete
   * @returns the last bytes, and the error of an answer that is faulty anyway
   */
  finish(broken: GazewayError | null): { bytes: Buffer | string; error: GazewayError | null }
}

/**
 * Streams converted chat chunks. A failure before the first event sends nothing to the client, so that another
 * candidate can answer.
 */
export async function convertChunks(
  context: ReplyContext,
  reply: StreamReply,
  tap: SseTap,
  { headers, convert, finish }: ChunkConversion,
): Promise<Answered | Failed> {
  const { provider, receiver, onFirst } = context
  let begun = false
  let size = 0
  receiver.hold?.(200, headers)

  function filter(bytes: Buffer): Buffer | null {
    // The conversion keeps the whole answer, or parts that depend on later chunks.
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
