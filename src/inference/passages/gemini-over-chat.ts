import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT } from '../api/answer-limit.ts'
import { GENERATE_CONTENT } from '../api/gemini-endpoints.ts'
import { refusalInGemini } from '../api/gemini-error.ts'
import { retryAfterMs } from '../api/retry-after.ts'
import { callMessage } from '../convert/calls-without-reasoning.ts'
import { createGeminiStream, type GeminiReply, toGeminiReply } from '../convert/chat-to-gemini.ts'
import { geminiCallsAlone } from '../convert/gemini-calls-without-reasoning.ts'
import { withWritten } from '../convert/gemini-json.ts'
import { namedAsDocumented } from '../convert/gemini-names.ts'
import { broughtSignatures } from '../convert/gemini-signatures.ts'
import { toChatFromGemini } from '../convert/gemini-to-chat.ts'
import { badReply } from '../upstreams/failure.ts'
import { errorEvent } from './error-event.ts'
import { holdBeginning } from './held-beginning.ts'
import { overChat } from './over-chat.ts'
import type { Passage, ReplyContext } from './passage.ts'
import { passedHeaders, readRefusal } from './upstream-reply.ts'

const askedOf = ({ asked }: ReplyContext): Fields => namedAsDocumented(asked)

/** Events of a stream, which have no names. */
const toEvents = (replies: readonly GeminiReply[]): Buffer =>
  Buffer.from(replies.map((reply) => `data: ${withWritten(reply)}\n\n`).join(''))

const converted = overChat({
  request(asked, { note, model, reasoning, takesFileUrls: fileUrls }) {
    const thoughts = { open: reasoning.open, kept: (call: Fields) => reasoning.kept(callMessage(call), null) }
    return toChatFromGemini(asked, note, thoughts, model, { fileUrls })
  },
  headers: (context, { headers }) => passedHeaders(headers, context),
  whole(completion, context) {
    const { provider, model, reasoning, stream } = context
    const reply = toGeminiReply(completion, askedOf(context), { model, reasoning })
    if (typeof reply === 'string') return badReply(provider, reply)
    return stream ? toEvents([reply]) : withWritten(reply)
  },
  stream(context) {
    const { provider, model, reasoning, requestId } = context
    const reply = createGeminiStream(askedOf(context), { model, reasoning })
    return {
      begin: holdBeginning,
      convert(chunks) {
        const pieces = chunks.flatMap((chunk) => reply.push(chunk))
        return pieces.length === 0 ? null : { bytes: toEvents(pieces), hasOutput: true }
      },
      finish(broken) {
        if (broken !== null) return { bytes: errorEvent(GENERATE_CONTENT, broken, requestId), error: broken }
        const fault = reply.fault()
        return { bytes: toEvents([reply.finish(fault)]), error: fault === null ? null : badReply(provider, fault) }
      },
    }
  },
})

/** Fields of a Gemini request, by those of the chat request that carry them. */
const FIELDS = new Map([
  ['messages', 'contents'],
  ['reasoning_effort', 'generationConfig.thinkingConfig'],
  ['response_format', 'generationConfig.responseSchema'],
  ['temperature', 'generationConfig.temperature'],
  ['n', 'generationConfig.candidateCount'],
  [CHAT_LIMIT, 'generationConfig.maxOutputTokens'],
  ['top_p', 'generationConfig.topP'],
  ['top_k', 'generationConfig.topK'],
  ['stop', 'generationConfig.stopSequences'],
  ['seed', 'generationConfig.seed'],
  ['presence_penalty', 'generationConfig.presencePenalty'],
  ['frequency_penalty', 'generationConfig.frequencyPenalty'],
  ['tool_choice', 'toolConfig.functionCallingConfig'],
])

const fieldOf = (chatField: string): string => FIELDS.get(chatField.split('.')[0] ?? '') ?? chatField

/** Passes a Gemini request to chat completions, and the answer back as a Gemini reply or its pieces. */
export const geminiOverChat: Passage = {
  ...converted,
  convert: (asked, terms) => converted.convert(namedAsDocumented(asked), terms),
  answersIn: geminiCallsAlone,
  seals: (asked) => broughtSignatures(asked as Fields),
  // A message is not at the place of its content.
  fieldOf,
  placeOf: fieldOf,
  refusal(reply, { provider, requestId }) {
    const { error } = readRefusal(reply, provider, requestId)
    return { error, body: JSON.stringify(refusalInGemini(error, reply.status, retryAfterMs(reply.headers))) }
  },
}
