import { isObject, parseJson } from '../../text/json.ts'
import { messageId, messageShell, stopOf, toMessageUsage } from './chat-to-message.ts'
import type { ChatChunk } from './chat-to-response-events.ts'
import { asText, type Loose, record, records } from './loose.ts'
import type { MessageEvent, MessagesRequest } from './requests.ts'
import { chatText } from './response-items.ts'
import { callOf } from './streamed-calls.ts'
import { calledTools } from './tool-names.ts'

/** Turns the chunks of a chat stream into the events of a streamed Message. Nothing comes after the last event. */
export interface MessageEvents {
  /** The events of one chunk; `message_start` and `ping` come before the first of them. */
  push(chunk: ChatChunk): MessageEvent[]
  /** After the last chunk of a complete answer: ends the blocks, then the Message. */
  finish(): MessageEvent[]
}

/** A block of the answer. Only one is open to the client: what others are told waits for its end. */
interface Block {
  /** What its start says. */
  begin: Loose
  /** Those of a call, to tell its deltas apart; none of a text. */
  index?: unknown
  id?: unknown
  isCall: boolean
  /** All that was written of a call, and whether that is a whole JSON object; null where that has not been looked at. */
  written: string
  isWhole: boolean | null
  /** What its client has not been told. */
  waiting: string
  isTold: boolean
}

/**
 * The converter from a chat stream to a streamed Message: a state machine without input or output of its own. Events come
 * in the documented order (https://docs.claude.com/en/docs/build-with-claude/streaming), each block from its start to its
 * end before the next; the deltas of parallel calls that come in turns are put in order.
 *
 * @param options.model what to call the model until the upstream names it
 */
export function createMessageEvents(request: MessagesRequest, options: { model: string }): MessageEvents {
  const nameOf = calledTools(request.tools)
  const blocks: Block[] = []
  let open = 0
  let isBegun = false
  let usage: unknown
  let ending: Loose = {}
  let isRefusal = false
  let batch: Loose[] = []

  function begin(model: unknown): void {
    if (isBegun) return
    isBegun = true
    const message = messageShell(typeof model === 'string' && model !== '' ? model : options.model)
    batch.push({ type: 'message_start', message }, { type: 'ping' })
  }

  function say(text: string): void {
    const last = blocks.at(-1)
    if (last && !last.isCall) last.waiting += text
    else add({ begin: { type: 'text', text: '' }, isCall: false, waiting: text })
  }

  function add(block: Omit<Block, 'isTold' | 'isWhole' | 'written'>): Block {
    const added = { ...block, written: '', isWhole: block.isCall ? null : true, isTold: false }
    blocks.push(added)
    return added
  }

  function call(delta: Loose): void {
    const { name, arguments: args } = record(delta.function)
    const calls = blocks.filter(({ isCall }) => isCall)
    const block =
      callOf(calls, delta) ?? add({ index: delta.index, id: delta.id, begin: {}, isCall: true, waiting: '' })
    if (!block.begin.name && typeof name === 'string' && name !== '') {
      const id = asText(block.id) || asText(delta.id) || messageId('toolu')
      block.begin = { type: 'tool_use', id, name: nameOf(name), input: {} }
    }
    const written = asText(args)
    block.waiting += written
    block.written += written
    if (written !== '') block.isWhole = null
  }

  /** Tells what waits of the open block, and ends it where another has begun and nothing more can come of it. */
  function tell(isOver: boolean): void {
    for (let block = blocks[open]; block; block = blocks[open]) {
      // Its name is still to come.
      if (block.isCall && !block.begin.name && !isOver) return
      if (!block.isTold) batch.push({ type: 'content_block_start', index: open, content_block: startOf(block) })
      block.isTold = true
      if (block.waiting !== '')
        batch.push({ type: 'content_block_delta', index: open, delta: deltaOf(block, block.waiting) })
      block.waiting = ''
      if (!isOver && !(open < blocks.length - 1 && isWhole(block))) return
      batch.push({ type: 'content_block_stop', index: open })
      open++
    }
  }

  return {
    push(given) {
      batch = []
      const chunk = record(given)
      const choice = records(chunk.choices).find(({ index }) => (index ?? 0) === 0)
      if (chunk.usage) usage = chunk.usage
      begin(chunk.model)
      if (choice) {
        const delta = record(choice.delta)
        const refusal = chatText(delta.refusal)
        const text = chatText(delta.content) + refusal
        isRefusal ||= refusal !== ''
        if (text !== '') say(text)
        for (const part of records(delta.tool_calls)) call(part)
        // Some providers send an empty one with each chunk.
        if (asText(choice.finish_reason) !== '') ending = choice
        tell(false)
      }
      return batch as unknown as MessageEvent[]
    },
    finish() {
      batch = []
      begin(undefined)
      tell(true)
      const hasCalls = blocks.some(({ isCall }) => isCall)
      batch.push(
        {
          type: 'message_delta',
          delta: stopOf(ending, request, { isRefusal, hasCalls }),
          usage: { output_tokens: 0, ...toMessageUsage(usage) },
        },
        { type: 'message_stop' },
      )
      return batch as unknown as MessageEvent[]
    },
  }
}

const startOf = ({ begin }: Block): Loose =>
  begin.type === undefined ? { type: 'tool_use', id: messageId('toolu'), name: '', input: {} } : begin

const deltaOf = ({ isCall }: Block, text: string): Loose =>
  isCall ? { type: 'input_json_delta', partial_json: text } : { type: 'text_delta', text }

/** Whether nothing more can come of a block: of a call, a JSON object that is complete. */
function isWhole(block: Block): boolean {
  block.isWhole ??= isObject(parseJson(block.written))
  return block.isWhole
}
