import type { Attributes } from '@opentelemetry/api'
import { CALL_STATUSES, type CallStatus } from '../../src/calls/call-status.ts'
import { asText, fieldsOrNone, objectsOrNone } from '../../src/text/lenient-reader.ts'
import type { Fields } from '../../src/text/typed-reader.ts'

/** Part of a message in the conventions' schema: `text`, `tool_call`, `tool_call_response`, or another type. */
interface Part {
  type: string
  [field: string]: unknown
}
interface Message {
  role: string
  parts: Part[]
}

const TEXTS = new Set(['text', 'input_text', 'output_text'])
/** Finish reasons of chat completions, Responses and Messages → those of the conventions. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  tool_calls: 'tool_call',
  function_call: 'tool_call',
  max_output_tokens: 'length',
  completed: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_call',
  max_tokens: 'length',
  refusal: 'content_filter',
}

/**
 * Builds the content attributes of a call whose record has its content. Images and files appear by type, without their
 * data.
 *
 * - `gen_ai.input.messages`, `gen_ai.output.messages` and `gen_ai.system_instructions`, as JSON in the schemas of the
 *   GenAI conventions
 * - stop sequences, and the Response that is continued
 * - the answering model, the id of the answer and the finish reason
 *
 * @param content `request` and `answer` of the call record
 */
export function contentAttributes(content: unknown, status: CallStatus): Attributes {
  const { request, answer } = fieldsOrNone(content)
  const { messages, input, instructions, system } = fieldsOrNone(request)
  const instructionParts = partsOf(instructions ?? system)
  const asked = messages ?? input
  const output = outputOf(answer, status)
  return {
    ...namesIn(fieldsOrNone(request)),
    ...(asked === undefined ? {} : { 'gen_ai.input.messages': JSON.stringify(inputOf(asked)) }),
    ...(instructionParts.length === 0 ? {} : { 'gen_ai.system_instructions': JSON.stringify(instructionParts) }),
    ...(output.length === 0
      ? {}
      : {
          'gen_ai.output.messages': JSON.stringify(output),
          'gen_ai.response.finish_reasons': output.map((message) => message.finish_reason),
        }),
    ...text('gen_ai.response.id', fieldsOrNone(answer).id),
    ...text('gen_ai.response.model', fieldsOrNone(answer).model),
  }
}

/** Names that a request gives: where its answer ends, and the Response that it continues. */
function namesIn({ stop, stop_sequences: sequences, previous_response_id: previous }: Fields): Attributes {
  const stops = [stop ?? sequences ?? []].flat().filter((one) => typeof one === 'string')
  return {
    ...(stops.length > 0 && { 'gen_ai.request.stop_sequences': stops }),
    ...text('gen_ai.request.previous_response.id', previous),
  }
}

/** Converts the messages of a chat, or the input of a Responses request: text or items. */
function inputOf(asked: unknown): Message[] {
  if (!Array.isArray(asked)) return [{ role: 'user', parts: partsOf(asked) }]
  return objectsOrNone(asked).map(toMessage)
}

/**
 * Converts an answer to messages: one for each choice of a completion, one for a Response, a Message or the text of a
 * stream.
 */
function outputOf(answer: unknown, status: CallStatus): Array<Message & { finish_reason: string }> {
  if (typeof answer === 'string') {
    // The finish reason of a stream is not stored. A stream that was cut off ended in an error.
    const finish_reason = CALL_STATUSES[status].counts === 'answer' ? 'unknown' : 'error'
    return [{ role: 'assistant', parts: partsOf(answer), finish_reason }]
  }
  const { choices, output, content, stop_reason, status: ended, incomplete_details: cut } = fieldsOrNone(answer)
  if (Array.isArray(choices))
    return objectsOrNone(choices).map(({ message, finish_reason }) => ({
      ...toMessage(fieldsOrNone(message)),
      finish_reason: finishReason(finish_reason),
    }))
  if (Array.isArray(content))
    return [{ role: 'assistant', parts: partsOf(content), finish_reason: finishReason(stop_reason) }]
  if (!Array.isArray(output)) return []
  const parts = objectsOrNone(output).flatMap((item) => toMessage(item).parts)
  return [{ role: 'assistant', parts, finish_reason: finishReason(fieldsOrNone(cut).reason ?? ended) }]
}

/** Converts a chat message, or an item of the Responses API. */
function toMessage(item: Fields): Message {
  if (item.role === 'tool') return toolAnswer(item.tool_call_id, item.content)
  if (item.type === 'function_call_output') return toolAnswer(item.call_id, item.output)
  if (item.type === 'function_call') return { role: 'assistant', parts: [toolCall(item.call_id, item)] }
  if (typeof item.role !== 'string') return { role: 'assistant', parts: [{ type: kindOf(item) }] }
  return {
    role: item.role,
    parts: [
      ...partsOf(item.content),
      ...(typeof item.refusal === 'string' ? [{ type: 'refusal', content: item.refusal }] : []),
      ...objectsOrNone(item.tool_calls).map((call) => toolCall(call.id, fieldsOrNone(call.function))),
    ],
  }
}

function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', content }]
  return objectsOrNone(content).map((part) => {
    if (TEXTS.has(asText(part.type))) return { type: 'text', content: part.text }
    if (part.type === 'tool_use') return toolCall(part.id, { name: part.name, arguments: part.input })
    if (part.type === 'tool_result') return toolResponse(part.tool_use_id, part.content)
    return { type: kindOf(part), ...(typeof part.refusal === 'string' ? { content: part.refusal } : {}) }
  })
}

const kindOf = ({ type }: Fields): string => asText(type) || 'unknown'

const toolCall = (id: unknown, { name, arguments: given }: Fields): Part => ({
  type: 'tool_call',
  id,
  name,
  arguments: given,
})

const toolAnswer = (id: unknown, response: unknown): Message => ({
  role: 'tool',
  parts: [toolResponse(id, response)],
})

const toolResponse = (id: unknown, response: unknown): Part => ({ type: 'tool_call_response', id, response })

const finishReason = (reason: unknown): string => FINISH_REASONS[asText(reason)] ?? (asText(reason) || 'unknown')

const text = (name: string, value: unknown): Attributes => (typeof value === 'string' ? { [name]: value } : {})
