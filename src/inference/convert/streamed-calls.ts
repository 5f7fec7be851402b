import { asText, type Loose, record } from './loose.ts'
import { itemId, type ToolCall } from './response-items.ts'
import type { StreamedCall } from './streamed-items.ts'

/** The tool calls of a chat stream, whose deltas may come in turns. */
export interface StreamedCalls {
  /** @param delta an entry of `choices[].delta.tool_calls` */
  push(delta: Loose): void
  /** Opens the calls that were never named, so that nothing of the answer is lost. */
  end(): void
}

interface Slot {
  index: unknown
  id: string
  /** Arguments that came before the name. */
  early: string
  call?: StreamedCall
}

/**
 * The call of a chat stream that a delta goes on with: told apart by index, and where an upstream gives none or the same
 * to all, by id; where it gives neither, each name begins another.
 *
 * @param calls those that have begun, in their order
 * @returns undefined when the delta begins another
 */
export function callOf<Call extends { index?: unknown; id?: unknown }>(
  calls: readonly Call[],
  { index, id, function: called }: Loose,
): Call | undefined {
  const known = calls.findLast((call) => (index === undefined ? !isText(id) || call.id === id : call.index === index))
  const isOther = isText(id) ? isText(known?.id) && known?.id !== id : index === undefined
  return isOther && isText(record(called).name) ? undefined : known
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * Tells the calls of a chat stream apart, as `callOf` does.
 *
 * @param open begins a call, once its name is known; the id is made up where the upstream gave none
 */
export function createStreamedCalls(open: (call: Omit<ToolCall, 'arguments'>) => StreamedCall): StreamedCalls {
  const slots: Slot[] = []

  function slotOf(delta: Loose): Slot {
    const known = callOf(slots, delta)
    if (known) return known
    const slot: Slot = { index: delta.index, id: isText(delta.id) ? delta.id : '', early: '' }
    slots.push(slot)
    return slot
  }

  function begin(slot: Slot, name: string): StreamedCall {
    const call = open({ callId: slot.id || itemId('call'), name })
    call.write(slot.early)
    slot.call = call
    return call
  }

  return {
    push(delta) {
      const { name, arguments: args } = record(delta.function)
      const slot = slotOf(delta)
      if (slot.id === '' && typeof delta.id === 'string') slot.id = delta.id
      if (!slot.call && isText(name)) begin(slot, name)
      const written = asText(args)
      if (slot.call) slot.call.write(written)
      else slot.early += written
    },
    end() {
      for (const slot of slots) if (!slot.call) begin(slot, '')
    },
  }
}
