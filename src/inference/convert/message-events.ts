import { isObject, parseJson } from '../../text/json.ts'
import { MESSAGE_STOP } from '../finish-reason.ts'
import { asText, type Loose, present, record, records } from './loose.ts'
import type { Message, MessageEvent } from './requests.ts'

/** A Message that came in one piece, as the events of a stream. */
export function messageEvents(message: Message): MessageEvent[] {
  const { content, stop_reason, stop_sequence, usage } = message
  const blocks = records(content).flatMap((block, index) => blockEvents(block, index))
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: MESSAGE_STOP },
  ]
  return events as unknown as MessageEvent[]
}

/** A text and the input of a call come as deltas; every other block is whole as it begins. */
function blockEvents(block: Loose, index: number): Loose[] {
  const delta = deltaOf(block)
  const begun = delta ? { ...block, ...(block.type === 'text' ? { text: '' } : { input: {} }) } : block
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...(delta ? [{ type: 'content_block_delta', index, delta }] : []),
    { type: 'content_block_stop', index },
  ]
}

function deltaOf({ type, text, input }: Loose): Loose | null {
  if (type === 'text') return { type: 'text_delta', text }
  return type === 'tool_use' ? { type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) } : null
}

/** The events of a streamed Message, joined to the one that would have come in one piece. */
export interface JoinedMessage {
  push(event: object): void
  /** Whether the last event has come. */
  isOver(): boolean
  /** The Message, once it is complete; null before. */
  message(): Message | null
}

/** The field of a block that a delta adds to, by its type. */
const TEXTS = new Map<unknown, string>([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
])

/** Joins the events of a streamed Message. */
export function joinMessage(): JoinedMessage {
  let whole: Loose = {}
  let isOver = false
  const blocks: Loose[] = []
  const inputs = new Map<number, string>()

  function add(at: number, delta: Loose): void {
    const block = blocks[at]
    const field = TEXTS.get(delta.type)
    if (!block) return
    if (field !== undefined) block[field] = asText(block[field]) + asText(delta[field])
    else if (delta.type === 'input_json_delta') inputs.set(at, (inputs.get(at) ?? '') + asText(delta.partial_json))
    else if (delta.type === 'citations_delta') block.citations = [...records(block.citations), delta.citation]
  }

  return {
    push(event) {
      const { type, message, index, content_block, delta, usage } = record(event)
      const at = typeof index === 'number' ? index : blocks.length - 1
      if (type === 'message_start') whole = { ...record(message) }
      else if (type === 'content_block_start') blocks.push({ ...record(content_block) })
      else if (type === 'content_block_delta') add(at, record(delta))
      else if (type === 'message_delta')
        whole = { ...whole, ...record(delta), usage: { ...record(whole.usage), ...present(record(usage)) } }
      else if (type === MESSAGE_STOP) isOver = true
    },
    isOver: () => isOver,
    message() {
      if (!isOver) return null
      for (const [at, written] of inputs) {
        const input = parseJson(written)
        if (isObject(input)) (blocks[at] as Loose).input = input
      }
      return { ...whole, content: blocks } as unknown as Message
    },
  }
}
