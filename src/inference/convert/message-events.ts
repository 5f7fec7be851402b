import { isObject, parseJson } from '../../text/json.ts'
import { present } from '../../text/present.ts'
import { type Fields, WrongTypeError } from '../../text/typed-reader.ts'
import { incompleteReason, MESSAGE_STOP } from '../api/finish-reason.ts'
import type { Message, MessageEvent } from '../api/requests.ts'
import { read } from './answer-reader.ts'
import { unwrapped } from './wrapped-arguments.ts'

/**
 * Converts a whole Message to the events of a stream.
 *
 * @throws WrongTypeError
 */
export function messageEvents(message: Message): MessageEvent[] {
  const { content, stop_reason, stop_sequence, usage } = message
  const blocks = read.objects(content, 'content').flatMap((block, index) => blockEvents(block, index))
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'ping' },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: MESSAGE_STOP },
  ]
  return events as unknown as MessageEvent[]
}

/** Events of a block. Text, thinking and input come as deltas; other blocks are complete in their start event. */
function blockEvents(block: Fields, index: number): Fields[] {
  const { begun, deltas } = partsOf(block)
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...begun } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** Fields of a block that are empty in its start event, and the deltas that fill them. */
function partsOf({ type, text, input, thinking, signature }: Fields): { begun: Fields; deltas: Fields[] } {
  switch (type) {
    case 'text':
      return { begun: { text: '' }, deltas: [{ type: 'text_delta', text }] }
    case 'tool_use':
      return {
        begun: { input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }],
      }
    case 'thinking':
      return {
        begun: { thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      }
    default:
      return { begun: {}, deltas: [] }
  }
}

/** Joins the events of a streamed Message into a whole one. */
export interface JoinedMessage {
  /** @throws WrongTypeError */
  push(event: object): void
  /** True once the last event has arrived. */
  isOver(): boolean
  /**
   * The Message. Null until it is complete.
   *
   * @throws WrongTypeError for a call whose input is not a JSON object, unless the token limit cut it off
   */
  message(): Message | null
}

/** Field of a block that a delta extends, by delta type. */
const TEXTS = new Map<unknown, string>([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
])

/** Creates a joiner of Message events. */
export function joinMessage(): JoinedMessage {
  let whole: Fields = {}
  let isOver = false
  let isReported = false
  const blocks: Fields[] = []
  const inputs = new Map<number, string>()

  function add(at: number, delta: Fields): void {
    const block = blocks[at]
    const field = TEXTS.get(delta.type)
    if (!block) throw new WrongTypeError('index', 'that of a block that has begun')
    if (field !== undefined)
      block[field] =
        (read.optionalText(block[field], `content.${at}.${field}`) ?? '') + read.text(delta[field], `delta.${field}`)
    else if (delta.type === 'input_json_delta')
      inputs.set(at, (inputs.get(at) ?? '') + read.text(delta.partial_json, 'delta.partial_json'))
    else if (delta.type === 'citations_delta')
      block.citations = [...read.list(block.citations, `content.${at}.citations`), delta.citation]
  }

  return {
    push(event) {
      const { type, message, index, content_block, delta, usage } = event as Fields
      const at = read.optionalNumber(index, 'index') ?? blocks.length - 1
      if (type === 'message_start') whole = { ...read.fields(message, 'message') }
      else if (type === 'content_block_start') blocks.push({ ...read.object(content_block, 'content_block') })
      else if (type === 'content_block_delta') add(at, read.object(delta, 'delta'))
      else if (type === 'message_delta') {
        // Usage at the start has the prompt alone: without a later report there is none.
        isReported ||= isObject(usage)
        const counts = { ...(isObject(whole.usage) && whole.usage), ...(isObject(usage) && present(usage)) }
        whole = { ...whole, ...read.fields(delta, 'delta'), usage: counts }
      } else if (type === MESSAGE_STOP) isOver = true
    },
    isOver: () => isOver,
    message() {
      if (!isOver) return null
      for (const [at, written] of inputs) {
        const input = parseJson(unwrapped(written))
        if (isObject(input)) (blocks[at] as Fields).input = input
        else if (written.trim() !== '' && !isCut(whole))
          throw new WrongTypeError(`content.${at}.input`, 'a JSON object')
      }
      const { usage, ...message } = whole
      return { ...message, content: blocks, ...(isReported && { usage }) } as unknown as Message
    },
  }
}

const isCut = ({ stop_reason }: Fields): boolean =>
  typeof stop_reason === 'string' && incompleteReason(stop_reason) !== null
