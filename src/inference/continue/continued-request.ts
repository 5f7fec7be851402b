import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { asksForSummary, besideSummary } from '../convert/compaction.ts'

/** Items of a conversation, as a Responses request may send them. */
export type Items = readonly Fields[]

/** Reads the input of a Responses request as items. A text is a message of the user. */
export const itemsOf = (input: unknown): Items =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsOrNone(input)

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

/** The request with the earlier conversation in its input, in place of a reference to it. */
export function continuedRequest(request: Fields, earlier: Items): Fields {
  const { previous_response_id: _, ...rest } = request
  return { ...rest, input: [...earlier, ...itemsOf(request.input)] }
}
