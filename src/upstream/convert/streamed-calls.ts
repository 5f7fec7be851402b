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
 * Tells the calls of a chat stream apart: by index, and where an upstream gives none or the same to all, by id.
 *
 * @param open begins a call, once its name is known; the id is made up where the upstream gave none
 */
export function createStreamedCalls(open: (call: Omit<ToolCall, 'arguments'>) => StreamedCall): StreamedCalls {
  const slots: Slot[] = []

  function slotOf({ index, id }: Loose, isNamed: boolean): Slot {
    const hasId = typeof id === 'string' && id !== ''
    const known = slots.findLast((slot) => (index === undefined ? !hasId || slot.id === id : slot.index === index))
    const isAnother = known !== undefined && hasId && isNamed && known.id !== '' && known.id !== id
    if (known && !isAnother) return known
    const slot: Slot = { index, id: hasId ? id : '', early: '' }
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
      const isNamed = typeof name === 'string' && name !== ''
      const slot = slotOf(delta, isNamed)
      if (slot.id === '' && typeof delta.id === 'string') slot.id = delta.id
      if (!slot.call && isNamed) begin(slot, name)
      const written = asText(args)
      if (slot.call) slot.call.write(written)
      else slot.early += written
    },
    end() {
      for (const slot of slots) if (!slot.call) begin(slot, '')
    },
  }
}
