import { readUsage } from '../../providers/token-usage.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { toMessage } from '../convert/chat-to-message.ts'
import { createMessageEvents } from '../convert/chat-to-message-events.ts'
import { messageEvents } from '../convert/message-events.ts'
import { toChatFromMessages } from '../convert/messages-to-chat.ts'
import type { ChatCompletion, MessagesRequest } from '../convert/requests.ts'
import { badReply, clientGone, endedEarly, streamFailure } from '../failure.ts'
import { observedStream, observedWhole } from '../observe.ts'
import { errorEvent } from './error-event.ts'
import { gatherCompletion } from './gather.ts'
import { messageError } from './message-error.ts'
import { type Answered, answered, type Failed, failed, modelTold, type Passage, type Passing } from './passing.ts'
import { pump } from './receiver.ts'
import { endingOf, type StreamReply, tooLarge, WHOLE_LIMIT_BYTES, type WholeReply } from './send.ts'
import { eventData, type SseTap } from './sse-tap.ts'
import { passedHeaders, type Refusal, readCompletion, readRefusal, toSse } from './upstream-reply.ts'

/** Passes a Messages request to chat completions, and its answer back as a Message or its stream of events. */
export const passMessageConverted: Passage = {
  convert: (asked) => ({
    ...toChatFromMessages(asked as MessagesRequest),
    ...((asked as { stream?: unknown }).stream === true && { stream: true }),
  }),
  keepsBytes: false,
  dropsUsage: () => false,
  gather: gatherCompletion,
  passWhole,
  passStream,
  refusal,
}

function refusal(reply: WholeReply, { provider, requestId }: Passing): Refusal {
  const { error } = readRefusal(reply, provider, requestId)
  return { error, body: JSON.stringify(messageError(reply.status, error.reason, requestId)) }
}

const asked = (passing: Passing): MessagesRequest => passing.asked as unknown as MessagesRequest

/** Anthropic's clients look for the id of their request there. */
const requestIdHeader = ({ requestId }: Passing): Record<string, string> =>
  requestId === null ? {} : { 'request-id': requestId }

/** Answers with a completion that came in one piece. */
function passWhole(passing: Passing, reply: WholeReply): Answered | Failed {
  const { provider, receiver, stream, callId, model } = passing
  const completion = readCompletion(reply, provider) as ChatCompletion
  const observed = observedWhole(readUsage(completion.usage), completion.choices, completion)
  const named = { ...completion, model: modelTold(completion.model, model) }
  const message = toMessage(named, asked(passing))
  if (message === null)
    return failed(badReply(provider, 'the arguments of a tool call are no JSON object'), reply.status, observed)
  const headers = { ...passedHeaders(reply.headers, callId, provider), ...requestIdHeader(passing) }
  if (stream) {
    const events = toSse(messageEvents(message))
    receiver.head(200, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(events)
  } else {
    const body = JSON.stringify(message)
    receiver.whole(200, { ...headers, 'content-type': 'application/json' }, body)
  }
  return answered(reply.status, observed)
}

/** Answers with a stream of chunks, as they come. A call that is cut off gets no end: nobody must run it. */
async function passStream(passing: Passing, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, receiver, requestId, callId, model, onFirst } = passing
  const events = createMessageEvents(asked(passing), { model })
  const headers = { ...passedHeaders(reply.headers, callId, provider), ...requestIdHeader(passing) }
  let begun = false
  let size = 0
  receiver.hold?.(200, headers)

  function filter(bytes: Buffer): Buffer | null {
    // Parallel calls wait for one another.
    size += bytes.length
    if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
    const chunks = splitEvents(bytes).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) throw reported
    const out = chunks.flatMap((chunk) => events.push(chunk as never))
    if (out.length === 0) return null
    if (!begun) receiver.head(200, headers)
    begun = true
    return toSse(out)
  }

  const end = await pump(reply, receiver, tap, { filter, onFirst, stallMs: provider.timeoutMs })
  const observed = observedStream(tap)
  if (end.kind === 'gone') return answered(reply.status, observed, clientGone(endingOf(receiver)))
  const { done, finished } = tap.ending()
  const cut = begun && (done || finished) ? null : endedEarly(provider)
  const broken = end.kind === 'broken' ? streamFailure(end.error, provider) : cut
  if (broken && !begun) return failed(broken, reply.status, observed)
  receiver.end(broken ? errorEvent('/messages', broken, requestId) : toSse(events.finish()))
  return answered(reply.status, observed, broken)
}
