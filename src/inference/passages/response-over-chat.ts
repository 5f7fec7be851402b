import type { ChatCompletion, ResponseRequest } from '../api/requests.ts'
import { toResponse } from '../convert/chat-to-response.ts'
import { completionEvents, createResponseEvents } from '../convert/chat-to-response-events.ts'
import { toChatRequest } from '../convert/responses-to-chat.ts'
import { observedWhole } from '../observe/observe.ts'
import { lackOf } from '../observe/response-texts.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { convertChunks } from './convert-chunks.ts'
import { gatherCompletion } from './gather.ts'
import {
  type Answered,
  answered,
  type Failed,
  failed,
  type Passage,
  type ReplyContext,
  reportedModel,
} from './passage.ts'
import { originHeaders, passedHeaders, readCompletion, responseErrorEvent, toSse } from './upstream-reply.ts'
import { convertedRequest } from './write-request.ts'

/** Header that names the endpoint which answered. */
const ROUTE = { 'x-gazeway-route': 'chat_fallback' }

/** Passes a Responses request to chat completions, and the answer back as a Response or its events. */
export const responseOverChat: Passage = {
  convert: (asked, refused) => ({
    ...toChatRequest(asked as ResponseRequest, refused),
    ...((asked as { stream?: unknown }).stream === true && { stream: true }),
  }),
  write: convertedRequest,
  isReformed: true,
  dropsUsage: () => false,
  gather: gatherCompletion,
  passWhole,
  passStream,
}

/** Answers with a completion that was not streamed. */
function passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed {
  const { provider, receiver, stream, needsText, model, begun } = context
  const asked = context.asked as unknown as ResponseRequest
  const completion = readCompletion(reply, provider) as ChatCompletion
  const observed = observedWhole(completion, completion.choices)
  const named = { ...completion, model: reportedModel(completion.model, model) }
  const lack = needsText ? lackOf(toResponse(named, asked), provider) : null
  if (lack) return failed(lack, reply.status, observed)
  const headers = { ...ROUTE, ...originHeaders(context) }
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

/** Answers with a stream of chunks. */
function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, requestId, needsText, model } = context
  const events = createResponseEvents(context.asked as unknown as ResponseRequest, { model, begun: context.begun })
  let begun = false
  return convertChunks(context, reply, tap, {
    headers: { ...passedHeaders(reply.headers, context), ...ROUTE },
    convert(chunks) {
      if (chunks.length === 0) return []
      const start = begun ? [] : events.start()
      begun = true
      return [...start, ...chunks.flatMap((chunk) => events.push(chunk as never))]
    },
    finish(broken) {
      const last = broken ? events.fail(broken) : events.finish()
      const [ending] = last.slice(-1)
      const lack = needsText && !broken && ending && 'response' in ending ? lackOf(ending.response, provider) : null
      const bytes = lack ? responseErrorEvent(lack, requestId, last[0]?.sequence_number ?? 0) : toSse(last)
      return { bytes, error: broken ?? lack }
    },
  })
}
