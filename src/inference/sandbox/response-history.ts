import { GazewayError } from '../../errors.ts'
import type { Turn } from './conversation.ts'

/** Maximum number of conversations kept, and most characters in all of them. The oldest are evicted. */
const MAX_RESPONSES = 1_000
const MAX_CHARACTERS = 16_000_000

/** Conversations that later responses can continue with `previous_response_id`. */
export interface ResponseHistory {
  /** Stores the conversation up to and including the response `id`. */
  keep(id: string, turns: Turn[]): void
  /**
   * Reads the conversation up to and including the response `id`.
   *
   * @throws GazewayError `not_found` when it is unknown, was not stored, or was evicted
   */
  recall(id: string): Turn[]
}

/** Creates an empty history, in memory and bounded. */
export function createResponseHistory(): ResponseHistory {
  const kept = new Map<string, { turns: Turn[]; characters: number }>()
  let characters = 0

  function drop(id: string): void {
    characters -= kept.get(id)?.characters ?? 0
    kept.delete(id)
  }

  function keep(id: string, turns: Turn[]): void {
    drop(id)
    const size = turns.reduce((sum, turn) => sum + (turn.role === 'call' ? 0 : turn.text.length), 0)
    kept.set(id, { turns, characters: size })
    characters += size
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_RESPONSES && characters <= MAX_CHARACTERS) break
      drop(oldest)
    }
  }

  function recall(id: string): Turn[] {
    const found = kept.get(id)
    if (found) return found.turns
    throw new GazewayError('not_found', `Previous response with id '${id}' not found.`, {
      param: 'previous_response_id',
    })
  }

  return { keep, recall }
}
