import { GazewayError } from '../../errors.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { asksForSummary, besideSummary } from '../convert/compaction.ts'

/** Items of a conversation, as a Responses request may send them. */
export type Items = readonly Fields[]

/** Reads the input of a Responses request as items. A text is a message of the user. */
export const itemsOf = (input: unknown): Items =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsOrNone(input)

/**
 * Items of a Responses request as they were sent, for a request that is sent on: one of another type is refused there.
 *
 * @throws GazewayError `validation_failed` for an input that is neither a text nor a list
 */
export function sentItems(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input
  if (typeof input === 'string' || (input ?? null) === null) return itemsOf(input)
  throw new GazewayError('validation_failed', 'input: must be a text or a list of items.', { param: 'input' })
}

/**
 * Items that a request can send for the output of an earlier answer. Reasoning without its encrypted content is omitted:
 * only an upstream that stored the answer could read it.
 */
export const sendable = (output: unknown): Items =>
  objectsOrNone(output).filter(({ type, encrypted_content }) => type !== 'reasoning' || Boolean(encrypted_content))

/** The conversation up to and including an answer. An answer that is its summary takes the place of what it sums up. */
export function conversationWith(input: unknown, output: unknown): Items {
  const items = itemsOf(input)
  return [...(asksForSummary({ input: items }) ? besideSummary(items) : items), ...sendable(output)]
}

/**
 * The request with the earlier conversation in its input, in place of a reference to it.
 *
 * @throws GazewayError `validation_failed` for the result of a call that the conversation does not have, as OpenAI refuses it
 */
export function continuedRequest(request: Fields, earlier: Items): Fields {
  const { previous_response_id: _, ...rest } = request
  const input = [...earlier, ...sentItems(request.input)]
  requireCalls(itemsOf(request.input), input)
  return { ...rest, input }
}

const RESULTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output'])

function requireCalls(sent: Items, conversation: readonly unknown[]): void {
  const results = sent.filter(({ type }) => RESULTS.has(type))
  if (results.length === 0) return
  const calls = new Set(
    objectsOrNone(conversation).flatMap(({ type, call_id }) => (RESULTS.has(type) ? [] : [call_id])),
  )
  const lone = results.find(({ call_id }) => !calls.has(call_id))
  if (lone === undefined) return
  throw new GazewayError(
    'validation_failed',
    `input: no tool call found for the output with call_id ${String(lone.call_id).slice(0, 100)}.`,
    { status: 400, param: 'input' },
  )
}
