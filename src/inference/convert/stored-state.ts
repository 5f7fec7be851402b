import { asText, fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { isForeignSummary } from './summaries.ts'

/** Fields that refer to state stored at the upstream: an earlier response, a conversation, a prompt. */
const STORED = ['previous_response_id', 'conversation', 'prompt']

/**
 * Tells whether a Responses request depends on state stored at its upstream, or inside an item that only the upstream
 * can read. Chat completions would then answer a different question.
 */
export function countsOnStored(request: object): boolean {
  const given: Fields = fieldsOrNone(request)
  return STORED.some((name) => (given[name] ?? null) !== null) || objectsOrNone(given.input).some(isStored)
}

const isStored = (item: Fields): boolean => isForeignSummary(item) || isReference(item)

/** Tells whether an item refers to one at the upstream. The type is optional; such an item contains only an id. */
function isReference({ type, id, role }: Fields): boolean {
  const isTyped = (type ?? null) !== null
  const isOne = type === 'item_reference' || (!isTyped && role === undefined && id !== undefined)
  // References to reasoning are dropped like reasoning itself; the question stays the same.
  return isOne && !asText(id).startsWith('rs_')
}
