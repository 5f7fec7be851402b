import { GazewayError } from '../../errors.ts'
import type { Turn } from './conversation.ts'

/** Conversations kept, and the characters they may hold together; the oldest give way. */
const MAX_RESPONSES = 1_000
const MAX_CHARACTERS = 16_000_000

/** The conversations that later responses may continue by `previous_response_id`. */
export interface ResponseHistory {
  /** Keeps what was said up to and in the response `id`. */
  keep(id: string, turns: Turn[]): void
  /**
   * What was said up to and in the response `id`.
   *
   * @throws GazewayError `not_found` when it is unknown, was not stored, or has given way
   */
  recall(id: string): Turn[]
}

/** An empty history, in memory and bounded. */
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
