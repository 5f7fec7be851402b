import { GazewayError } from '../../errors.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import type { ChatChunk, ChatCompletion, ChatRequest } from '../api/requests.ts'
import { fitted } from '../convert/drop-inexpressible.ts'
import { eventData } from '../observe/event-data.ts'
import { observedStream, observedWhole } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { tooLarge, WHOLE_LIMIT_BYTES } from '../relay/send.ts'
import type { holdBeginning } from './held-beginning.ts'
import {
  type Answered,
  answered,
  type Conversion,
  type Failed,
  failed,
  type Passage,
  type ReplyContext,
  reportedModel,
} from './passage.ts'
import { endError, relayStream, sendAnswer } from './relay-stream.ts'
import { readCompletion } from './upstream-reply.ts'
import { gatherCompletion } from './whole-from-stream.ts'
import { convertedRequest } from './write-request.ts'

/** Conversion of the requests of another API to chat completions, and of the answers back. */
export interface ChatConversion {
  request(asked: never, conversion: Conversion): ChatRequest
  headers(context: ReplyContext, reply: WholeReply | StreamReply): Record<string, string>
  /**
   * Converts a completion that was not streamed.
   *
   * @returns the body, or the events for a client that asked for a stream; the fault of a completion that is no answer
   */
  whole(completion: ChatCompletion, context: ReplyContext): Buffer | string | GazewayError
  stream(context: ReplyContext): ChunkConversion
}

/** Converts the chunks of one chat completion to the events of another API. */
export interface ChunkConversion {
  /** Begins the stream, until whose first output another candidate can answer. */
  begin: typeof holdBeginning
  /** Converts chunks to events, and tells whether they have output. Null while they depend on later chunks. */
  convert(chunks: readonly ChatChunk[]): { bytes: Buffer; hasOutput: boolean } | null
  /**
   * Ends the stream.
   *
   * @param broken the error that broke it off; null when it is complete
   * @returns the last bytes, and the error of an answer that is faulty anyway; `isEmpty` where the client has nothing of it
   */
  finish(broken: GazewayError | null): { bytes: Buffer | string; error: GazewayError | null; isEmpty?: boolean }
}

/** Creates the passage of an API to upstreams that have chat completions alone. */
export const overChat = (conversion: ChatConversion): Passage => ({
  convert: (asked, terms) => ({
    ...fitted(asked, terms, (body, note) => conversion.request(body as never, { ...terms, note })),
    ...((asked as { stream?: unknown }).stream === true && { stream: true }),
  }),
  carriesReasoning: true,
  write: convertedRequest,
  isReformed: true,
  isConverted: true,
  dropsUsage: () => false,
  gather: gatherCompletion,
  passWhole: (context, reply) => passWhole(conversion, context, reply),
  passStream: (context, reply, tap) => passStream(conversion, context, reply, tap),
})

/** Answers with a completion that was not streamed. */
function passWhole(conversion: ChatConversion, context: ReplyContext, reply: WholeReply): Answered | Failed {
  const completion = readCompletion(reply, context.provider) as ChatCompletion
  const observed = observedWhole(completion, completion.choices)
  const named = { ...completion, model: reportedModel(completion.model, context.model) }
  const content = conversion.whole(named, context)
  if (content instanceof GazewayError) return failed(content, reply.status, observed)
  const headers = conversion.headers(context, reply)
  headers['content-type'] = 'application/json'
  sendAnswer(context, 200, headers, content)
  return answered(reply.status, observed)
}

/** Streams converted chat chunks. It may fail before the first output, so that another candidate can answer. */
async function passStream(
  conversion: ChatConversion,
  context: ReplyContext,
  reply: StreamReply,
  tap: SseTap,
): Promise<Answered | Failed> {
  const { provider, receiver } = context
  const headers = conversion.headers(context, reply)
  const { convert, finish, begin } = conversion.stream(context)
  const held = begin(context, 200, headers)
  let begun = false
  let size = 0

  function filter(bytes: Buffer): Buffer | null {
    // The conversion keeps the whole answer, or parts that depend on later chunks.
    size += bytes.length
    if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
    const chunks = splitEvents(bytes).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) throw reported
    const events = convert(chunks as unknown as ChatChunk[])
    // Some answers have nothing for the client until they end.
    begun ||= chunks.length > 0
    if (events === null) return null
    return held.add(events.bytes, receiver.isSole !== false || events.hasOutput)
  }

  const end = await relayStream(context, reply, tap, filter)
  const observed = observedStream(tap)
  const { done, finished } = tap.ending()
  const broken = endError(end, context, false, begun && (done || finished))
  if (end.kind === 'gone') return answered(reply.status, observed, broken)
  if (broken && held.isHeld()) return failed(broken, reply.status, observed)
  // An empty answer.
  if (held.isHeld()) receiver.write(held.release())
  const { bytes, error, isEmpty } = finish(broken)
  receiver.end(bytes)
  return { ...answered(reply.status, observed, error), isEmpty: isEmpty === true }
}
