import { isObject, parseJson } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ChatChunk, MessageEvent, MessagesRequest } from '../api/requests.ts'
import { read } from './answer-reader.ts'
import { type ChatCall, firstChoice, readChatAnswer } from './chat-answer.ts'
import { messageId, messageShell, stopOf, toMessageUsage } from './chat-to-message.ts'
import { callOf } from './streamed-calls.ts'
import { calledTools } from './tool-names.ts'

/**
 * Converts the chunks of a chat stream to the events of a streamed Message. Chunks after the last event are ignored.
 */
export interface MessageEvents {
  /** Converts one chunk. `message_start` and `ping` precede the first events. */
  push(chunk: ChatChunk): MessageEvent[]
  /** Ends the blocks and the Message, after the last chunk of a complete answer. */
  finish(): MessageEvent[]
}

/** A block of the answer. Only one is open to the client; events of later blocks are buffered until it ends. */
interface Block {
  /** Content of its `content_block_start`. */
  begin: Fields
  /** Identity of a call, to assign its deltas. Unset for text. */
  index?: number | undefined
  id?: string
  isCall: boolean
  /** Text of a call so far. `isWhole` tells whether it is a complete JSON object; null when not yet checked. */
  written: string
  isWhole: boolean | null
  /** Text not yet sent to the client. */
  waiting: string
  isTold: boolean
}

/**
 * Converts a chat stream to a streamed Message. A state machine without I/O. Events come in the documented order
 * (https://docs.claude.com/en/docs/build-with-claude/streaming), one block at a time; interleaved deltas of parallel
 * calls are reordered.
 *
 * @param options.model model name until the upstream reports its own
 */
export function createMessageEvents(request: MessagesRequest, options: { model: string }): MessageEvents {
  let batch: Fields[] = []
  const blocks = createBlocks((event) => void batch.push(event), calledTools(request.tools))
  let isBegun = false
  let usage: unknown
  let ending: Fields = {}
  let isRefusal = false

  function begin(model: unknown): void {
    if (isBegun) return
    isBegun = true
    const message = messageShell(read.optionalText(model, 'model') || options.model)
    batch.push({ type: 'message_start', message }, { type: 'ping' })
  }

  return {
    push(given) {
      batch = []
      const chunk = given as unknown as Fields
      const choice = firstChoice(chunk)
      if (chunk.usage) usage = chunk.usage
      begin(chunk.model)
      if (choice) {
        const { text, refusal, calls } = readChatAnswer(choice.delta, 'choices.0.delta')
        const finish = read.optionalText(choice.finish_reason, 'choices.0.finish_reason') ?? ''
        isRefusal ||= refusal !== ''
        if (text + refusal !== '') blocks.say(text + refusal)
        for (const part of calls) blocks.call(part)
        // Some providers send an empty one with each chunk.
        if (finish !== '') ending = choice
        blocks.emit(false)
      }
      return batch as unknown as MessageEvent[]
    },
    finish() {
      batch = []
      begin(undefined)
      blocks.emit(true)
      const delta = stopOf(ending, request, { isRefusal, hasCalls: blocks.hasCalls() })
      const counts = { output_tokens: 0, ...toMessageUsage(usage) }
      batch.push({ type: 'message_delta', delta, usage: counts }, { type: 'message_stop' })
      return batch as unknown as MessageEvent[]
    },
  }
}

/** Blocks of an answer that is being written. */
interface Blocks {
  say(text: string): void
  call(delta: ChatCall): void
  hasCalls(): boolean
  /**
   * Emits the buffered text of the open block. Ends the block when another has begun and nothing can be added to it.
   *
   * @param isOver true at the end of the answer, which ends all blocks
   */
  emit(isOver: boolean): void
}

/** @param nameOf finds the name of a tool in the request by its name in chat */
function createBlocks(emit: (event: Fields) => void, nameOf: (chatName: string) => string): Blocks {
  const blocks: Block[] = []
  let open = 0

  function add(block: Omit<Block, 'isTold' | 'isWhole' | 'written'>): Block {
    const added = { ...block, written: '', isWhole: block.isCall ? null : true, isTold: false }
    blocks.push(added)
    return added
  }
  return {
    say(text) {
      const last = blocks.at(-1)
      if (last && !last.isCall) last.waiting += text
      else add({ begin: { type: 'text', text: '' }, isCall: false, waiting: text })
    },
    call(delta) {
      const { index, id, name, arguments: written } = delta
      const calls = blocks.filter(({ isCall }) => isCall)
      const block = callOf(calls, delta) ?? add({ index, id, begin: {}, isCall: true, waiting: '' })
      if (!block.begin.name && name !== '')
        block.begin = { type: 'tool_use', id: block.id || id || messageId('toolu'), name: nameOf(name), input: {} }
      block.waiting += written
      block.written += written
      if (written !== '') block.isWhole = null
    },
    hasCalls: () => blocks.some(({ isCall }) => isCall),
    emit(isOver) {
      for (let block = blocks[open]; block; block = blocks[open]) {
        // Its name has not arrived.
        if (block.isCall && !block.begin.name && !isOver) return
        if (!block.isTold) emit({ type: 'content_block_start', index: open, content_block: startOf(block) })
        block.isTold = true
        if (block.waiting !== '')
          emit({ type: 'content_block_delta', index: open, delta: deltaOf(block, block.waiting) })
        block.waiting = ''
        if (!isOver && !(open < blocks.length - 1 && isWhole(block))) return
        emit({ type: 'content_block_stop', index: open })
        open++
      }
    },
  }
}

const startOf = ({ begin }: Block): Fields =>
  begin.type === undefined ? { type: 'tool_use', id: messageId('toolu'), name: '', input: {} } : begin

const deltaOf = ({ isCall }: Block, text: string): Fields =>
  isCall ? { type: 'input_json_delta', partial_json: text } : { type: 'text_delta', text }

/** Tells whether a block is complete: for a call, its text is a whole JSON object. */
function isWhole(block: Block): boolean {
  block.isWhole ??= isObject(parseJson(block.written))
  return block.isWhole
}
