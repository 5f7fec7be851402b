import { GazewayError } from '../../errors.ts'
import { splitEvents, wholeEvents } from '../../wire/whole-sse-events.ts'
import type { ChatRequest } from '../api/requests.ts'
import { withCacheMarks } from '../convert/anthropic-cache-marks.ts'
import { toMessagesFromChat } from '../convert/chat-to-messages.ts'
import { customNames } from '../convert/custom-tools.ts'
import { fitted } from '../convert/drop-inexpressible.ts'
import { toCompletion } from '../convert/message-to-chat.ts'
import { createCompletionChunks } from '../convert/message-to-chat-chunks.ts'
import type { Note } from '../convert/reported-changes.ts'
import { renamed } from '../convert/request-reader.ts'
import { eventData } from '../observe/event-data.ts'
import type { StreamReply } from '../relay/exchange.ts'
import { readMessage } from './message-passage.ts'
import type { Passage } from './passage.ts'
import { readableMessage } from './readable-message.ts'
import { gatherMessage } from './whole-from-stream.ts'
import { convertedRequest } from './write-request.ts'

/**
 * Longest answer, in tokens, that Anthropic lets clients wait for without a stream: its SDKs reckon with 128,000 tokens an
 * hour, and ten minutes. A longer one is streamed, and gathered for a client that wants it whole.
 */
const LONGEST_WHOLE = 21_333
/** The same for Claude Opus 4 and 4.1, which are slower. */
const SLOW = { models: /claude-opus-4(?:-[01])?(?:[-@]2025|$)/, longest: 8192 }

/**
 * Adapts a passage of chat completions to an upstream that speaks Messages: the request is converted once more, and the
 * reply converted before the passage gets it.
 */
export const chatOverMessages = (passage: Passage): Passage => ({
  ...passage,
  convert(asked, conversion) {
    // Messages takes documents by their address, and marks.
    const chat = passage.convert(asked, { ...conversion, takesFileUrls: true, takesCacheMarks: true })
    const { longestAnswer, model, note: noteAsked } = conversion
    const note: Note = (field, what) => noteAsked(passage.fieldOf?.(field) ?? field, what)
    const message = namedBy(passage, asked, () =>
      fitted(chat, { ...conversion, note }, (body, noteSent) =>
        toMessagesFromChat(body as ChatRequest, noteSent, longestAnswer ?? undefined, model),
      ),
    )
    const isStreamed = (chat as { stream?: unknown }).stream === true || message.max_tokens > longestWhole(model)
    return { ...withCacheMarks(message, conversion.cachedSession), ...(isStreamed && { stream: true }) }
  },
  carriesReasoning: true,
  write: convertedRequest,
  isConverted: true,
  gather: gatherMessage,
  passWhole(context, reply) {
    const { message } = readableMessage(readMessage(reply, context.provider), context.asked.tools)
    const body = Buffer.from(JSON.stringify(toCompletion(message, customNames(context.asked))))
    return passage.passWhole(context, { ...reply, body })
  },
  passStream: (context, reply, tap) => passage.passStream(context, asChat(reply, customNames(context.asked)), tap),
})

/** Converts a request. @throws GazewayError naming the field that the client has sent */
function namedBy<T>({ placeOf }: Passage, asked: object, convert: () => T): T {
  try {
    return convert()
  } catch (error) {
    if (!(error instanceof GazewayError) || error.param === null || placeOf === undefined) throw error
    throw renamed(error, placeOf(error.param, asked))
  }
}

const longestWhole = (model: string): number => (SLOW.models.test(model) ? SLOW.longest : LONGEST_WHOLE)

/** Converts a stream of Message events to chat chunks. */
function asChat(reply: StreamReply, custom: ReadonlySet<unknown>): StreamReply {
  return {
    ...reply,
    consume(sink) {
      const whole = wholeEvents()
      const chunks = createCompletionChunks(custom)
      function pass(events: Buffer | null): void {
        if (events === null) return
        const out = splitEvents(events).flatMap((event) => chunks.push(eventData(event) ?? {}))
        const text = out.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
        const end = chunks.isOver() ? 'data: [DONE]\n\n' : ''
        if (text + end !== '') sink.onData(Buffer.from(text + end))
      }
      function guarded(work: () => void): void {
        try {
          work()
        } catch (error) {
          sink.onError(error as Error)
          reply.exchange.abort()
        }
      }
      reply.consume({
        onData: (chunk) => guarded(() => pass(whole.push(chunk))),
        onEnd() {
          guarded(() => pass(whole.rest()))
          sink.onEnd()
        },
        onError: sink.onError,
      })
    },
  }
}
