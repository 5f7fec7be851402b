import type { Fields } from '../../text/typed-reader.ts'
import { refusalInMessages } from '../api/message-error.ts'
import type { MessagesRequest } from '../api/requests.ts'
import { callMessage } from '../convert/calls-without-reasoning.ts'
import { toMessage } from '../convert/chat-to-message.ts'
import { createMessageEvents } from '../convert/chat-to-message-events.ts'
import { messageEvents } from '../convert/message-events.ts'
import { messagesCallsAlone } from '../convert/messages-calls-without-reasoning.ts'
import { toChatFromMessages } from '../convert/messages-to-chat.ts'
import { badReply } from '../upstreams/failure.ts'
import { messageReasoning } from './answer-reasoning.ts'
import { completionFault } from './completion-fault.ts'
import { errorEvent } from './error-event.ts'
import { overChat } from './over-chat.ts'
import type { Passage, ReplyContext } from './passage.ts'
import { isMessageOutput, startMessage } from './started-message.ts'
import { passedHeaders, readRefusal, toSse, writtenEvents } from './upstream-reply.ts'

const askedOf = ({ asked }: ReplyContext): MessagesRequest => asked as unknown as MessagesRequest

/** Passes a Messages request to chat completions, and the answer back as a Message or its events. */
export const messageOverChat: Passage = {
  ...overChat({
    request(asked, { note, model, reasoning, takesFileUrls: fileUrls, takesCacheMarks: cacheMarks }) {
      const thoughts = { open: reasoning.open, kept: (call: Fields) => reasoning.kept(callMessage(call), null) }
      return toChatFromMessages(asked, note, thoughts, model, { fileUrls, cacheMarks })
    },
    // Anthropic's clients look for the request id in a header of its own.
    headers(context, { headers }) {
      const passed = passedHeaders(headers, context)
      if (context.requestId !== null) passed['request-id'] = context.requestId
      return passed
    },
    whole(completion, context) {
      const fault = completionFault(completion, askedOf(context).tools)
      if (fault !== null) return badReply(context.provider, fault)
      const { seal, keep } = messageReasoning(context)
      const message = toMessage(completion, askedOf(context), seal)
      if (message === null) return badReply(context.provider, 'the arguments of a tool call are not a JSON object')
      keep(message.content)
      return context.stream ? toSse(messageEvents(message)) : JSON.stringify(message)
    },
    stream(context) {
      const { seal, keep } = messageReasoning(context)
      const events = createMessageEvents(askedOf(context), { model: context.model, seal })
      return {
        begin: startMessage,
        convert: (chunks) =>
          writtenEvents(
            chunks.flatMap((chunk) => events.push(chunk)),
            isMessageOutput,
          ),
        // A truncated call gets no end event, since it must not be executed.
        finish(ended) {
          const fault = ended === null ? events.fault() : null
          const broken = fault === null ? ended : badReply(context.provider, fault)
          if (broken) return { bytes: errorEvent('/messages', broken, context.requestId), error: broken }
          const bytes = toSse(events.finish())
          keep(events.uses())
          return { bytes, error: null }
        },
      }
    },
  }),
  answersIn: (asked) => messagesCallsAlone(asked),
  refusal(reply, { provider, requestId }) {
    const { error } = readRefusal(reply, provider, requestId)
    return { error, body: JSON.stringify(refusalInMessages(error, reply.status, requestId)) }
  },
}
