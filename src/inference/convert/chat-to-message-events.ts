import { isObject, parseJson } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ChatChunk, MessageEvent, MessagesRequest } from '../api/requests.ts'
import { createStateReader, NO_STATE, type StateReader } from '../reasoning/reasoning-state.ts'
import { read } from './answer-reader.ts'
import { type ChatCall, firstChoice, readChatAnswer } from './chat-answer.ts'
import { messageId, messageShell, stopOf, toMessageUsage } from './chat-to-message.ts'
import { callFault } from './complete-call.ts'
import { createObjectEnd, type ObjectEnd } from './object-end.ts'
import { callOf } from './streamed-calls.ts'
import { type SealState, showsThinking, thinkingBlock, UNSEALED } from './thinking-blocks.ts'
import { calledTools } from './tool-names.ts'
import { createWrapping, unwrapped, type Wrapping } from './wrapped-arguments.ts'

/**
 * Converts the chunks of a chat stream to the events of a streamed Message. Chunks after the last event are ignored.
 */
export interface MessageEvents {
  /** Converts one chunk. `message_start` and `ping` precede the first events. */
  push(chunk: ChatChunk): MessageEvent[]
  /** Fault of the calls of a complete answer, which nobody may run. Null without one. */
  fault(): string | null
  /** Ends the blocks and the Message, after the last chunk of a complete answer. */
  finish(): MessageEvent[]
  /** The calls of a complete answer, as blocks. */
  uses(): Fields[]
}

/** A block of the answer. Only one is open to the client; events of later blocks are buffered until it ends. */
interface Block {
  /** Content of its `content_block_start`. */
  begin: Fields
  kind: 'text' | 'call' | 'thinking'
  /** Identity of a call, to assign its deltas. Unset for others. */
  index?: number | undefined
  id?: string
  /** Text of a call so far. `isWhole` tells whether it is a complete JSON object; null when not yet checked. */
  written: string
  isWhole: boolean | null
  end: ObjectEnd
  wrapping: Wrapping
  /** Text not yet sent to the client. */
  waiting: string
  /** Sealed reasoning state of a thinking block that has ended. */
  signature?: string
  isTold: boolean
}

/**
 * Converts a chat stream to a streamed Message. A state machine without I/O. Events come in the documented order
 * (https://docs.claude.com/en/docs/build-with-claude/streaming), one block at a time; interleaved deltas of parallel
 * calls are reordered.
 *
 * @param options.model model name when neither the request nor the upstream names one
 * @param options.seal seals the reasoning state, for the client to bring back
 */
export function createMessageEvents(
  request: MessagesRequest,
  options: { model: string; seal?: SealState },
): MessageEvents {
  let batch: Fields[] = []
  const state = createStateReader()
  const isShown = showsThinking(request)
  const blocks = createBlocks((event) => void batch.push(event), {
    nameOf: calledTools(request.tools),
    state,
    seal: options.seal ?? UNSEALED,
  })
  let isBegun = false
  let usage: unknown
  let ending: Fields = {}
  let isRefusal = false

  function begin(model: unknown): void {
    if (isBegun) return
    isBegun = true
    const reported = read.optionalText(model, 'model')
    const message = messageShell(request.model || reported || options.model)
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
        const { text, refusal, reasoning, calls, state: thought } = readChatAnswer(choice.delta, 'choices.0.delta')
        const finish = read.optionalText(choice.finish_reason, 'choices.0.finish_reason') ?? ''
        isRefusal ||= refusal !== ''
        if (isShown) {
          state.add(thought)
          if (reasoning !== '') blocks.think(reasoning)
        }
        if (text + refusal !== '') blocks.say(text + refusal)
        for (const part of calls) blocks.call(isShown ? part : { ...part, extra: null })
        // Some providers send an empty one with each chunk.
        if (finish !== '') ending = choice
        blocks.emit(false)
      }
      return batch as unknown as MessageEvent[]
    },
    fault: () => callFault(blocks.calls(), ending.finish_reason, request.tools),
    uses: () => blocks.uses(),
    finish() {
      batch = []
      begin(undefined)
      blocks.end()
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
  think(text: string): void
  /** Ends the answer. */
  end(): void
  say(text: string): void
  call(delta: ChatCall): void
  hasCalls(): boolean
  /** The calls so far, as blocks. */
  uses(): Fields[]
  /** Names and arguments of the calls so far. */
  calls(): Array<{ name: string; arguments: string }>
  /**
   * Emits the buffered text of the open block. Ends the block when another has begun and nothing can be added to it.
   *
   * @param isOver true at the end of the answer, which ends all blocks
   */
  emit(isOver: boolean): void
}

/** @param deps.nameOf finds the name of a tool in the request by its name in chat */
function createBlocks(
  emit: (event: Fields) => void,
  deps: { nameOf: (chatName: string) => string; state: StateReader; seal: SealState },
): Blocks {
  const { nameOf, state, seal } = deps
  const blocks: Block[] = []
  const calls: Block[] = []
  let open = 0

  function add(block: Omit<Block, 'isTold' | 'isWhole' | 'written' | 'end' | 'wrapping'>): Block {
    const isCall = block.kind === 'call'
    const [end, wrapping] = [createObjectEnd(), createWrapping()]
    const added = { ...block, written: '', isWhole: isCall ? null : true, end, wrapping, isTold: false }
    blocks.push(added)
    if (isCall) calls.push(added)
    return added
  }

  /** Ends a thinking block. Its signature carries the state so far. */
  function endThinking(): void {
    const last = blocks.at(-1)
    if (last?.kind === 'thinking' && last.signature === undefined) last.signature = seal(state.take() ?? NO_STATE)
  }

  /** Adds a block for a state that has no text of its own. */
  function carryRest(): void {
    const rest = state.take()
    if (rest === null) return
    add({ begin: thinkingBlock('', rest, seal), kind: 'thinking', waiting: '', signature: '' })
  }

  function begin({ index, id, extra }: ChatCall): Block {
    if (extra !== null) state.addCall(id, extra)
    endThinking()
    carryRest()
    const isTaken = blocks.some((block) => block.id === id)
    return add({ index, id: isTaken ? '' : id, begin: {}, kind: 'call', waiting: '' })
  }

  return {
    think(text) {
      const last = blocks.at(-1)
      if (last?.kind === 'thinking' && last.signature === undefined) last.waiting += text
      else add({ begin: { type: 'thinking', thinking: '', signature: '' }, kind: 'thinking', waiting: text })
    },
    end() {
      endThinking()
      // A text alone does not end with a block that is none: no model needs what comes after it.
      if (blocks.at(-1)?.kind !== 'text' || calls.length > 0) carryRest()
    },
    say(text) {
      const last = blocks.at(-1)
      if (last?.kind === 'text') {
        last.waiting += text
        return
      }
      endThinking()
      carryRest()
      add({ begin: { type: 'text', text: '' }, kind: 'text', waiting: text })
    },
    call(delta) {
      const known = callOf(calls, delta, isWhole)
      // Reasoning state refers to the call by its id.
      const whole =
        known === undefined && delta.extra !== null ? { ...delta, id: delta.id || messageId('toolu') } : delta
      if (known !== undefined && delta.extra !== null) state.addCall(String(known.begin.id ?? known.id), delta.extra)
      const block = known ?? begin(whole)
      const { id, name, arguments: written } = whole
      if (block.id === '' && !blocks.some((other) => other.id === id)) block.id = id
      if (!block.begin.name && name !== '')
        block.begin = { type: 'tool_use', id: block.id || messageId('toolu'), name: nameOf(name), input: {} }
      block.waiting += written
      block.written += written
      block.end.push(written)
      block.wrapping.push(written)
      if (written !== '') block.isWhole = null
    },
    calls: () =>
      calls.map(({ begin: { name }, written }) => ({ name: typeof name === 'string' ? name : '', arguments: written })),
    hasCalls: () => calls.length > 0,
    uses: () => calls.map(({ begin, written }) => ({ ...begin, input: parseJson(unwrapped(written)) ?? {} })),
    emit(isOver) {
      for (let block = blocks[open]; block; block = blocks[open]) {
        // Its name has not arrived.
        if (block.kind === 'call' && !block.begin.name && !isOver) return
        if (!block.isTold) emit({ type: 'content_block_start', index: open, content_block: startOf(block) })
        block.isTold = true
        if (block.kind === 'call' && block.wrapping.isWrapped()) {
          if (!isOver) return
          block.waiting = unwrapped(block.written)
        }
        if (block.waiting !== '')
          emit({ type: 'content_block_delta', index: open, delta: deltaOf(block, block.waiting) })
        block.waiting = ''
        if (!isOver && !(open < blocks.length - 1 && isWhole(block))) return
        if (block.signature)
          emit({
            type: 'content_block_delta',
            index: open,
            delta: { type: 'signature_delta', signature: block.signature },
          })
        emit({ type: 'content_block_stop', index: open })
        open++
      }
    },
  }
}

const startOf = ({ begin }: Block): Fields =>
  begin.type === undefined ? { type: 'tool_use', id: messageId('toolu'), name: '', input: {} } : begin

function deltaOf({ kind }: Block, text: string): Fields {
  switch (kind) {
    case 'call':
      return { type: 'input_json_delta', partial_json: text }
    case 'thinking':
      return { type: 'thinking_delta', thinking: text }
    case 'text':
      return { type: 'text_delta', text }
  }
}

/** Tells whether a block is complete: for a call, its text is a whole JSON object. */
function isWhole(block: Block): boolean {
  block.isWhole ??= block.end.isReached() && isObject(parseJson(block.written))
  return block.isWhole
}
