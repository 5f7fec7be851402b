import { messageError } from '../api/message-error.ts'
import type { ChatCompletion, MessagesRequest } from '../api/requests.ts'
import { toMessage } from '../convert/chat-to-message.ts'
import { createMessageEvents } from '../convert/chat-to-message-events.ts'
import { messageEvents } from '../convert/message-events.ts'
import { toChatFromMessages } from '../convert/messages-to-chat.ts'
import { observedWhole } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { badReply } from '../upstreams/failure.ts'
import { convertChunks } from './convert-chunks.ts'
import { errorEvent } from './error-event.ts'
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
import { passedHeaders, type Refusal, readCompletion, readRefusal, toSse } from './upstream-reply.ts'
import { convertedRequest } from './write-request.ts'

/** Passes a Messages request to chat completions, and the answer back as a Message or its events. */
export const messageOverChat: Passage = {
  convert: (asked) => ({
    ...toChatFromMessages(asked as MessagesRequest),
    ...((asked as { stream?: unknown }).stream === true && { stream: true }),
  }),
  write: convertedRequest,
  isReformed: true,
  dropsUsage: () => false,
  gather: gatherCompletion,
  passWhole,
  passStream,
  refusal,
}

function refusal(reply: WholeReply, { provider, requestId }: ReplyContext): Refusal {
  const { error } = readRefusal(reply, provider, requestId)
  return { error, body: JSON.stringify(messageError(reply.status, error.reason, requestId)) }
}

const asked = (context: ReplyContext): MessagesRequest => context.asked as unknown as MessagesRequest

/** Header in which Anthropic's clients look for the request id. */
const requestIdHeader = ({ requestId }: ReplyContext): Record<string, string> =>
  requestId === null ? {} : { 'request-id': requestId }

/** Answers with a completion that was not streamed. */
function passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed {
  const { provider, receiver, stream, model } = context
  const completion = readCompletion(reply, provider) as ChatCompletion
  const observed = observedWhole(completion, completion.choices)
  const named = { ...completion, model: reportedModel(completion.model, model) }
  const message = toMessage(named, asked(context))
  if (message === null)
    return failed(badReply(provider, 'the arguments of a tool call are not a JSON object'), reply.status, observed)
  const headers = { ...passedHeaders(reply.headers, context), ...requestIdHeader(context) }
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

/** Answers with a stream of chunks. A truncated call gets no end event, since it must not be executed. */
function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { requestId, model } = context
  const events = createMessageEvents(asked(context), { model })
  return convertChunks(context, reply, tap, {
    headers: { ...passedHeaders(reply.headers, context), ...requestIdHeader(context) },
    convert: (chunks) => chunks.flatMap((chunk) => events.push(chunk as never)),
    finish: (broken) => ({
      bytes: broken ? errorEvent('/messages', broken, requestId) : toSse(events.finish()),
      error: broken,
    }),
  })
}
