import type { Fields } from '../../text/typed-reader.ts'
import type { MessagesRequest } from '../api/requests.ts'
import type { CallReasoning } from '../reasoning/reasoning.ts'
import type { ReasoningState } from '../reasoning/reasoning-state.ts'
import type { Note } from './reported-changes.ts'

/** Seals the reasoning state of an answer, for the client to bring back. */
export type SealState = CallReasoning['seal']

/** Seal of a conversion whose answers nobody brings back. */
export const UNSEALED: SealState = () => ''

/** Means of a conversion to read the reasoning that a request brings back. */
export interface Thoughts {
  /** Opens the reasoning state of an earlier answer. Null for one that does not belong to this upstream. */
  open: CallReasoning['open']
  /**
   * Finds the reasoning state that was kept for a call which came back without it: an item of a Response, or a call as chat
   * completions has it. Null without one.
   */
  kept?(call: Fields): ReasoningState | null
  /** Notes reasoning that is dropped. */
  note: Note
}

/** Thoughts of a conversion that drops all reasoning. */
export const UNOPENED: CallReasoning['open'] = () => null

/**
 * Tells whether a Messages client gets thinking blocks. One that turned thinking off needs them only to bring back what
 * belongs to tool calls.
 */
export function showsThinking({ thinking, tools }: MessagesRequest): boolean {
  return thinking?.type !== 'disabled' || (tools ?? []).length > 0
}

/** Thinking block, or a redacted one for a state without text. */
export function thinkingBlock(thinking: string, state: ReasoningState, seal: SealState): Fields {
  if (thinking === '') return { type: 'redacted_thinking', data: seal(state) }
  return { type: 'thinking', thinking, signature: seal(state) }
}
