import { GazewayError } from '../../errors.ts'
import { asText, fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { callableTools } from './callable-tools.ts'

/**
 * A streamed Response that was cut off before its client received text. Another answer can continue it in the same
 * stream.
 */
export interface BegunResponse {
  id: string
  /** Unix seconds. */
  createdAt: number
  /** Sequence number of the next event. */
  sequence: number
  /** Items that the client has received, in order. Those not ended must be ended. */
  items: ReadonlyArray<{ item: Fields; ended: boolean }>
}

/** Tracks a streamed Response while another answer could continue it. */
export interface ResponseTracker {
  push(event: object): void
  /** True once text has arrived, or an item that the client acts on. Nothing can replace the rest then. */
  isCommitted(): boolean
  /** State of the Response so far. Null when it cannot be continued. */
  begun(): BegunResponse | null
}

/** Maximum number of characters kept. */
const KEPT_LENGTH = 16 * 1024 * 1024
/** Items that the provider itself handles, besides searches. */
const OWN_ITEMS: ReadonlySet<unknown> = new Set(['reasoning', 'code_interpreter_call'])
/** Events that add text to a reasoning item, with the place of the text: list, index field, and type of its parts. */
const THOUGHTS = new Map<unknown, readonly [list: string, index: string, type: string]>([
  ['response.reasoning_summary_text.delta', ['summary', 'summary_index', 'summary_text']],
  ['response.reasoning_text.delta', ['content', 'content_index', 'reasoning_text']],
])

/**
 * Tracks a Response.
 *
 * @param request the client's request; the client executes the calls of its tools
 * @param options.needsText true when the client reads text only and acts on no other item
 */
export function trackResponse(request: ResponseRequest, options: { needsText: boolean }): ResponseTracker {
  const items = new Map<number, { item: Fields; ended: boolean }>()
  let response: Fields = {}
  let sequence = 0
  let length = 0
  let committed = false

  function isReplaceable({ type, name, content }: Fields): boolean {
    if (type === 'message') return isEmpty(content)
    if (options.needsText) return true
    if (type === 'custom_tool_call') return !isOwnTool(request, name)
    return OWN_ITEMS.has(type) || asText(type).endsWith('search_call')
  }

  function keep(at: unknown, item: Fields, ended: boolean): void {
    committed ||= !isReplaceable(item)
    items.set(typeof at === 'number' ? at : items.size, { item, ended })
  }

  function think(event: Fields, place: readonly [string, string, string]): void {
    const entry = items.get(event.output_index as number)
    if (entry) entry.item = withThought(entry.item, event, place)
  }

  return {
    push(event) {
      if (committed) return
      const {
        type,
        item,
        output_index: at,
        delta,
        text,
        sequence_number: number,
        response: created,
      } = fieldsOrNone(event)
      sequence = (typeof number === 'number' ? number : sequence) + 1
      const thought = THOUGHTS.get(type)
      if (thought) think(fieldsOrNone(event), thought)
      else if (type === 'response.created') response = fieldsOrNone(created)
      else if (type === 'response.output_item.added') keep(at, fieldsOrNone(item), false)
      else if (type === 'response.output_item.done') keep(at, fieldsOrNone(item), true)
      else if (type === 'response.output_text.delta' || type === 'response.refusal.delta') committed = delta !== ''
      else if (type === 'response.output_text.done') committed = text !== ''
      length += asText(delta).length + (item ? asText(item).length : 0)
      committed ||= length > KEPT_LENGTH
      if (committed) items.clear()
    },
    isCommitted: () => committed,
    begun() {
      const { id, created_at: createdAt } = response
      const inOrder = [...items].sort(([a], [b]) => a - b)
      // A missing item would leave a gap in the output.
      const isWhole = inOrder.every(([at], index) => at === index)
      if (committed || !isWhole || items.size === 0 || typeof id !== 'string') return null
      const began = typeof createdAt === 'number' ? createdAt : Math.floor(Date.now() / 1000)
      return { id, createdAt: began, sequence, items: inOrder.map(([, entry]) => entry) }
    },
  }
}

/** Tells whether the client executes the calls of a tool, or may do so: its upstream takes other tools than these. */
function isOwnTool(request: ResponseRequest, name: unknown): boolean {
  try {
    return callableTools(request).offered.some((tool) => tool.name === name)
  } catch (error) {
    if (error instanceof GazewayError) return true
    throw error
  }
}

/** Adds the text of an event to a reasoning item. */
function withThought(item: Fields, event: Fields, [list, index, type]: readonly [string, string, string]): Fields {
  const parts = objectsOrNone(item[list]).slice()
  const at = typeof event[index] === 'number' ? event[index] : 0
  parts[at] = { ...(parts[at] ?? { type }), text: asText(parts[at]?.text) + asText(event.delta) }
  return { ...item, [list]: parts }
}

/** Tells whether the content of a message has no text. Some compatible upstreams send a text instead of a list. */
const isEmpty = (content: unknown): boolean =>
  Array.isArray(content)
    ? objectsOrNone(content).every((part) => asText(part.text ?? part.refusal) === '')
    : asText(content) === ''

/** Marks an item as ended that its provider left open. */
export const endedItem = (item: Fields): Fields => ({
  ...item,
  status: asText(item.type).endsWith('search_call') ? 'failed' : 'incomplete',
})
