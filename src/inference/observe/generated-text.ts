import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { chatText, isThinking } from './chat-text.ts'
import { type Delta, eventData } from './event-data.ts'

/** Text of a model, and the ratio of the whole answer's length to the text kept. */
export interface Generated {
  text: string
  factor: number
}

/** Text that events add to an answer, for counting tokens. */
export const textOf = (events: Buffer): string => splitEvents(events).map(generatedBy).join('')

/** Tells whether events add more to an answer than reasoning. */
export const hasWords = (events: Buffer): boolean =>
  splitEvents(events).some((event) => !isThought(event) && generatedBy(event) !== '')

/** Tells whether an event adds reasoning, or its summary. */
function isThought(event: Buffer): boolean {
  const data = eventData(event)
  const type = String(data?.type)
  if (type === 'content_block_start') return String(fieldsOrNone(data?.content_block).type).endsWith('thinking')
  if (type === 'content_block_delta') return String(fieldsOrNone(data?.delta).type).startsWith('thinking')
  if (Array.isArray(data?.candidates)) return partsIn(data.candidates).every(({ thought }) => thought === true)
  if (Array.isArray(data?.choices)) return data.choices.every((choice) => isThoughtAlone(choice?.delta))
  return type.startsWith('response.reasoning')
}

/** Tells whether a chat delta has reasoning, or its details, and neither text nor calls. */
function isThoughtAlone(delta: unknown): boolean {
  const { content, refusal, reasoning_details, tool_calls, function_call } = fieldsOrNone(delta)
  const isThought = isThinking(delta) || objectsOrNone(reasoning_details).length > 0
  return isThought && chatText(content) === '' && !refusal && objectsOrNone(tool_calls).length === 0 && !function_call
}

/** Everything that an event adds to the answer. Reasoning, refusals and tool calls are billed like text. */
export function generatedBy(event: Buffer): string {
  const data = eventData(event)
  if (typeof data?.delta === 'string') return data.delta
  if (data?.type === 'content_block_start') return saidInBlock(data.content_block)
  if (data?.type === 'content_block_delta') return saidInDelta(data.delta)
  if (Array.isArray(data?.candidates)) return partsIn(data.candidates).map(saidInPart).join('')
  if (!Array.isArray(data?.choices)) return ''
  // Legacy completions have a text instead of a delta.
  return data.choices.map((choice) => generatedIn(choice?.delta ?? { text: choice?.text })).join('')
}

/** Parts of a piece of a Gemini reply. */
const partsIn = (candidates: unknown): Fields[] =>
  objectsOrNone(candidates).flatMap(({ content }) => objectsOrNone(fieldsOrNone(content).parts))

/** Text, thoughts, name and arguments of a call, code that Google runs, and images and speech. */
function saidInPart({ text, functionCall, executableCode, inlineData }: Fields): string {
  const { name, args } = fieldsOrNone(functionCall)
  const { code } = fieldsOrNone(executableCode)
  return [text, name, args, code, fieldsOrNone(inlineData).data].map(asText).join('')
}

/** Start of a block of a Message. Results of the provider's own tools are not output of the model. */
function saidInBlock(block: unknown): string {
  const { text, thinking, data, name } = fieldsOrNone(block)
  return [text, thinking, data, name].map(asText).join('')
}

/** Everything that a delta of a block adds, in whatever field. */
function saidInDelta(delta: unknown): string {
  const { type, signature, ...generated } = fieldsOrNone(delta)
  return Object.values(generated).map(asText).join('')
}

/**
 * Everything that a chunk adds, in whatever field (`audio`, `images`). Some providers send reasoning under several
 * names; it counts once.
 */
function generatedIn(delta: Delta): string {
  const { role, reasoning_content, reasoning, reasoning_details, tool_calls, function_call, ...generated } = delta
  const thought = reasoning_content || reasoning || reasoning_details
  const called = [tool_calls, { function: function_call }].flat().map(fieldsOrNone).map(saidInCall)
  return [thought, ...called, ...Object.values(generated)].map(asText).join('')
}

/** Name and arguments in a piece of a call. The JSON around them is not output of the model: each piece repeats it. */
function saidInCall({ index, id, type, ...called }: Delta): string {
  const parts = Object.values(called).flatMap((part) => (isObject(part) ? Object.values(part) : [part]))
  return parts.map(asText).join('')
}

function asText(part: unknown): string {
  if (typeof part === 'string') return part
  return part ? JSON.stringify(part) : ''
}
