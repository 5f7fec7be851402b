import { FACTS, type Fact, UNANSWERABLE } from './facts.ts'
import { HELD_OUT_FACTS, HELD_OUT_UNANSWERABLE, heldOutOthers } from './held-out-facts.ts'
import { otherMemories } from './other-memories.ts'

/** Facts, the questions about them, and memories of others beside them. */
export interface MemorySet {
  /** Stands before the name of each figure. */
  label: string
  facts: readonly Fact[]
  unanswerable: readonly string[]
  /** Numbers of memories beside the facts with which the set is measured, ascending; the last is judged by the laxer bar. */
  beside: readonly number[]
  others(count: number): ReadonlyArray<Pick<Fact, 'key' | 'value' | 'also'>>
}

/** The floor and the weights of common words were chosen on these questions. */
export const FITTED_SET: MemorySet = {
  label: '',
  facts: FACTS,
  unanswerable: UNANSWERABLE,
  beside: [0, 90, 570],
  others: otherMemories,
}

/** Nothing is fitted on these. */
export const HELD_OUT_SET: MemorySet = {
  label: 'held-out set: ',
  facts: HELD_OUT_FACTS,
  unanswerable: HELD_OUT_UNANSWERABLE,
  beside: [0, 600],
  others: (count) => heldOutOthers().slice(0, count),
}
