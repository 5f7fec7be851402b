import { isText } from '../../text/lenient-reader.ts'
import { WrongTypeError } from '../../text/typed-reader.ts'
import type { ChatCall } from './chat-answer.ts'
import { type Completeness, createCompleteness } from './object-end.ts'
import { itemId, type ToolCall } from './response-items.ts'
import type { StreamedCall } from './streamed-items.ts'

/** Tool calls of a chat stream, whose deltas may be interleaved. */
export interface StreamedCalls {
  /** Adds a delta. */
  push(delta: ChatCall): void
  /** Names and arguments of the calls so far. */
  written(): Array<{ name: string; arguments: string }>
  /** Opens calls that never got a name, so that no part of the answer is lost. */
  end(): void
}

interface Slot {
  index: number | undefined
  id: string
  /** Arguments so far. */
  args: Completeness
  name: string
  call?: StreamedCall
}

/** A piece of a call, as far as it tells which one it continues. */
interface Piece {
  index?: unknown
  id?: unknown
  name?: unknown
  arguments?: unknown
}

/** Most calls of one answer: each delta is compared to them. */
const MOST_CALLS = 1000

/**
 * Finds the call that a delta continues: by index; by id when the upstream sends no index, or the same for all;
 * otherwise each name begins a new call. So does a name with arguments after a call that is complete.
 *
 * @param calls calls begun so far, in order
 * @param isWhole tells whether the arguments of a call are a whole object, to which nothing can be added
 * @returns undefined when the delta begins a new call
 * @throws WrongTypeError for more than a thousand calls
 */
export function callOf<Call extends { index?: unknown; id?: unknown }>(
  calls: readonly Call[],
  { index, id, name, arguments: args }: Piece,
  isWhole: (call: Call) => boolean,
): Call | undefined {
  if (calls.length > MOST_CALLS) throw new WrongTypeError('choices.0.delta.tool_calls', `at most ${MOST_CALLS} calls`)
  const known = calls.findLast((call) => (index === undefined ? !isText(id) || call.id === id : call.index === index))
  const isOther = isText(id) ? isText(known?.id) && known?.id !== id : index === undefined
  if (known === undefined || !isText(name)) return known
  return isOther || (isText(args) && isWhole(known)) ? undefined : known
}

/**
 * Separates the calls of a chat stream, as `callOf` does.
 *
 * @param open begins a call once its name is known; the id is generated when the upstream sends none
 */
export function createStreamedCalls(open: (call: Omit<ToolCall, 'arguments'>) => StreamedCall): StreamedCalls {
  const slots: Slot[] = []

  function slotOf(delta: ChatCall): Slot {
    const known = callOf(slots, delta, ({ args }) => args.isWhole())
    if (known) return known
    const isTaken = slots.some(({ id }) => id === delta.id)
    const slot: Slot = { index: delta.index, id: isTaken ? '' : delta.id, args: createCompleteness(), name: '' }
    slots.push(slot)
    return slot
  }

  function begin(slot: Slot, name: string): StreamedCall {
    const call = open({ callId: slot.id || itemId('call'), name })
    slot.name = name
    call.write(slot.args.written())
    slot.call = call
    return call
  }

  return {
    push(delta) {
      const { name, arguments: written } = delta
      const slot = slotOf(delta)
      if (slot.id === '' && !slots.some(({ id }) => id === delta.id)) slot.id = delta.id
      if (!slot.call && name !== '') begin(slot, name)
      slot.call?.write(written)
      slot.args.push(written)
    },
    written: () => slots.map((slot) => ({ name: slot.name, arguments: slot.args.written() })),
    end() {
      for (const slot of slots) if (!slot.call) begin(slot, '')
    },
  }
}
