import { isObject, parseJson } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { NO_STATE, type StateReader } from '../reasoning/reasoning-state.ts'
import type { ChatCall } from './chat-answer.ts'
import { messageId } from './chat-to-message.ts'
import { createObjectEnd, type ObjectEnd } from './object-end.ts'
import { callOf } from './streamed-calls.ts'
import { type SealState, thinkingBlock } from './thinking-blocks.ts'
import { createWrapping, unwrapped, type Wrapping } from './wrapped-arguments.ts'

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

/** Content blocks of a streamed Message that is being written. */
export interface ContentBlocks {
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

/**
 * Creates the blocks of a Message.
 *
 * @param emit called with each event
 * @param deps.nameOf finds the name of a tool in the request by its name in chat
 */
export function createContentBlocks(
  emit: (event: Fields) => void,
  deps: { nameOf: (chatName: string) => string; state: StateReader; seal: SealState },
): ContentBlocks {
  const { nameOf, state } = deps
  const blocks: Block[] = []
  const calls: Block[] = []
  let open = 0

  function add(of: BlockBegin): Block {
    const added = newBlock(of)
    blocks.push(added)
    if (added.kind === 'call') calls.push(added)
    return added
  }

  const isTaken = (id: string) => blocks.some((block) => block.id === id)

  const thoughts = createThoughts(blocks, add, deps)

  function begin({ index, id, extra }: ChatCall): Block {
    if (extra !== null) state.addCall(id, extra)
    thoughts.end()
    thoughts.carryRest()
    return add({ index, id: isTaken(id) ? '' : id, begin: {}, kind: 'call', waiting: '' })
  }

  return {
    think: thoughts.add,
    end() {
      thoughts.end()
      // A text alone does not end with a block that is none: no model needs what comes after it.
      if (blocks.at(-1)?.kind !== 'text' || calls.length > 0) thoughts.carryRest()
    },
    say(text) {
      const last = blocks.at(-1)
      if (last?.kind === 'text') {
        last.waiting += text
        return
      }
      thoughts.end()
      thoughts.carryRest()
      add({ begin: { type: 'text', text: '' }, kind: 'text', waiting: text })
    },
    call(delta) {
      const known = callOf(calls, delta, isWhole)
      if (known !== undefined && delta.extra !== null) state.addCall(String(known.begin.id ?? known.id), delta.extra)
      // Reasoning state refers to the call by its id.
      const needsId = known === undefined && delta.extra !== null && delta.id === ''
      const whole = needsId ? { ...delta, id: messageId('toolu') } : delta
      const block = known ?? begin(whole)
      if (block.id === '' && !isTaken(whole.id)) block.id = whole.id
      writeCall(block, whole, nameOf)
    },
    calls: () => calls.map(nameAndArguments),
    hasCalls: () => calls.length > 0,
    uses: () => calls.map(({ begin, written }) => ({ ...begin, input: parseJson(unwrapped(written)) ?? {} })),
    emit(isOver) {
      for (let block = blocks[open]; block; block = blocks[open]) {
        if (!emitBlock(emit, block, open, { isOver, isLast: open === blocks.length - 1 })) return
        open++
      }
    },
  }
}

/** A block, as it is begun. */
type BlockBegin = Omit<Block, 'isTold' | 'isWhole' | 'written' | 'end' | 'wrapping'>

/** Writes thinking blocks, whose signatures carry the state so far. */
function createThoughts(
  blocks: readonly Block[],
  add: (of: BlockBegin) => Block,
  { state, seal }: { state: StateReader; seal: SealState },
) {
  return {
    add(text: string): void {
      const last = blocks.at(-1)
      if (isOpenThought(last)) last.waiting += text
      else add({ begin: { type: 'thinking', thinking: '', signature: '' }, kind: 'thinking', waiting: text })
    },
    end(): void {
      const last = blocks.at(-1)
      if (isOpenThought(last)) last.signature = seal(state.take() ?? NO_STATE)
    },
    /** Adds a block for a state that has no text of its own. */
    carryRest(): void {
      const rest = state.take()
      if (rest !== null) add({ begin: thinkingBlock('', rest, seal), kind: 'thinking', waiting: '', signature: '' })
    },
  }
}

function newBlock(of: BlockBegin): Block {
  const isWhole = of.kind === 'call' ? null : true
  return { ...of, written: '', isWhole, end: createObjectEnd(), wrapping: createWrapping(), isTold: false }
}

const isOpenThought = (block: Block | undefined): block is Block =>
  block?.kind === 'thinking' && block.signature === undefined

const nameAndArguments = ({ begin: { name }, written }: Block) => ({
  name: typeof name === 'string' ? name : '',
  arguments: written,
})

/** Adds a delta to the block of its call. */
function writeCall(block: Block, { name, arguments: written }: ChatCall, nameOf: (chatName: string) => string): void {
  if (!block.begin.name && name !== '')
    block.begin = { type: 'tool_use', id: block.id || messageId('toolu'), name: nameOf(name), input: {} }
  block.waiting += written
  block.written += written
  block.end.push(written)
  block.wrapping.push(written)
  if (written !== '') block.isWhole = null
}

/** Emits what a block has buffered. @returns true once the block has ended */
function emitBlock(
  emit: (event: Fields) => void,
  block: Block,
  index: number,
  { isOver, isLast }: { isOver: boolean; isLast: boolean },
): boolean {
  // Its name has not arrived.
  if (block.kind === 'call' && !block.begin.name && !isOver) return false
  if (!block.isTold) emit({ type: 'content_block_start', index, content_block: startOf(block) })
  block.isTold = true
  if (block.kind === 'call' && block.wrapping.isWrapped()) {
    if (!isOver) return false
    block.waiting = unwrapped(block.written)
  }
  if (block.waiting !== '') emit({ type: 'content_block_delta', index, delta: deltaOf(block, block.waiting) })
  block.waiting = ''
  if (!isOver && (isLast || !isWhole(block))) return false
  const { signature } = block
  if (signature) emit({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } })
  emit({ type: 'content_block_stop', index })
  return true
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
