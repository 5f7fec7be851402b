import { readUsage } from '../../providers/token-usage.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { toResponse } from '../convert/chat-to-response.ts'
import { completionEvents, createResponseEvents } from '../convert/chat-to-response-events.ts'
import type { ChatCompletion, ResponseRequest } from '../convert/requests.ts'
import { toChatRequest } from '../convert/responses-to-chat.ts'
import { clientGone, endedEarly, streamFailure } from '../failure.ts'
import { observedStream, observedWhole } from '../observe.ts'
import { lackOf } from '../response-texts.ts'
import { gatherCompletion } from './gather.ts'
import { type Answered, answered, type Failed, failed, modelTold, type Passage, type Passing } from './passing.ts'
import { pump } from './receiver.ts'
import { endingOf, type StreamReply, tooLarge, WHOLE_LIMIT_BYTES, type WholeReply } from './send.ts'
import { eventData, type SseTap } from './sse-tap.ts'
import { passedHeaders, readCompletion, responseErrorEvent, toSse } from './upstream-reply.ts'

/** Tells the client which endpoint answered. */
const ROUTE = { 'x-gazeway-route': 'chat_fallback' }

/** Passes a Responses request to chat completions, and its answer back as a Response or its stream of events. */
export const passConverted: Passage = {
  convert: (asked, refused) => ({
    ...toChatRequest(asked as ResponseRequest, refused),
    ...((asked as { stream?: unknown }).stream === true && { stream: true }),
  }),
  keepsBytes: false,
  dropsUsage: () => false,
  gather: gatherCompletion,
  passWhole,
  passStream,
}

/** Answers with a completion that came in one piece. */
function passWhole(passing: Passing, reply: WholeReply): Answered | Failed {
  const { provider, receiver, stream, needsText, callId, model, begun } = passing
  const asked = passing.asked as unknown as ResponseRequest
  const completion = readCompletion(reply, provider) as ChatCompletion
  const observed = observedWhole(readUsage(completion.usage), completion.choices, completion)
  const named = { ...completion, model: modelTold(completion.model, model) }
  const lack = needsText ? lackOf(toResponse(named, asked), provider) : null
  if (lack) return failed(lack, reply.status, observed)
  const headers = { ...ROUTE, 'x-gazeway-call-id': callId }
  if (stream) {
    const events = toSse(completionEvents(named, asked, begun))
    receiver.head(200, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(events)
  } else {
    const body = JSON.stringify(toResponse(named, asked))
    receiver.whole(200, { ...headers, 'content-type': 'application/json' }, body)
  }
  return answered(reply.status, observed)
}

/** Answers with a stream of chunks, as they come. */
async function passStream(passing: Passing, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, receiver, requestId, needsText, callId, model, onFirst } = passing
  const events = createResponseEvents(passing.asked as unknown as ResponseRequest, { model, begun: passing.begun })
  const headers = { ...passedHeaders(reply.headers, callId, provider), ...ROUTE }
  let begun = false
  let size = 0
  receiver.hold?.(200, headers)

  function filter(bytes: Buffer): Buffer | null {
    // The last event holds the whole answer.
    size += bytes.length
    if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
    const chunks = splitEvents(bytes).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) throw reported
    if (chunks.length === 0) return null
    const out = [...(begun ? [] : events.start()), ...chunks.flatMap((chunk) => events.push(chunk as never))]
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
  const last = broken ? events.fail(broken) : events.finish()
  const [ending] = last.slice(-1)
  const lack = needsText && !broken && ending && 'response' in ending ? lackOf(ending.response, provider) : null
  receiver.end(lack ? responseErrorEvent(lack, requestId, last[0]?.sequence_number ?? 0) : toSse(last))
  return answered(reply.status, observed, broken ?? lack)
}
