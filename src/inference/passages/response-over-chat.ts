import type { GazewayError } from '../../errors.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT, RESPONSES_LIMIT } from '../api/answer-limit.ts'
import type { ChatCompletion, ResponseRequest } from '../api/requests.ts'
import { callsAlone, messageOf } from '../convert/calls-without-reasoning.ts'
import { type ResponseObject, toResponse } from '../convert/chat-to-response.ts'
import {
  completionEvents,
  createResponseEvents,
  type ResponseEvent,
  type ResponseEvents,
} from '../convert/chat-to-response-events.ts'
import { asksForSummary, summaryEvents, summaryRequest } from '../convert/compaction.ts'
import { completionChunks } from '../convert/completion-chunks.ts'
import { inputPlace } from '../convert/input-place.ts'
import { toChatRequest } from '../convert/responses-to-chat.ts'
import { withSummaries } from '../convert/summaries.ts'
import type { SealState } from '../convert/thinking-blocks.ts'
import { lackOf } from '../observe/response-texts.ts'
import { badReply } from '../upstreams/failure.ts'
import { responseReasoning } from './answer-reasoning.ts'
import { completionFault } from './completion-fault.ts'
import { HELD_RESPONSE_BYTES, holdBeginning } from './held-beginning.ts'
import { overChat } from './over-chat.ts'
import type { Passage, ReplyContext } from './passage.ts'
import { isResponseOutput } from './response-passage.ts'
import { originHeaders, passedHeaders, responseErrorEvent, toSse, writtenEvents } from './upstream-reply.ts'

/** Header that names the endpoint which answered. */
const ROUTE = { 'x-gazeway-route': 'chat_fallback' }

const askedOf = ({ asked }: ReplyContext): ResponseRequest => asked as unknown as ResponseRequest

/** Converts to the events of a Response, or of the summary that is asked for. */
function eventsFor(context: ReplyContext, model: string, seal: SealState): ResponseEvents {
  const { begun, reasoning } = context
  const asked = askedOf(context)
  const events = createResponseEvents(asked, { model, seal, begun })
  return asksForSummary(asked) ? summaryEvents(events, { seal: reasoning.sealSummary, begun }) : events
}

/** Converts a completion that is a summary. */
function wholeSummary(completion: ChatCompletion, context: ReplyContext): Buffer | string | GazewayError {
  const events = eventsFor(context, completion.model, context.reasoning.seal)
  const chunks = completionChunks(completion, { withUsage: true })
  const before = [...events.start(), ...chunks.flatMap((chunk) => events.push(chunk))]
  const fault = events.fault()
  if (fault !== null) return badReply(context.provider, fault)
  const all = [...before, ...events.finish()]
  if (context.stream) return toSse(all)
  return JSON.stringify(endedResponse(all))
}

/** The Response in the last of its events. */
const endedResponse = (events: readonly ResponseEvent[]): ResponseObject =>
  (events.at(-1) as { response: ResponseObject }).response

const converted = overChat({
  request(asked: ResponseRequest, { refused, note, reasoning, takesFileUrls: fileUrls, takesCacheMarks: cacheMarks }) {
    const whole = reasoning.mayBring() ? withSummaries(asked, reasoning.openSummary) : asked
    const said = asksForSummary(whole) ? summaryRequest(whole) : whole
    const thoughts = { open: reasoning.open, kept: (call: Fields) => reasoning.kept(messageOf(call), null) }
    return toChatRequest(said, refused, note, thoughts, { fileUrls, cacheMarks })
  },
  headers: (context, { kind, headers }) => ({
    ...(kind === 'stream' ? passedHeaders(headers, context) : originHeaders(context)),
    ...ROUTE,
  }),
  whole(completion, context) {
    const { needsText, provider, stream, begun } = context
    const { seal, keep } = responseReasoning(context)
    const asked = askedOf(context)
    if (asksForSummary(asked)) return wholeSummary(completion, context)
    const fault = completionFault(completion, asked.tools)
    if (fault !== null) return badReply(provider, fault)
    const lack = needsText ? lackOf(toResponse(completion, asked), provider) : null
    if (lack) return lack
    const events = stream ? completionEvents(completion, asked, { seal, begun }) : []
    const response = stream ? endedResponse(events) : toResponse(completion, asked, { seal })
    keep(response.output)
    return stream ? toSse(events) : JSON.stringify(response)
  },
  stream(context) {
    const { provider, requestId, needsText, model } = context
    const { seal, keep } = responseReasoning(context)
    const events = eventsFor(context, model, seal)
    return {
      begin: (reply, status, headers) => holdBeginning(reply, status, headers, HELD_RESPONSE_BYTES),
      convert: (chunks) =>
        writtenEvents(
          chunks.length === 0 ? [] : [...events.start(), ...chunks.flatMap((chunk) => events.push(chunk))],
          isResponseOutput,
        ),
      finish(ended) {
        const fault = ended === null ? events.fault() : null
        const broken = fault === null ? ended : badReply(provider, fault)
        const last = broken ? events.fail(broken) : events.finish()
        const response = broken || last.length === 0 ? null : endedResponse(last)
        if (response !== null) keep(response.output)
        const lack = needsText && response !== null ? lackOf(response, provider) : null
        const bytes = lack ? responseErrorEvent(lack, requestId, last[0]?.sequence_number ?? 0) : toSse(last)
        return { bytes, error: broken ?? lack, isEmpty: broken !== null && asksForSummary(askedOf(context)) }
      },
    }
  },
})

/** Fields of a Response's request, by those of the chat request that carry them. */
const FIELDS = new Map([
  ['messages', 'input'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  ['logprobs', 'top_logprobs'],
  [CHAT_LIMIT, RESPONSES_LIMIT],
])

const fieldOf = (chatField: string): string => FIELDS.get(chatField.split('.')[0] ?? '') ?? chatField

/** Passes a Responses request to chat completions, and the answer back as a Response or its events. */
export const responseOverChat: Passage = {
  ...converted,
  answersIn: ({ input }) => callsAlone(input),
  // A message is not at the place of its item.
  fieldOf,
  placeOf: (chatField, asked) => inputPlace(chatField, asked as ResponseRequest) ?? fieldOf(chatField),
}
