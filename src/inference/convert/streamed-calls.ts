import type { ChatCall } from './chat-answer.ts'
import { itemId, type ToolCall } from './response-items.ts'
import type { StreamedCall } from './streamed-items.ts'

/** Tool calls of a chat stream, whose deltas may be interleaved. */
export interface StreamedCalls {
  /** Adds a delta. */
  push(delta: ChatCall): void
  /** Opens calls that never got a name, so that no part of the answer is lost. */
  end(): void
}

interface Slot {
  index: number | undefined
  id: string
  /** Arguments that arrived before the name. */
  early: string
  call?: StreamedCall
}

/**
 * Finds the call that a delta continues: by index; by id when the upstream sends no index, or the same for all;
 * otherwise each name begins a new call.
 *
 * @param calls calls begun so far, in order
 * @returns undefined when the delta begins a new call
 */
export function callOf<Call extends { index?: unknown; id?: unknown }>(
  calls: readonly Call[],
  { index, id, name }: { index?: unknown; id?: unknown; name?: unknown },
): Call | undefined {
  const known = calls.findLast((call) => (index === undefined ? !isText(id) || call.id === id : call.index === index))
  const isOther = isText(id) ? isText(known?.id) && known?.id !== id : index === undefined
  return isOther && isText(name) ? undefined : known
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * Separates the calls of a chat stream, as `callOf` does.
 *
 * @param open begins a call once its name is known; the id is generated when the upstream sends none
 */
export function createStreamedCalls(open: (call: Omit<ToolCall, 'arguments'>) => StreamedCall): StreamedCalls {
  const slots: Slot[] = []

  function slotOf(delta: ChatCall): Slot {
    const known = callOf(slots, delta)
    if (known) return known
    const slot: Slot = { index: delta.index, id: delta.id, early: '' }
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
      const { name, arguments: written } = delta
      const slot = slotOf(delta)
      if (slot.id === '') slot.id = delta.id
      if (!slot.call && name !== '') begin(slot, name)
      if (slot.call) slot.call.write(written)
      else slot.early += written
    },
    end() {
      for (const slot of slots) if (!slot.call) begin(slot, '')
    },
  }
}
